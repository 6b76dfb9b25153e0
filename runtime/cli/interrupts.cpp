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

struct signal_handler {
  std::function<bool(int)> fn;
  handled_signals which;
};

struct watch {
  std::mutex mutex;
  std::vector<std::function<void()>> clean_ups;
  std::vector<signal_handler> instead;
};

/// Returns whether the command has handled a signal.
bool is_handled(const watch& x, int signal) {
  if (x.instead.empty())
    return false;
  const auto& last = x.instead.back();
  return (signal == SIGINT || last.which == handled_signals::all)
         && last.fn(signal);
}

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
    if (!is_handled(watch, signal))
      break;
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

instead_of_interrupt::instead_of_interrupt(std::function<bool(int)> fn,
                                           handled_signals which) {
  const std::lock_guard guard{the_watch().mutex};
  the_watch().instead.push_back({std::move(fn), which});
}

instead_of_interrupt::~instead_of_interrupt() {
  const std::lock_guard guard{the_watch().mutex};
  the_watch().instead.pop_back();
}

} // namespace tertulia::tool
