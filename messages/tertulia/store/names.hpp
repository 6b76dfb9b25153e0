// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/describe.hpp>
#include <tertulia/identifier.hpp>

#include <cstdint>
#include <string>
#include <utility>

// How sessions and snapshots are named to a store. Sessions are told apart by
// the agent they belong to and their own id: a store may serve many agents.

namespace tertulia {

/// The longest page that a store gives.
inline constexpr std::uint32_t max_page = 1'000;

/// Which session is meant.
struct session_ref {
  session_ref() = default;
  session_ref(std::string agent, session_id id)
    : agent(std::move(agent)), id(std::move(id)) {}

  /// Key of the agent or flow, e.g. `/agent/chat`.
  std::string agent;
  session_id id;

  friend auto operator<=>(const session_ref&, const session_ref&) = default;
};

BOOST_DESCRIBE_STRUCT(session_ref, (), (agent, id))

/// Which snapshot is meant. An id that occurs in one session needs no more; one
/// that occurs in several is ambiguous without the session. If a session has
/// come to a state more than once its last active record is meant, or its last
/// one if none is active.
struct snapshot_ref {
  snapshot_ref() = default;
  snapshot_ref(std::string agent, session_id session, snapshot_id id)
    : agent(std::move(agent)), session(std::move(session)), id(std::move(id)) {}

  /// Means one certain record.
  snapshot_ref(session_ref of, std::uint64_t sequence)
    : agent(std::move(of.agent)), session(std::move(of.id)),
      sequence(sequence) {}

  std::string agent;
  /// Empty if the id says it all.
  session_id session;
  snapshot_id id;
  /// One certain record of the session, which must be named then; 0 for
  /// whichever has the id. With it the id may be empty; if it is not, both must
  /// fit.
  std::uint64_t sequence = 0;

  friend bool operator==(const snapshot_ref&, const snapshot_ref&) = default;
};

BOOST_DESCRIBE_STRUCT(snapshot_ref, (), (agent, session, id, sequence))

/// How much of a snapshot is wanted.
enum class detail_level : std::uint8_t {
  record, ///< Its record; stores do not touch the state for it.
  state,  ///< Its state, too, and verified.
};

BOOST_DESCRIBE_ENUM(detail_level, record, state)

} // namespace tertulia
