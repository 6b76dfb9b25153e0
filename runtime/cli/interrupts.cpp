// SPDX-License-Identifier: BSD-3-Clause

#include "interrupts.hpp"

#include <csignal>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <pthread.h>
#include <unistd.h>

namespace tertulia::tool {

namespace {

struct watch {
  std::mutex mutex;
  std::vector<std::function<void()>> clean_ups;
  std::vector<std::function<void()>> instead;
};

/// Never destroyed: the watching thread outlives `main`.
watch& the_watch() {
  static auto* const result = new watch;
  return *result;
}

[[noreturn]] void wait_for(sigset_t signals) {
  int signal = 0;
  auto& watch = the_watch();
  std::unique_lock guard{watch.mutex, std::defer_lock};
  for (;;) {
    ::sigwait(&signals, &signal);
    guard.lock();
    if (signal != SIGINT || watch.instead.empty())
      break;
    watch.instead.back()();
    guard.unlock();
  }
  while (!watch.clean_ups.empty()) {
    watch.clean_ups.back()();
    watch.clean_ups.pop_back();
  }
  // Not `exit`, because other threads are still running.
  constexpr int killed_by = 128;
  ::_exit(killed_by + signal);
}

} // namespace

void watch_interrupts() {
  for (const int x : {SIGPIPE, SIGXFSZ})
    std::signal(x, SIG_IGN); // writes fail with an error instead
  sigset_t signals;
  sigemptyset(&signals);
  for (const int x : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    if (::sigaction(x, nullptr, &now) == 0 && now.sa_handler != SIG_IGN)
      sigaddset(&signals, x);
  }
  the_watch();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread{[signals] { wait_for(signals); }}.detach();
}

on_interrupt::on_interrupt(std::function<void()> clean_up) {
  const std::lock_guard guard{the_watch().mutex};
  the_watch().clean_ups.push_back(std::move(clean_up));
}

on_interrupt::~on_interrupt() {
  const std::lock_guard guard{the_watch().mutex};
  the_watch().clean_ups.pop_back();
}

instead_of_interrupt::instead_of_interrupt(std::function<void()> fn) {
  const std::lock_guard guard{the_watch().mutex};
  the_watch().instead.push_back(std::move(fn));
}

instead_of_interrupt::~instead_of_interrupt() {
  const std::lock_guard guard{the_watch().mutex};
  the_watch().instead.pop_back();
}

} // namespace tertulia::tool
