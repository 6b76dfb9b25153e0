// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "documents.hpp"
#include "tool_failure.hpp"

namespace tertulia::tool {

/// Thrown if standard output has no reader any more, such as `| head` after its
/// last line. Ends the command, but is not a failure.
class closed_pipe {};

/// Thrown if standard output cannot be written: it is closed, or the disk is
/// full. Further output would be lost as well.
class broken_output : public failure {
public:
  using failure::failure;
};

/// Standard output.
///
/// @threads one at a time.
class output {
public:
  output();

  output(const output&) = delete;
  output& operator=(const output&) = delete;

  /// Writes the buffered output; ignores errors.
  ~output();

  /// @errors throws `closed_pipe` and `broken_output`, like the other
  ///         functions.
  void write(std::string_view text);

  /// Writes a line, with escapes for characters that control a terminal.
  void line(std::string_view text);

  /// Writes a document as one line.
  void json_line(const document& x);

  /// Writes the buffered output.
  void flush();

  [[nodiscard]] bool is_terminal() const noexcept {
    return is_terminal_;
  }

  /// Returns the current number of cells in a line of the terminal.
  [[nodiscard]] std::size_t columns() const noexcept;

private:
  std::string buffer_;
  bool is_terminal_;
};

} // namespace tertulia::tool
