// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <memory>
#include <string>

namespace tertulia::tool {

enum class line_end {
  typed,       ///< There is a line.
  interrupted, ///< Ctrl-C; what had been typed is gone.
  input_over,  ///< Nothing more will come.
};

/// Reads what people or programs say on standard input, a line at a time.
///
/// @threads one at a time.
class line_reader {
public:
  line_reader() = default;

  line_reader(const line_reader&) = delete;
  line_reader& operator=(const line_reader&) = delete;

  virtual ~line_reader() = default;

  /// Waits for a line.
  /// @param line gets it, without its end.
  virtual line_end next(std::string& line) = 0;

  /// Lets a person find a line again that was said before.
  virtual void remember(const std::string& line) = 0;
};

/// Reads from a terminal: with editing, and arrows for what was said before.
/// While it lives, Ctrl-C is its own: the end of the line that is typed, or of
/// the next one if none is.
///
/// To be made while no other thread runs, for it settles how bytes are read as
/// characters.
///
/// @param prompt stands before each line.
[[nodiscard]] std::unique_ptr<line_reader> terminal_reader(std::string prompt);

/// Reads from anything, and shows nothing.
[[nodiscard]] std::unique_ptr<line_reader> plain_reader();

} // namespace tertulia::tool
