// SPDX-License-Identifier: BSD-3-Clause

// Library that is loaded before the libraries of a program. It simulates a
// system whose clock is years ahead (LATE_BY, in seconds), or that allows only
// a few threads at a time (THREADS, without the first one).

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <ctime>

#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

/// Number of threads that have not ended, without the first one.
std::atomic<long> alive = 0;

struct start {
  void* (*run)(void*);
  void* argument;
};

void* run_and_count(void* what) {
  const auto [run, argument] = *static_cast<start*>(what);
  delete static_cast<start*>(what);
  auto* const result = run(argument);
  --alive;
  return result;
}

} // namespace

extern "C" int clock_gettime(clockid_t target, timespec* now) noexcept {
  const auto result = ::syscall(SYS_clock_gettime, target, now);
  const auto* by = std::getenv("LATE_BY");
  if (result == 0 && by != nullptr && target == CLOCK_REALTIME)
    now->tv_sec += std::atol(by);
  return static_cast<int>(result);
}

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* how,
                              void* (*run)(void*), void* argument) noexcept {
  using function
    = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real
    = reinterpret_cast<function>(::dlsym(RTLD_NEXT, "pthread_create"));
  const auto* most = std::getenv("THREADS");
  if (alive++ >= (most != nullptr ? std::atol(most) : 1'000'000)) {
    --alive;
    return EAGAIN;
  }
  auto* const what = new start{run, argument};
  const auto result = real(thread, how, run_and_count, what);
  if (result != 0) {
    delete what;
    --alive;
  }
  return result;
}
