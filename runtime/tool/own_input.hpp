// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cerrno>
#include <string>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace tertulia::tool {

/// A terminal once more, so that reading it never waits: Ctrl-C drops what was
/// typed, also between the news of it and the reading. The descriptor itself is
/// shared with other processes and must stay as it is.
///
/// Linux hands on a Ctrl-D as a zero byte if it was typed while the terminal
/// still gathered lines. Typed later, a zero byte is Ctrl-Space.
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

  /// Notes what was typed before. To be called when keys come one by one, and
  /// not lines any more.
  void begin_keys() {
    int waiting = 0;
    typed_before_ = ::ioctl(fd(), FIONREAD, &waiting) == 0 ? waiting : 0;
  }

  outcome read(char& to) {
    constexpr char ctrl_d = '\x04';
    const auto n = ::read(fd(), &to, 1);
    if (n > 0) {
      const auto is_old = typed_before_ > 0;
      typed_before_ -= is_old ? 1 : 0;
      if (is_old && to == '\0')
        to = ctrl_d;
      return outcome::byte;
    }
    typed_before_ = 0; // Ctrl-C has dropped it
    return n < 0 && (errno == EINTR || errno == EAGAIN) ? outcome::nothing
                                                        : outcome::over;
  }

private:
  int shared_;
  int fd_;
  /// Number of bytes left of them.
  int typed_before_ = 0;
};

} // namespace tertulia::tool
