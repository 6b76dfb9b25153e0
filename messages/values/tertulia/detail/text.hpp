// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tertulia::detail {

// -- UTF-8 --------------------------------------------------------------------

/// Returns the length of the UTF-8 sequence at the start of `text`, 0 if it is
/// invalid: overlong forms, surrogates and numbers above U+10FFFF are invalid.
/// @pre `text` is not empty.
[[nodiscard]] std::size_t utf8_length(std::string_view text) noexcept;

[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

/// Returns the first `count` characters of `text`, or all of them if there are
/// fewer.
/// @pre `text` is UTF-8.
[[nodiscard]] std::string_view first_characters(std::string_view text,
                                                std::size_t count) noexcept;

/// Returns the longest prefix of `text` that has at most `limit` bytes and ends
/// with a whole character.
/// @pre `text` is UTF-8.
[[nodiscard]] std::string_view first_bytes(std::string_view text,
                                           std::size_t limit) noexcept;

/// Returns the number of characters.
/// @pre `text` is UTF-8.
[[nodiscard]] std::size_t count_characters(std::string_view text) noexcept;

// -- ASCII --------------------------------------------------------------------

/// Returns `text` with the letters A to Z in lower case, whatever the locale.
[[nodiscard]] std::string lowered(std::string_view text);

// -- lower-case hexadecimal text ----------------------------------------------

/// Returns two digits for each byte.
[[nodiscard]] std::string to_hex(std::span<const std::uint8_t> bytes);

/// Reads two digits for each byte of `out`.
/// @returns false if `hex` has another length or other characters; `out` is
///          unspecified then.
[[nodiscard]] bool read_hex(std::string_view hex,
                            std::span<std::uint8_t> out) noexcept;

// -- percent-encoded text -----------------------------------------------------

/// Returns the bytes of a text in which `%` and two hexadecimal digits stand
/// for a byte, as in a URL.
/// @returns empty if a `%` is not followed by two digits.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);

} // namespace tertulia::detail
