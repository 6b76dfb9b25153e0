// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tertulia {

/// Incremental SHA-256.
///
/// The state between two updates is a plain value of 112 bytes without an
/// allocation. A copy continues independently, so the common beginning of two
/// texts is hashed only once.
///
/// @threads a value.
/// @design  docs/genkit.md 003 §1.1: a snapshot's id is the hash of its state.
class sha256 {
public:
  /// Starts a hash of zero bytes.
  sha256() noexcept;

  /// Continues the hash with these bytes.
  void update(std::string_view bytes) noexcept;

  /// Returns the number of bytes hashed so far.
  [[nodiscard]] std::uint64_t size() const noexcept;

  /// Returns the hash of all bytes so far; more bytes may follow.
  [[nodiscard]] std::array<std::uint8_t, 32> digest() const noexcept;

  /// Returns the digest as 64 lower-case hexadecimal digits, as `sha256sum`
  /// prints it.
  [[nodiscard]] std::string hex() const;

private:
  // A Nettle context as bytes: this header does not expose Nettle's.
  alignas(std::uint64_t) std::array<std::byte, 112> state_;
};

} // namespace tertulia
