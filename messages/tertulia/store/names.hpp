// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/describe.hpp>
#include <tertulia/identifier.hpp>
#include <tertulia/stored_type.hpp>

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

/// Checks that a session may have this name: agent and id are not empty, are
/// UTF-8 and contain no NUL. Any other session could be neither exported nor
/// named on a command line.
/// @errors throws `invalid_argument` that names the JSON path.
void check_name(const session_ref& x);

/// Position of a session between two changes: its next turn and the state that
/// it works on. By default that of a session that does not exist.
///
/// A writer that read one position and saves a change of it must not overwrite
/// what another writer has saved since. A session that came back to the same
/// position has nothing that such a change could overwrite.
struct session_position {
  session_position() = default;
  session_position(std::uint64_t next_turn, state_id content, stored_type type)
    : next_turn(next_turn), content(std::move(content)), type(std::move(type)) {
  }

  /// Index of the next turn.
  std::uint64_t next_turn = 0;
  /// Id of the state; empty without a session.
  state_id content;
  /// Type of the state.
  stored_type type;

  friend bool operator==(const session_position&, const session_position&)
    = default;
};

BOOST_DESCRIBE_STRUCT(session_position, (), (next_turn, content, type))

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
