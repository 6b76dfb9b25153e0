// SPDX-License-Identifier: BSD-3-Clause

#include "shown_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>
#include <unistr.h>
#include <uniwidth.h>

namespace tertulia::tool {

namespace {

/// Range of characters, including the first and the last one.
struct character_range {
  char32_t first;
  char32_t last;
};

/// Characters that control a terminal: control characters, marks for the
/// direction of text, line separators, and tags (an invisible copy of ASCII).
constexpr std::array<character_range, 9> obeyed{{{0x00, 0x1f},
                                                 {0x7f, 0x9f},
                                                 {0x61c, 0x61c},
                                                 {0x200e, 0x200f},
                                                 {0x2028, 0x202e},
                                                 {0x2060, 0x206f},
                                                 {0xfeff, 0xfeff},
                                                 {0xfff9, 0xfffb},
                                                 {0xe0000, 0xe007f}}};

/// Longest accepted run of zero-width characters. Terminals that stack them
/// paint over other lines. Scripts and emoji need fewer.
constexpr std::size_t most_marks = 8;

/// One character of a text, or one byte that is not part of a valid character.
struct character {
  char32_t code = 0;
  std::string_view bytes;
  bool valid = false;

  [[nodiscard]] bool controls_terminal() const {
    return std::any_of(obeyed.begin(), obeyed.end(), [this](const auto& x) {
      return x.first <= code && code <= x.last;
    });
  }

  /// Returns the number of cells: 0 to 2.
  [[nodiscard]] std::size_t width() const {
    const auto cells = valid ? ::uc_width(code, "UTF-8") : 1;
    return cells < 0 ? 1 : static_cast<std::size_t>(cells);
  }
};

character first_of(std::string_view text) {
  ucs4_t code = 0;
  const auto size = ::u8_mbtoucr(
    &code, reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  if (size <= 0)
    return {static_cast<unsigned char>(text[0]), text.substr(0, 1), false};
  return {code, text.substr(0, static_cast<std::size_t>(size)), true};
}

template <class Fn>
void for_each_character(std::string_view text, Fn fn) {
  while (!text.empty()) {
    const auto x = first_of(text);
    fn(x);
    text.remove_prefix(x.bytes.size());
  }
}

std::string escaped(const character& x) {
  switch (x.code) {
    case '\n': return "\\n";
    case '\t': return "\\t";
    case '\r': return "\\r";
    default: break;
  }
  const auto code = static_cast<unsigned>(x.code);
  return x.valid && code > 0x7f ? fmt::format("\\u{{{:x}}}", code)
                                : fmt::format("\\x{:02x}", code);
}

/// Counts consecutive zero-width characters.
/// @returns whether the character makes the run too long.
bool is_one_too_many(const character& x, std::size_t& marks) {
  marks = x.width() == 0 ? marks + 1 : 0;
  return marks > most_marks;
}

/// @param keep  returns the replacement of a character that controls a
///              terminal; zero to escape the character.
/// @param marks length of the zero-width run before the text; receives that at
///              its end.
template <class Fn>
std::string replaced(std::string_view text, Fn keep, std::size_t& marks) {
  std::string result;
  result.reserve(text.size());
  for_each_character(text, [&](const character& x) {
    if (is_one_too_many(x, marks))
      result += escaped(x);
    else if (x.valid && !x.controls_terminal())
      result += x.bytes;
    else if (const char c = x.valid ? keep(x.code) : '\0'; c != '\0')
      result += c;
    else
      result += escaped(x);
  });
  return result;
}

template <class Fn>
std::string replaced(std::string_view text, Fn keep) {
  std::size_t marks = 0;
  return replaced(text, keep, marks);
}

/// Returns a character as JSON escapes: one or two units of UTF-16.
std::string json_escaped(char32_t x) {
  std::array<std::uint16_t, 2> units{};
  const auto size = ::u16_uctomb(units.data(), x, units.size());
  return size == 1 ? fmt::format("\\u{:04x}", units[0])
                   : fmt::format("\\u{:04x}\\u{:04x}", units[0], units[1]);
}

} // namespace

std::string shown(std::string_view text) {
  return replaced(text, [](char32_t) { return '\0'; });
}

std::string one_line(std::string_view text) {
  return replaced(text, [](char32_t x) {
    return x == '\n' || x == '\t' || x == '\r' ? ' ' : '\0';
  });
}

std::string shown_lines(std::string_view text) {
  std::size_t marks = 0;
  return shown_lines(text, marks);
}

std::string shown_lines(std::string_view text, std::size_t& marks) {
  return replaced(
    text,
    [](char32_t x) {
      return x == '\n' || x == '\t' ? static_cast<char>(x) : '\0';
    },
    marks);
}

std::string shown_json(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  std::size_t marks = 0;
  for_each_character(text, [&](const character& x) {
    // Outside of strings, line breaks are the only control characters.
    if (!x.valid)
      result += "\\ufffd";
    else if (is_one_too_many(x, marks)
             || (x.code != '\n' && x.controls_terminal()))
      result += json_escaped(x.code);
    else
      result += x.bytes;
  });
  return result;
}

std::string as_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for_each_character(text, [&](const character& x) {
    result += x.valid ? x.bytes : std::string_view{"\xef\xbf\xbd"};
  });
  return result;
}

std::size_t width_of(std::string_view text) {
  std::size_t result = 0;
  for_each_character(text, [&](const character& x) { result += x.width(); });
  return result;
}

std::string cut(std::string_view text, std::size_t cells) {
  if (width_of(text) <= cells)
    return std::string{text};
  std::size_t used = 1; // the ellipsis
  std::size_t bytes = 0;
  auto full = false;
  for_each_character(text, [&](const character& x) {
    used += x.width();
    full = full || used > cells;
    if (!full)
      bytes += x.bytes.size();
  });
  return fmt::format("{}…", text.substr(0, bytes));
}

std::string as_word(std::string_view text) {
  constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmno"
                                     "pqrstuvwxyz0123456789_@%+=:,./-";
  if (!text.empty() && text.find_first_not_of(plain) == std::string_view::npos)
    return std::string{text};
  std::string result = "'";
  for (const char c : text)
    result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + '\'';
}

std::string joined(const std::vector<std::string>& x) {
  return one_line(fmt::format("{}", fmt::join(x, ", ")));
}

std::string counted(unsigned long long n, const char* noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

} // namespace tertulia::tool
