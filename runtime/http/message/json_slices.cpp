// SPDX-License-Identifier: BSD-3-Clause

#include "json_slices.hpp"

#include <algorithm>

namespace tertulia::web {

namespace {

/// Returns the end of a string, whose quotation mark is at `from`.
std::size_t end_of_string(std::string_view text, std::size_t from) noexcept {
  auto i = from + 1;
  auto quote = text.find('"', i);
  while (quote != std::string_view::npos) {
    const auto escape = text.substr(0, quote).find('\\', i);
    if (escape == std::string_view::npos)
      return quote + 1;
    i = escape + 2;
    if (i > quote) // it was escaped
      quote = text.find('"', i);
  }
  return text.size();
}

} // namespace

std::size_t end_of_value(std::string_view text, std::size_t from) noexcept {
  std::size_t depth = 0;
  for (auto i = std::min(from, text.size()); i < text.size();) {
    switch (text[i]) {
      case '"': i = end_of_string(text, i); break;
      case '{':
      case '[':
        ++depth;
        ++i;
        break;
      case '}':
      case ']':
        if (depth == 0)
          return i; // of what the value is in
        --depth;
        ++i;
        break;
      case ',':
      case ':':
        if (depth == 0)
          return i;
        ++i;
        break;
      default: ++i;
    }
  }
  return text.size();
}

std::string_view trimmed(std::string_view text) noexcept {
  constexpr std::string_view blanks = " \t\n\r";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string_view member_in(std::string_view object,
                           std::string_view name) noexcept {
  std::string_view result;
  for_each_member(object, [&](std::string_view own, std::string_view value) {
    if (own == name)
      result = value;
  });
  return result;
}

} // namespace tertulia::web
