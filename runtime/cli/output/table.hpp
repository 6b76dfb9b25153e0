// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "standard_output.hpp"

namespace tertulia::tool {

/// Layout of a table column.
enum class column_kind {
  fixed,  ///< Never cut.
  text,   ///< Cut if the terminal is too narrow.
  number, ///< Right-aligned.
};

struct column {
  std::string title;
  column_kind kind = column_kind::fixed;
};

/// Rows under titles. They are printed page by page, so that the output of a
/// long table starts at once; columns only get wider from page to page. On a
/// terminal, rows are cut to fit. If the terminal is too narrow even for cut
/// rows, each cell gets a line with its title. Output to a file or a pipe is
/// not cut.
///
/// @lifetime must not outlive the output.
class table {
public:
  table(output& to, std::vector<column> columns);

  /// Adds a row with a cell for each column. A cell is printed as one line,
  /// with escapes for characters that control a terminal.
  void row(std::vector<std::string> cells);

  /// Prints the rows that were added since the last call. Prints nothing
  /// without rows.
  void print();

private:
  /// Returns widths that fit; empty if the table cannot fit.
  [[nodiscard]] std::vector<std::size_t> fitted() const;
  void print(const std::vector<std::string>& cells,
             const std::vector<std::size_t>& widths);
  void print_in_lines(const std::vector<std::string>& cells);

  output& to_;
  std::vector<column> columns_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
  bool has_titles_ = false;
  /// Whether cells are printed in lines of their own. Stays true after one page
  /// that was too wide, because one layout is easier to read.
  bool in_lines_ = false;
};

/// Prints names and values, one pair in a line; omits empty values.
void print_fields(output& to,
                  const std::vector<std::pair<std::string, std::string>>& x);

} // namespace tertulia::tool
