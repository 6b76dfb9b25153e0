// SPDX-License-Identifier: BSD-3-Clause

#include "table.hpp"

#include <algorithm>
#include <numeric>

#include "shown_text.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

namespace {

constexpr std::string_view gap = "  ";

/// Minimum width of a column that is cut.
constexpr std::size_t least_width = 8;

/// Maximum number of lines for a cell that is printed in lines of its own.
constexpr std::size_t most_lines = 4;

} // namespace

table::table(output& to, std::vector<column> columns)
  : to_(to), columns_(std::move(columns)) {
  for (const auto& x : columns_)
    widths_.push_back(width_of(x.title));
}

void table::row(std::vector<std::string> cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i] = one_line(cells[i]);
    widths_[i] = std::max(widths_[i], width_of(cells[i]));
  }
  rows_.push_back(std::move(cells));
}

void table::print() {
  if (rows_.empty())
    return;
  const auto widths = fitted();
  in_lines_ = in_lines_ || widths.empty();
  if (!in_lines_ && !has_titles_) {
    has_titles_ = true;
    std::vector<std::string> titles;
    for (const auto& x : columns_)
      titles.push_back(x.title);
    print(titles, widths);
  }
  for (const auto& x : rows_)
    if (in_lines_)
      print_in_lines(x);
    else
      print(x, widths);
  rows_.clear();
  to_.flush();
}

std::vector<std::size_t> table::fitted() const {
  auto result = widths_;
  if (!to_.is_terminal())
    return result;
  auto sum = std::accumulate(result.begin(), result.end(),
                             gap.size() * (result.size() - 1));
  while (sum > to_.columns()) {
    // Shrinks the widest column first, so that short ones stay whole.
    std::size_t* widest = nullptr;
    for (std::size_t i = 0; i < result.size(); ++i)
      if (columns_[i].kind == column_kind::text && result[i] > least_width
          && (widest == nullptr || result[i] > *widest))
        widest = &result[i];
    if (widest == nullptr)
      return {};
    --*widest;
    --sum;
  }
  return result;
}

void table::print(const std::vector<std::string>& cells,
                  const std::vector<std::size_t>& widths) {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto cell = cut(cells[i], widths[i]);
    const std::string blanks(widths[i] - std::min(widths[i], width_of(cell)),
                             ' ');
    if (i > 0)
      text += gap;
    if (columns_[i].kind == column_kind::number)
      text += blanks + cell;
    else
      text += cell + blanks;
  }
  text.erase(text.find_last_not_of(' ') + 1);
  to_.line(text);
}

void table::print_in_lines(const std::vector<std::string>& cells) {
  const auto columns = to_.columns();
  std::size_t title_width = 0;
  for (const auto& x : columns_)
    title_width = std::max(title_width, width_of(x.title));
  std::string mark; // cell without a title, printed before the next one
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto& title = columns_[i].title;
    const auto cell = mark + cells[i];
    if (title.empty()) {
      mark = cell.empty() ? "" : cell + ' ';
      continue;
    }
    mark.clear();
    if (cell.empty())
      continue;
    const auto blanks = title_width - width_of(title) + gap.size();
    if (title_width + gap.size() + width_of(cell) <= columns) {
      std::string line = title;
      line.append(blanks, ' ').append(cell);
      to_.line(line);
      continue;
    }
    to_.line(title);
    // The terminal breaks the line, so that an id can be copied.
    const auto room = std::max(columns, gap.size() + 1) - gap.size();
    to_.line(fmt::format("{}{}", gap, cut(cell, room * most_lines)));
  }
  to_.line("");
}

void print_fields(output& to,
                  const std::vector<std::pair<std::string, std::string>>& x) {
  std::size_t width = 0;
  for (const auto& [name, value] : x)
    width = std::max(width, name.size());
  for (const auto& [name, value] : x)
    if (!value.empty())
      to.line(fmt::format("{}{}{}{}", name,
                          std::string(width - name.size(), ' '), gap,
                          one_line(value)));
}

} // namespace tertulia::tool
