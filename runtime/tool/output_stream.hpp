// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <ostream>
#include <streambuf>
#include <string>

#include "output.hpp"

namespace tertulia::tool {

/// Standard output for who writes JSON lines into a stream. What a terminal
/// would obey is escaped if it is one; otherwise the bytes are those that were
/// written.
///
/// @lifetime within that of the output.
class output_stream {
public:
  explicit output_stream(output& to);

  [[nodiscard]] std::ostream& stream() noexcept {
    return stream_;
  }

private:
  class buffer : public std::streambuf {
  public:
    explicit buffer(output& to) : to_(to) {}

  private:
    int_type overflow(int_type x) override;
    std::streamsize xsputn(const char* text, std::streamsize size) override;
    int sync() override;

    output& to_;
    /// What has come of a line, if lines are looked at.
    std::string line_;
  };

  buffer buffer_;
  std::ostream stream_;
};

} // namespace tertulia::tool
