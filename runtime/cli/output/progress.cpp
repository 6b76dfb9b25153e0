// SPDX-License-Identifier: BSD-3-Clause

#include "progress.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>

#include <fmt/format.h>
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

progress::progress(std::string work, bool shown)
  : work_(std::move(work)), is_shown_(shown && has_cursor()),
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

bool progress::is_due() {
  const auto now = std::chrono::steady_clock::now();
  if (!is_shown_ || now < next_)
    return false;
  next_ = now + std::chrono::milliseconds{100};
  return true;
}

void progress::draw(const std::string& state) {
  auto line = fmt::format("{}  {}", work_, state);
  line.resize(std::min(line.size(), columns_ - 1));
  write_to_terminal(std::string{wipe_line} + line);
  is_drawn_ = true;
}

void progress::at(std::uint64_t done, std::uint64_t total) {
  if (!is_due())
    return;
  if (total == 0) {
    draw(std::to_string(done));
    return;
  }
  constexpr std::size_t width = 24;
  done = std::min(done, total); // the total may have grown
  const auto part = static_cast<double>(done) / static_cast<double>(total);
  const auto full = static_cast<std::size_t>(part * width);
  draw(fmt::format("[{:#>{}}{:.>{}}] {}%  {} of {}", "", full, "", width - full,
                   static_cast<int>(part * 100), done, total));
}

void progress::at(std::chrono::seconds elapsed) {
  if (is_due())
    draw(fmt::format("{} s", elapsed.count()));
}

void progress::clear() {
  if (std::exchange(is_drawn_, false))
    write_to_terminal(wipe_line);
}

elapsed_time::elapsed_time(progress& bar) {
  bar.at(std::chrono::seconds{0});
  if (!bar.is_shown())
    return;
  clock_ = std::jthread{[&bar](const std::stop_token& stop) {
    std::mutex nothing;
    std::unique_lock lock{nothing};
    std::condition_variable_any stopped;
    for (std::chrono::seconds elapsed{1};; ++elapsed) {
      stopped.wait_for(lock, stop, std::chrono::seconds{1},
                       [] { return false; });
      if (stop.stop_requested())
        return;
      bar.at(elapsed);
    }
  }};
}

} // namespace tertulia::tool
