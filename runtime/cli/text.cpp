// SPDX-License-Identifier: BSD-3-Clause

#include "text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <iterator>

#include "zero_width.hpp"

namespace tertulia::tool {

namespace {

template <std::size_t N>
bool is_in(const std::array<character_range, N>& ranges, char32_t x) {
  const auto next = std::upper_bound(ranges.begin(), ranges.end(), x,
                                     [](char32_t y, const character_range& z) {
                                       return y < z.first;
                                     });
  return next != ranges.begin() && x <= std::prev(next)->last;
}

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

constexpr std::array<character_range, 12> wide{{{0x1100, 0x115f},
                                                {0x231a, 0x231b},
                                                {0x2e80, 0x303e},
                                                {0x3041, 0xa4cf},
                                                {0xac00, 0xd7a3},
                                                {0xf900, 0xfaff},
                                                {0xfe30, 0xfe6f},
                                                {0xff00, 0xff60},
                                                {0xffe0, 0xffe6},
                                                {0x1f300, 0x1f64f},
                                                {0x1f680, 0x1faff},
                                                {0x20000, 0x3fffd}}};

/// One character of a text, or one byte that is not part of a valid character.
struct character {
  char32_t code = 0;
  std::string_view bytes;
  bool valid = false;
};

character first_of(std::string_view text) {
  const auto byte
    = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto lead = byte(0);
  if (lead < 0x80)
    return {lead, text.substr(0, 1), true};
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  constexpr std::array<char32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const character broken{lead, text.substr(0, 1), false};
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size)
    return broken;
  char32_t code = lead & (0xffu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0u) != 0x80)
      return broken;
    code = code << 6u | (byte(i) & 0x3fu);
  }
  if (code < least[size] || code > 0x10ffff
      || (code >= 0xd800 && code <= 0xdfff))
    return broken;
  return {code, text.substr(0, size), true};
}

template <class Fn>
void for_each_character(std::string_view text, Fn fn) {
  while (!text.empty()) {
    const auto x = first_of(text);
    fn(x);
    text.remove_prefix(x.bytes.size());
  }
}

std::string hex(const char* format, char32_t x) {
  std::array<char, 16> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, static_cast<unsigned>(x));
  return buffer.data();
}

std::string escaped(const character& x) {
  switch (x.code) {
    case '\n': return "\\n";
    case '\t': return "\\t";
    case '\r': return "\\r";
    default: break;
  }
  return x.valid && x.code > 0x7f ? hex("\\u{%x}", x.code)
                                  : hex("\\x%02x", x.code);
}

/// Counts consecutive zero-width characters.
/// @returns whether the character makes the run too long.
bool is_one_too_many(const character& x, std::size_t& marks) {
  marks = x.valid && is_in(zero_width, x.code) ? marks + 1 : 0;
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
    else if (x.valid && !is_in(obeyed, x.code))
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
  if (x <= 0xffff)
    return hex("\\u%04x", x);
  x -= 0x10000;
  return hex("\\u%04x", 0xd800 + (x >> 10u))
         + hex("\\u%04x", 0xdc00 + (x & 0x3ffu));
}

std::size_t width_of(const character& x) {
  if (x.valid && is_in(zero_width, x.code))
    return 0;
  return is_in(wide, x.code) ? 2 : 1;
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
             || (x.code != '\n' && is_in(obeyed, x.code)))
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
  for_each_character(text, [&](const character& x) { result += width_of(x); });
  return result;
}

std::string cut(std::string_view text, std::size_t cells) {
  if (width_of(text) <= cells)
    return std::string{text};
  std::size_t used = 1; // the ellipsis
  std::size_t bytes = 0;
  auto full = false;
  for_each_character(text, [&](const character& x) {
    used += width_of(x);
    full = full || used > cells;
    if (!full)
      bytes += x.bytes.size();
  });
  return std::string{text.substr(0, bytes)} + "…";
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

std::string counted(unsigned long long n, const char* noun) {
  return std::to_string(n) + ' ' + noun + (n == 1 ? "" : "s");
}

} // namespace tertulia::tool
