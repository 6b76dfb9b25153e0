// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/describe.hpp>
#include <tertulia/identifier.hpp>
#include <tertulia/store/names.hpp>

#include <cstdint>
#include <string>
#include <utility>

// What a store says of what it has lost or kept badly.

namespace tertulia {

/// How something is damaged.
enum class damage_kind : std::uint8_t {
  corrupt, ///< It is there, and is not what it was.
  missing, ///< It is gone, or a part of it is.
};

BOOST_DESCRIBE_ENUM(damage_kind, corrupt, missing)

/// Something that a store has lost or kept badly.
struct damage {
  damage() = default;
  damage(damage_kind kind, session_ref where, std::uint64_t sequence,
         state_id state, std::string what)
    : kind(kind), where(std::move(where)), sequence(sequence),
      state(std::move(state)), what(std::move(what)) {}

  damage_kind kind = damage_kind::corrupt;
  /// Empty for what belongs to no session, such as a page of the file.
  session_ref where;
  /// Which record of the session; 0 for the session itself.
  std::uint64_t sequence = 0;
  /// The state that is damaged; empty if something else is.
  state_id state;
  /// For people.
  std::string what;

  friend bool operator==(const damage&, const damage&) = default;
};

BOOST_DESCRIBE_STRUCT(damage, (), (kind, where, sequence, state, what))

} // namespace tertulia
