// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/status.hpp>

#include <array>
#include <cerrno>
#include <cstddef>
#include <system_error>

#include "line_reader.hpp"
#include "output/descriptors.hpp"
#include "tool_failure.hpp"
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

namespace tertulia::tool {

namespace {

/// Maximum length of a line, so that `/dev/zero` does not exhaust the memory.
constexpr std::size_t max_line = 64u << 20u;

class plain_line_reader : public line_reader {
public:
  line_end next(std::string& line) override {
    for (;;) {
      if (const auto end = rest_.find('\n', searched_);
          end != std::string::npos) {
        line.assign(rest_, 0, end);
        if (line.ends_with('\r'))
          line.pop_back();
        rest_.erase(0, end + 1);
        searched_ = 0;
        return line_end::typed;
      }
      searched_ = rest_.size();
      if (at_end_ || !read()) {
        at_end_ = true;
        line = std::exchange(rest_, {});
        searched_ = 0;
        return line.empty() ? line_end::end_of_input : line_end::typed;
      }
    }
  }

  void remember(const std::string&) override {}

private:
  /// @returns false at the end of the input.
  bool read() {
    std::array<char, 4096> buffer{};
    for (;;) {
      const auto n = ::read(STDIN_FILENO, buffer.data(), buffer.size());
      if (n >= 0) {
        rest_.append(buffer.data(), static_cast<std::size_t>(n));
        if (rest_.size() > max_line)
          throw failure{
            status_error{errc::resource_exhausted,
                         "a line of standard input has more than 64 MiB"}};
        return n > 0;
      }
      if (errno != EINTR
          && (errno != EAGAIN || !wait_until(STDIN_FILENO, POLLIN)))
        throw failure{
          status_error{errc::unavailable,
                       fmt::format("standard input: {}",
                                   std::system_category().message(errno))}};
    }
  }

  std::string rest_;
  std::size_t searched_ = 0;
  bool at_end_ = false;
};

} // namespace

std::unique_ptr<line_reader> plain_reader() {
  return std::make_unique<plain_line_reader>();
}

} // namespace tertulia::tool
