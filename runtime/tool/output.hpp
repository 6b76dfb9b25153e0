// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "documents.hpp"
#include "failure.hpp"

namespace tertulia::tool {

/// Thrown where standard output has no reader any more: `| head` has seen
/// enough. The end of the command, and no failure.
class closed_pipe {};

/// Thrown where standard output cannot be written: it is closed, or the disk is
/// full. Nobody would read what else is said.
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

  /// Writes what is left, if it still can.
  ~output();

  /// @errors throws `closed_pipe` and `broken_output`, as the others do.
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

  /// Number of cells in a line of the terminal, as wide as it is now.
  [[nodiscard]] std::size_t columns() const noexcept;

private:
  std::string buffer_;
  bool is_terminal_;
};

} // namespace tertulia::tool
