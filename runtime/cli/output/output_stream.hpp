// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <ostream>
#include <streambuf>
#include <string>

#include "standard_output.hpp"

namespace tertulia::tool {

/// Standard output as a stream, for writers of JSON lines. On a terminal,
/// characters that control it are escaped; otherwise the bytes are unchanged.
///
/// @lifetime must not outlive the output.
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
    /// Incomplete line, if the output is a terminal.
    std::string line_;
  };

  buffer buffer_;
  std::ostream stream_;
};

} // namespace tertulia::tool
