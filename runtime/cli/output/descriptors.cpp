// SPDX-License-Identifier: BSD-3-Clause

#include "descriptors.hpp"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace tertulia::tool {

void occupy_standard_descriptors() {
  for (auto fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0)
      continue;
    // Gets the lowest free number, which is this one. Opened read-only, so that
    // a write fails instead of being lost.
    if (::open("/dev/null", O_RDONLY | O_NOCTTY) < 0)
      throw std::system_error{errno, std::system_category(), "/dev/null"};
  }
}

bool wait_until(int fd, short events) noexcept {
  pollfd end{fd, events, 0};
  return ::poll(&end, 1, -1) > 0 || errno == EINTR;
}

} // namespace tertulia::tool
