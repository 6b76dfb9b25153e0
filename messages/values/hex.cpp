// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/hex.hpp>

#include <cstddef>

namespace tertulia::detail {

namespace {

/// Returns the value of a digit, -1 for any other character.
int value_of(char x) noexcept {
  if (x >= '0' && x <= '9')
    return x - '0';
  return x >= 'a' && x <= 'f' ? x - 'a' + 10 : -1;
}

} // namespace

std::string to_hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result;
  result.reserve(2 * bytes.size());
  for (const auto x : bytes) {
    result += digits[x >> 4];
    result += digits[x & 15];
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

} // namespace tertulia::detail
