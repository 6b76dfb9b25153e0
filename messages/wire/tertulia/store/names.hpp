// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/inspect.hpp>
#include <tertulia/stored_type.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

// What requests to a store have in common: their kinds, and references to
// sessions and snapshots. A session is identified by its agent and its own id,
// because a store may serve many agents.

namespace tertulia {

/// Maximum length of a page that a store returns.
inline constexpr std::uint32_t max_page = 1'000;

/// Maximum length of the id of a session, and of the key of its agent, in
/// bytes.
inline constexpr std::size_t max_session_name = 1'024;

/// Base of requests to a store that change nothing.
struct store_read : memberwise {};

/// Base of requests to a store that may take long: the store splits them into
/// transactions of its own.
struct store_sweep : memberwise {};

/// Reference to a session.
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

/// Checks that a session may have this name: agent and id are not empty, have
/// at most `max_session_name` bytes, are UTF-8 and contain no NUL. A session
/// with another name could not be exported or named on a command line.
/// @errors throws `invalid_argument` that names the JSON path.
void check_name(const session_ref& x);

/// Position of a session between two changes: its next turn and the state that
/// it works on. The default is the position of a session that does not exist.
///
/// A writer that reads a position and saves a change based on it must not
/// overwrite a later change of another writer. If the session has returned to
/// the same position, such a save overwrites nothing.
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
};

BOOST_DESCRIBE_STRUCT(session_position, (), (next_turn, content, type))

/// Reference to a snapshot. An id that occurs in only one session is
/// sufficient; an id that occurs in several is ambiguous without the session.
/// If a session has come to a state more than once, the reference means its
/// last active record, or its last record if none is active.
struct snapshot_ref {
  snapshot_ref() = default;
  snapshot_ref(std::string agent, session_id session, snapshot_id id)
    : agent(std::move(agent)), session(std::move(session)), id(std::move(id)) {}

  /// Refers to one certain record.
  snapshot_ref(session_ref session_key, std::uint64_t sequence)
    : agent(std::move(session_key.agent)), session(std::move(session_key.id)),
      sequence(sequence) {}

  std::string agent;
  /// Empty if the id is sufficient.
  session_id session;
  snapshot_id id;
  /// Number of one certain record of the session, which must then be named; 0
  /// for the record that the id determines. With a number the id may be empty;
  /// if it is not, both must fit.
  std::uint64_t sequence = 0;
};

BOOST_DESCRIBE_STRUCT(snapshot_ref, (), (agent, session, id, sequence))

/// Level of detail of a reply about snapshots.
enum class detail_level : std::uint8_t {
  record, ///< Only the record; stores do not touch the state for it.
  state,  ///< Record and state; the state is verified.
};

BOOST_DESCRIBE_ENUM(detail_level, record, state)

} // namespace tertulia
