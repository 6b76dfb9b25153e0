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

// What the columns of sessions, records and states mean, and what is said of
// rows that are damaged. See sqlite_format.md.

namespace tertulia::columns {

/// Returns the 32 bytes of 64 hexadecimal digits; empty for anything else.
[[nodiscard]] std::string bytes_of_hex(std::string_view hex);

/// Returns two lower-case digits for each byte.
[[nodiscard]] std::string hex_of_bytes(std::string_view bytes);

/// Returns the type of a state; nothing for what is none.
[[nodiscard]] std::optional<stored_type> type_of(std::string_view name,
                                                 std::int64_t version);

[[nodiscard]] std::int64_t to_number(caf::timestamp x);
[[nodiscard]] caf::timestamp to_time(std::int64_t x);

/// A number that somebody chose, as one that can be compared with ours.
[[nodiscard]] std::uint64_t clamped(std::uint64_t x);

[[nodiscard]] std::string_view name_of(snapshot_event x);

/// Returns the event of a name; nothing for what is none.
[[nodiscard]] std::optional<snapshot_event> to_event(std::string_view x);

/// @param own_id empty if the snapshot has the id of its state.
[[nodiscard]] snapshot_id id_of(std::string_view own_id,
                                std::string_view state);

/// @param sequence 0 for the session itself.
/// @param what     goes on behind the name of what is damaged.
[[nodiscard]] damage damage_of(damage_kind kind, const session_info& x,
                               std::uint64_t sequence, const std::string& what);

/// Of a session whose row is not what was written.
[[nodiscard]] damage damage_of(const session_info& x);

/// @errors always throws `data_loss`.
[[noreturn]] void reject(const damage& x);

/// Tells of damage in a list, which goes on behind it.
/// @errors throws `data_loss` if there is nothing else.
void add(std::vector<damage>& to, damage x);

} // namespace tertulia::columns
