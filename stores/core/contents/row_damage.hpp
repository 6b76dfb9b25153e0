// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/store.hpp>
#include <tertulia/store_rows.hpp>

#include <cstdint>
#include <string>
#include <vector>

// Damage of rows, and its reports.

namespace tertulia::rules {

/// @param sequence 0 for the session itself.
/// @param what     text that follows the name of the damaged object.
[[nodiscard]] damage damage_of(damage_kind kind, const session_row& x,
                               std::uint64_t sequence, const std::string& what);

/// Returns the damage of a session whose row is corrupt.
[[nodiscard]] damage damage_of(const session_row& x);

/// Returns the damage of a record whose row is corrupt.
[[nodiscard]] damage damage_of(const session_row& in, const record_row& x);

/// @errors always throws `data_loss`.
[[noreturn]] void reject(const damage& x);

/// Adds damage to a list, which continues after it.
/// @errors throws `data_loss` if there are already `max_page` damages.
void add(std::vector<damage>& to, damage x);

} // namespace tertulia::rules
