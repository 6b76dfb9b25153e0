// SPDX-License-Identifier: BSD-3-Clause

#include "help_formatter.hpp"

#include <cstddef>
#include <sstream>

namespace tertulia::tool {

namespace {

/// Breaks a text into lines, at blanks.
std::string wrapped(const std::string& text, std::size_t width) {
  std::istringstream words{text};
  std::string result;
  std::size_t used = 0;
  for (std::string word; words >> word;) {
    if (used > 0 && used + 1 + word.size() > width) {
      result += '\n';
      used = 0;
    } else if (used > 0) {
      result += ' ';
      ++used;
    }
    result += word;
    used += word.size();
  }
  return result;
}

constexpr std::size_t line_width = 80;

} // namespace

std::string help_formatter::make_option_desc(const CLI::Option* x) const {
  return wrapped(x->get_description(), line_width - column_width_);
}

std::string help_formatter::make_subcommand(const CLI::App* x) const {
  std::ostringstream result;
  CLI::detail::format_help(
    result, x->get_display_name(true),
    wrapped(x->get_description(), line_width - column_width_), column_width_);
  return result.str();
}

} // namespace tertulia::tool
