// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "documents.hpp"

namespace tertulia::tool {

/// Thrown where standard output has no reader any more: `| head` has seen
/// enough. The end of the command, and no failure.
class closed_pipe {};

/// Standard output.
///
/// @threads one at a time.
class output {
public:
  output();

  output(const output&) = delete;
  output& operator=(const output&) = delete;

  /// Writes what is left, if it still can.
  ~output();

  /// @errors throws `closed_pipe`, and a failure if it cannot be written.
  void write(std::string_view text);

  /// Writes a line that holds nothing a terminal would obey.
  void line(std::string_view text);

  /// Writes a document as one line.
  void json_line(const document& x);

  /// Hands on what has gathered.
  void flush();

  [[nodiscard]] bool is_terminal() const noexcept {
    return is_terminal_;
  }

  /// How many cells a line of the terminal has.
  [[nodiscard]] std::size_t columns() const noexcept {
    return columns_;
  }

private:
  std::string buffer_;
  std::size_t columns_ = 80;
  bool is_terminal_ = false;
};

} // namespace tertulia::tool
