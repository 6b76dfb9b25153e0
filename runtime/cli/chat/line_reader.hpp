// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <memory>
#include <string>

namespace tertulia::tool {

enum class line_end {
  typed,        ///< A line was read.
  interrupted,  ///< Ctrl-C; the text typed so far is dropped.
  end_of_input, ///< End of the input.
};

/// Reads standard input line by line.
///
/// @threads one at a time.
class line_reader {
public:
  line_reader() = default;

  line_reader(const line_reader&) = delete;
  line_reader& operator=(const line_reader&) = delete;

  virtual ~line_reader() = default;

  /// Waits for a line.
  /// @param line receives the line, without its line end.
  virtual line_end next(std::string& line) = 0;

  /// Adds a line to the history.
  virtual void remember(const std::string& line) = 0;
};

/// Creates a reader for a terminal, with line editing and a history on the
/// arrow keys. While it lives, it handles Ctrl-C: it interrupts the current
/// line, or the next one if no line is being read.
///
/// Must be called while no other thread runs, because it sets the locale in
/// which bytes are decoded.
///
/// @param prompt printed before each line.
[[nodiscard]] std::unique_ptr<line_reader> terminal_reader(std::string prompt);

/// Creates a reader for any input; it prints nothing.
[[nodiscard]] std::unique_ptr<line_reader> plain_reader();

} // namespace tertulia::tool
