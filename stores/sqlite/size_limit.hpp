// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cerrno>
#include <csignal>
#include <ctime>

namespace tertulia {

/// Guard that blocks `SIGXFSZ` on this thread. While it lives, a write beyond
/// the maximum size of a file (`ulimit -f`) fails like a write to a full disk;
/// without it, the signal kills the process. The signal dispositions of the
/// process remain unchanged.
///
/// @threads must be destroyed on the thread that created it.
class size_limit_is_an_error {
public:
  size_limit_is_an_error() noexcept {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }

  size_limit_is_an_error(const size_limit_is_an_error&) = delete;
  size_limit_is_an_error& operator=(const size_limit_is_an_error&) = delete;

  ~size_limit_is_an_error() {
    if (sigismember(&before_, SIGXFSZ) == 1)
      return;
    // The signal is pending for this thread after a failed write, and would be
    // delivered when it is unblocked.
    const timespec at_once{};
    while (sigtimedwait(&signal_, nullptr, &at_once) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_UNBLOCK, &signal_, nullptr);
  }

private:
  sigset_t signal_{};
  sigset_t before_{};
};

} // namespace tertulia
