// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cerrno>
#include <string>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace tertulia::tool {

/// A second, non-blocking descriptor of the terminal. A read never waits, even
/// if Ctrl-C drops the typed bytes between poll and read. The shared descriptor
/// must stay unchanged, because other processes use it, too.
///
/// Linux delivers a Ctrl-D as a zero byte if it was typed while the terminal
/// was still in line mode. A zero byte that is typed later is Ctrl-Space.
///
/// @threads one at a time.
class own_input {
public:
  enum class outcome {
    byte,    ///< A byte was read.
    nothing, ///< There is no byte now, or it was dropped.
    over,    ///< End of the input.
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

  /// Returns the descriptor to poll.
  [[nodiscard]] int fd() const noexcept {
    return fd_ >= 0 ? fd_ : shared_;
  }

  /// Records the number of bytes typed in line mode. Must be called when the
  /// terminal delivers single keys instead of lines.
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
    typed_before_ = 0; // Ctrl-C has dropped them
    return n < 0 && (errno == EINTR || errno == EAGAIN) ? outcome::nothing
                                                        : outcome::over;
  }

private:
  int shared_;
  int fd_;
  /// Number of unread bytes that were typed in line mode.
  int typed_before_ = 0;
};

} // namespace tertulia::tool
