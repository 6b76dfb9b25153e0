// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

// Lower-case hexadecimal text.

namespace tertulia::detail {

/// Returns two digits for each byte.
[[nodiscard]] std::string to_hex(std::span<const std::uint8_t> bytes);

/// Reads two digits for each byte of `out`.
/// @returns false if `hex` has another length or other characters; `out` is
///          unspecified then.
[[nodiscard]] bool read_hex(std::string_view hex,
                            std::span<std::uint8_t> out) noexcept;

} // namespace tertulia::detail
