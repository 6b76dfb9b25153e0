// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstddef>

#include <pthread.h>

namespace tertulia::test {

/// Scope in which no thread can be started.
class without_threads {
public:
  without_threads() {
    ::pthread_getattr_default_np(&before_);
    pthread_attr_t greedy;
    ::pthread_attr_init(&greedy);
    // As large as the address space of a process.
    ::pthread_attr_setstacksize(&greedy, std::size_t{1} << 47);
    ::pthread_setattr_default_np(&greedy);
    ::pthread_attr_destroy(&greedy);
  }

  without_threads(const without_threads&) = delete;
  without_threads& operator=(const without_threads&) = delete;

  ~without_threads() {
    ::pthread_setattr_default_np(&before_);
    ::pthread_attr_destroy(&before_);
  }

private:
  pthread_attr_t before_{};
};

} // namespace tertulia::test
