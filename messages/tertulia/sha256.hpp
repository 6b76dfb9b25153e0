// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tertulia {

/// A SHA-256 over bytes that come in pieces.
///
/// The state between two pieces is a plain value of 112 bytes, with no
/// allocation behind it: a copy continues on its own, so that what two texts
/// have in common at their beginning is hashed once.
///
/// @threads a value.
/// @design  seed 003 §1.1: a snapshot's id is the hash of its state.
class sha256 {
public:
  /// Has seen no bytes.
  sha256() noexcept;

  /// Continues with these bytes.
  void update(std::string_view bytes) noexcept;

  /// Returns how many bytes it has seen.
  [[nodiscard]] std::uint64_t size() const noexcept;

  /// Returns the hash of all bytes so far; more of them may follow.
  [[nodiscard]] std::array<std::uint8_t, 32> digest() const noexcept;

  /// Returns the same as 64 lower-case hexadecimal digits, as `sha256sum`
  /// prints it.
  [[nodiscard]] std::string hex() const;

private:
  // what OpenSSL keeps: its headers are not ours to hand on
  alignas(std::uint32_t) std::array<std::byte, 112> state_;
};

} // namespace tertulia
