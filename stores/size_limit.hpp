// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cerrno>
#include <csignal>
#include <ctime>

namespace tertulia {

/// While this lives, a write of this thread beyond the largest size of a file
/// (`ulimit -f`) fails, as one to a full disk does; without it the process is
/// killed by `SIGXFSZ`. What the process does with signals stays as it is.
///
/// @threads ends on the thread on which it was made.
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
    // It waits for the thread that has written, and would come now.
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
