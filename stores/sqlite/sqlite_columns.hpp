// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/store.hpp>
#include <tertulia/stored_type.hpp>

#include <caf/timestamp.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Conversion of the columns of sessions, records and states, and damage of
// their rows. See docs/sqlite-format.md.

namespace tertulia::columns {

/// Returns the 32 bytes of 64 hexadecimal digits; empty for anything else.
[[nodiscard]] std::string bytes_of_hex(std::string_view hex);

/// Returns two lower-case hexadecimal digits for each byte.
[[nodiscard]] std::string hex_of_bytes(std::string_view bytes);

/// Returns the type of a state; nothing if name or version are invalid.
[[nodiscard]] std::optional<stored_type> type_of(std::string_view name,
                                                 std::int64_t version);

[[nodiscard]] std::int64_t to_number(caf::timestamp x);
[[nodiscard]] caf::timestamp to_time(std::int64_t x);

/// Returns the number of whole hours since 1970.
[[nodiscard]] std::int64_t hour_of(caf::timestamp x);

/// Returns a number of a client, limited to the range of the columns.
[[nodiscard]] std::uint64_t clamped(std::uint64_t x);

[[nodiscard]] std::string_view name_of(snapshot_event x);

/// Returns the event with a name; nothing for an unknown name.
[[nodiscard]] std::optional<snapshot_event> to_event(std::string_view x);

/// @param own_id empty if the snapshot has the id of its state.
[[nodiscard]] snapshot_id id_of(std::string_view own_id,
                                std::string_view state);

/// @param sequence 0 for the session itself.
/// @param what     text that follows the name of the damaged object.
[[nodiscard]] damage damage_of(damage_kind kind, const session_info& x,
                               std::uint64_t sequence, const std::string& what);

/// Returns the damage of a session whose row is corrupt.
[[nodiscard]] damage damage_of(const session_info& x);

/// @errors always throws `data_loss`.
[[noreturn]] void reject(const damage& x);

/// Adds damage to a list, which continues after it.
/// @errors throws `data_loss` if there are already `max_page` damages.
void add(std::vector<damage>& to, damage x);

} // namespace tertulia::columns
