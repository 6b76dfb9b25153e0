// SPDX-License-Identifier: BSD-3-Clause

#include "progress.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <sys/ioctl.h>
#include <unistd.h>

namespace tertulia::tool {

namespace {

constexpr std::string_view wipe_line = "\r\x1b[K";

void write_to_terminal(std::string_view text) {
  // Ignores errors, because nothing depends on the bar.
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0)
    return;
}

bool has_cursor() {
  const char* terminal = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && terminal != nullptr
         && std::string_view{terminal} != "dumb";
}

} // namespace

progress::progress(std::string what, bool shown)
  : what_(std::move(what)), is_shown_(shown && has_cursor()),
    wipe_([shown = is_shown_] {
      if (shown)
        write_to_terminal(wipe_line);
    }) {
  winsize size{};
  if (is_shown_ && ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0
      && size.ws_col > 0)
    columns_ = size.ws_col;
}

progress::~progress() {
  clear();
}

void progress::at(std::uint64_t done, std::uint64_t of) {
  const auto now = std::chrono::steady_clock::now();
  if (!is_shown_ || now < next_)
    return;
  next_ = now + std::chrono::milliseconds{100};
  auto text = what_ + "  ";
  if (of == 0) {
    text += std::to_string(done);
  } else {
    constexpr std::size_t width = 24;
    done = std::min(done, of); // the total may have grown
    const auto part = static_cast<double>(done) / static_cast<double>(of);
    const auto full = static_cast<std::size_t>(part * width);
    text += '[' + std::string(full, '#') + std::string(width - full, '.') + "] "
            + std::to_string(static_cast<int>(part * 100)) + "%  "
            + std::to_string(done) + " of " + std::to_string(of);
  }
  text.resize(std::min(text.size(), columns_ - 1));
  write_to_terminal(std::string{wipe_line} + text);
  is_drawn_ = true;
}

void progress::clear() {
  if (std::exchange(is_drawn_, false))
    write_to_terminal(wipe_line);
}

} // namespace tertulia::tool
