// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cerrno>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace tertulia::tool {

/// A terminal once more, so that reading it never waits: Ctrl-C drops what was
/// typed, also between the news of it and the reading. The descriptor itself is
/// shared with other processes and must stay as it is.
///
/// @threads one at a time.
class own_input {
public:
  enum class outcome {
    byte,    ///< There was one.
    nothing, ///< None is there, or not any more.
    over,    ///< Nothing more will come.
  };

  /// @param shared must outlive this.
  explicit own_input(int shared)
    : shared_(shared),
      fd_(::open(("/proc/self/fd/" + std::to_string(shared)).c_str(),
                 O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {}

  own_input(const own_input&) = delete;
  own_input& operator=(const own_input&) = delete;

  ~own_input() {
    if (fd_ >= 0)
      ::close(fd_);
  }

  /// What to wait on.
  [[nodiscard]] int fd() const noexcept {
    return fd_ >= 0 ? fd_ : shared_;
  }

  outcome read(char& to) const {
    const auto n = ::read(fd(), &to, 1);
    if (n > 0)
      return outcome::byte;
    return n < 0 && (errno == EINTR || errno == EAGAIN) ? outcome::nothing
                                                        : outcome::over;
  }

private:
  int shared_;
  int fd_;
};

} // namespace tertulia::tool
