// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/artifact.hpp>
#include <tertulia/snapshot.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

// Results and snapshots of agents, with the members of Genkit's designs.

namespace tertulia {

/// Return value of the body of an agent. docs/genkit.md 001 §1.5.
template <class Out>
struct agent_result {
  agent_result() = default;

  explicit agent_result(Out output, std::vector<ai::artifact> artifacts = {})
    : output(std::move(output)), artifacts(std::move(artifacts)) {}

  Out output{};
  std::vector<ai::artifact> artifacts;
};

/// Output that the client of an agent receives when the agent has finished.
/// docs/genkit.md 001 §1.5 and 000 §5.
template <class State, class Out>
struct agent_output {
  /// Session to pass to `with_session_id` in order to continue later.
  tertulia::session_id session_id;
  Out output{};
  State state{};
  std::vector<ai::artifact> artifacts;
  /// The snapshots of this invocation, oldest first.
  std::vector<snapshot_id> snapshot_ids;
  /// Reason for which the last turn ended; empty if the program gave none.
  std::optional<ai::finish_reason> finish_reason;

  BOOST_DESCRIBE_CLASS(agent_output, (),
                       (session_id, output, state, artifacts, snapshot_ids,
                        finish_reason),
                       (), ())
};

template <class State, class Out>
inline constexpr auto omitted_when_empty<agent_output<State, Out>> = std::tuple{
  &agent_output<State, Out>::artifacts,
  &agent_output<State, Out>::snapshot_ids};

/// A snapshot of an agent, state included. docs/genkit.md 000 §1.1.
template <class State>
struct snapshot {
  snapshot() = default;

  snapshot(const snapshot_record& record, State state)
    : id(record.id), parent_id(record.parent_id), session_id(record.session),
      created_at(record.created_at), state(std::move(state)),
      index(record.index), turn_index(record.turn_index), event(record.event),
      finish_reason(record.finish_reason), orphaned(record.orphaned) {}

  snapshot_id id;
  snapshot_id parent_id;
  tertulia::session_id session_id;
  caf::timestamp created_at;
  State state{};
  std::uint64_t index = 0;
  std::uint64_t turn_index = 0;
  snapshot_event event = snapshot_event::turn_end;
  /// As `snapshot_record::finish_reason`.
  std::optional<ai::finish_reason> finish_reason;
  bool orphaned = false;

  BOOST_DESCRIBE_CLASS(snapshot, (),
                       (id, parent_id, session_id, created_at, state, index,
                        turn_index, event, finish_reason, orphaned),
                       (), ())
};

template <class State>
inline constexpr auto omitted_when_empty<snapshot<State>> = std::tuple{
  &snapshot<State>::parent_id, &snapshot<State>::orphaned};

/// Data that a store keeps of a session of an agent. docs/genkit.md 000 §11.
template <class State>
struct session_data {
  session_id id;
  State state{};
  std::optional<snapshot<State>> last_snapshot;
  /// Index of the next turn.
  std::uint64_t turn_index = 0;

  BOOST_DESCRIBE_CLASS(session_data, (), (id, state, last_snapshot, turn_index),
                       (), ())
};

// -- inputs of the actions on a store: docs/genkit.md 000 §10.1, 003 §9.1 -----

/// Input of a store action that refers to a snapshot.
struct snapshot_query {
  tertulia::snapshot_id snapshot_id;
  /// Needed only if the id occurs in several sessions.
  tertulia::session_id session_id{};
};

BOOST_DESCRIBE_STRUCT(snapshot_query, (), (snapshot_id, session_id))

template <>
inline constexpr bool refuses_unknown_members<snapshot_query> = true;

template <>
inline constexpr auto omitted_when_empty<snapshot_query> = std::tuple{
  &snapshot_query::session_id};

/// Input of a store action that refers to a session.
struct session_query {
  tertulia::session_id session_id;
  /// True if a list of snapshots is to include the orphaned ones.
  bool include_orphaned = false;
};

BOOST_DESCRIBE_STRUCT(session_query, (), (session_id, include_orphaned))

template <>
inline constexpr bool refuses_unknown_members<session_query> = true;

template <>
inline constexpr auto omitted_when_empty<session_query> = std::tuple{
  &session_query::include_orphaned};

} // namespace tertulia
