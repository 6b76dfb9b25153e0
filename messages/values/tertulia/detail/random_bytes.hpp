// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstdint>
#include <span>

namespace tertulia::detail {

/// Fills memory with random bytes that cannot be predicted. A forked process
/// does not repeat the bytes of its parent.
///
/// @pre     at most 256 bytes.
/// @errors  throws `internal` if the system has no random bytes.
/// @threads any.
void random_bytes(std::span<std::uint8_t> to);

/// Returns a random number in [0, 1), such as the part of a pause that differs
/// from client to client.
///
/// @errors  as `random_bytes`.
/// @threads any.
[[nodiscard]] double random_fraction();

} // namespace tertulia::detail
