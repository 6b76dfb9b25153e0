// SPDX-License-Identifier: BSD-3-Clause

#include "standard_output.hpp"

#include <tertulia/status.hpp>

#include <cerrno>
#include <system_error>
#include <utility>

#include "descriptors.hpp"
#include "shown_text.hpp"
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace tertulia::tool {

output::output() : is_terminal_(::isatty(STDOUT_FILENO) == 1) {}

output::~output() {
  try {
    flush();
  } catch (...) {
    // Callers that need the error have called flush.
  }
}

void output::write(std::string_view text) {
  constexpr std::size_t enough = 1u << 16u;
  buffer_ += text;
  if (buffer_.size() >= enough)
    flush();
}

void output::line(std::string_view text) {
  write(shown_lines(text));
  write("\n");
}

void output::json_line(const document& x) {
  write(text_of(x));
  write("\n");
}

std::size_t output::columns() const noexcept {
  constexpr std::size_t usual = 80;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return usual;
  return size.ws_col;
}

void output::flush() {
  const auto text = std::exchange(buffer_, {});
  for (std::size_t at = 0; at < text.size();) {
    const auto n = ::write(STDOUT_FILENO, text.data() + at, text.size() - at);
    if (n >= 0) {
      at += static_cast<std::size_t>(n);
      continue;
    }
    if (errno == EINTR
        || (errno == EAGAIN && wait_until(STDOUT_FILENO, POLLOUT)))
      continue;
    if (errno == EPIPE)
      throw closed_pipe{};
    throw broken_output{status_error{
      errc::unavailable, fmt::format("standard output: {}",
                                     std::system_category().message(errno))}};
  }
}

} // namespace tertulia::tool
