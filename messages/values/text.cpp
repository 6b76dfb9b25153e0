// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/text.hpp>

#include <algorithm>

namespace tertulia::detail {

namespace {

/// Returns the value of a digit, -1 for any other character.
int value_of(char x) noexcept {
  if (x >= '0' && x <= '9')
    return x - '0';
  return x >= 'a' && x <= 'f' ? x - 'a' + 10 : -1;
}

/// Returns whether a byte of UTF-8 begins a character.
bool begins_character(char c) noexcept {
  return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
}

} // namespace

std::size_t utf8_length(std::string_view text) noexcept {
  const auto at = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto tail = [&](std::size_t i) { return (at(i) & 0xc0) == 0x80; };
  const auto lead = at(0);
  if (lead < 0x80)
    return 1;
  if (lead < 0xc2)
    return 0;
  if (lead < 0xe0)
    return tail(1) ? 2 : 0;
  if (lead < 0xf0) {
    const auto fits
      = (lead != 0xe0 || at(1) >= 0xa0) && (lead != 0xed || at(1) < 0xa0);
    return fits && tail(1) && tail(2) ? 3 : 0;
  }
  if (lead < 0xf5) {
    const auto fits
      = (lead != 0xf0 || at(1) >= 0x90) && (lead != 0xf4 || at(1) < 0x90);
    return fits && tail(1) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const auto length = utf8_length(text);
    if (length == 0)
      return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string_view first_characters(std::string_view text,
                                  std::size_t count) noexcept {
  const auto end = std::find_if(text.begin(), text.end(), [&](char c) {
    return begins_character(c) && count-- == 0;
  });
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

std::string_view first_bytes(std::string_view text,
                             std::size_t limit) noexcept {
  if (text.size() <= limit)
    return text;
  while (limit > 0 && !begins_character(text[limit]))
    --limit;
  return text.substr(0, limit);
}

std::size_t count_characters(std::string_view text) noexcept {
  return static_cast<std::size_t>(
    std::count_if(text.begin(), text.end(), begins_character));
}

std::string lowered(std::string_view text) {
  std::string result{text};
  for (auto& x : result)
    if (x >= 'A' && x <= 'Z')
      x = static_cast<char>(x - 'A' + 'a');
  return result;
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result(2 * bytes.size(), ' ');
  auto to = result.begin();
  for (const auto x : bytes) {
    *to++ = digits[x >> 4];
    *to++ = digits[x & 15];
  }
  return result;
}

bool read_hex(std::string_view hex, std::span<std::uint8_t> out) noexcept {
  if (hex.size() != 2 * out.size())
    return false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto high = value_of(hex[2 * i]);
    const auto low = value_of(hex[2 * i + 1]);
    if (high < 0 || low < 0)
      return false;
    out[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return true;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    std::uint8_t byte = 0;
    if (!read_hex(lowered(text.substr(i + 1, 2)), {&byte, 1}))
      return std::nullopt;
    result += static_cast<char>(byte);
    i += 2;
  }
  return result;
}

} // namespace tertulia::detail
