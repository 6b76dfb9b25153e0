// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/inspect.hpp>
#include <tertulia/store/names.hpp>

#include <cstdint>
#include <string>
#include <utility>

// Reports of a store about data that is lost or corrupt.

namespace tertulia {

/// Kind of damage.
enum class damage_kind : std::uint8_t {
  corrupt, ///< The data exists but is not what was stored.
  missing, ///< The data, or a part of it, is lost.
};

BOOST_DESCRIBE_ENUM(damage_kind, corrupt, missing)

/// Report about data that a store has lost or that is corrupt.
struct damage {
  damage() = default;
  damage(damage_kind kind, session_ref session, std::uint64_t sequence,
         state_id state, std::string what)
    : kind(kind), where(std::move(session)), sequence(sequence),
      state(std::move(state)), what(std::move(what)) {}

  damage_kind kind = damage_kind::corrupt;
  /// Empty for damage outside of sessions, such as in a page of the file.
  session_ref where;
  /// Number of the damaged record; 0 for the session itself.
  std::uint64_t sequence = 0;
  /// Id of the damaged state; empty if something else is damaged.
  state_id state;
  /// Description for people.
  std::string what;
};

BOOST_DESCRIBE_STRUCT(damage, (), (kind, where, sequence, state, what))

} // namespace tertulia
