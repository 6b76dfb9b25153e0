// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "output.hpp"

namespace tertulia::tool {

/// How a column of a table looks.
enum class column_kind {
  fixed,  ///< Never cut.
  text,   ///< Cut if the terminal is too narrow.
  number, ///< On the right.
};

struct column {
  std::string title;
  column_kind kind = column_kind::fixed;
};

/// Rows under titles. They are printed a page at a time, so that a long table
/// begins at once; columns only get wider from page to page. On a terminal rows
/// are cut to fit; where even that is too wide, each cell gets a line with its
/// title. Elsewhere nothing is cut.
///
/// @lifetime within that of the output.
class table {
public:
  table(output& to, std::vector<column> columns);

  /// Adds a row with a cell for each column; whatever is in it, it becomes one
  /// line that only shows.
  void row(std::vector<std::string> cells);

  /// Prints what has been added. Nothing at all without rows.
  void print();

private:
  /// Returns the widths that fit; empty if none do.
  [[nodiscard]] std::vector<std::size_t> fitted() const;
  void print(const std::vector<std::string>& cells,
             const std::vector<std::size_t>& widths);
  void print_in_lines(const std::vector<std::string>& cells);

  output& to_;
  std::vector<column> columns_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
  bool has_titles_ = false;
  /// Stays so once a page was too wide: one layout is enough to read.
  bool in_lines_ = false;
};

/// Prints names and values, one to a line; those without a value are left out.
void print_fields(output& to,
                  const std::vector<std::pair<std::string, std::string>>& x);

} // namespace tertulia::tool
