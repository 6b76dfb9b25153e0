// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/artifact.hpp>
#include <tertulia/ai/finish_reason.hpp>
#include <tertulia/ai/message_log.hpp>
#include <tertulia/ai/model.hpp>
#include <tertulia/nothing.hpp>
#include <tertulia/snapshot.hpp>
#include <tertulia/state.hpp>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

// Inputs and outputs of chat agents and session flows. The members and their
// order are those of docs/genkit.md 003 §1 and 004 §1.

namespace tertulia::ai {

/// Portable state of a conversation: it is exchanged between client and
/// program, and is what a snapshot captures. docs/genkit.md 003 §1.1, 004 §1.1.
///
/// @threads a value.
template <class Custom>
struct conversation_state {
  conversation_state() = default;

  explicit conversation_state(message_log messages, Custom custom = {},
                              std::vector<artifact> artifacts = {})
    : messages(std::move(messages)), custom(std::move(custom)),
      artifacts(std::move(artifacts)) {}

  message_log messages;
  Custom custom{};
  std::vector<artifact> artifacts;

  BOOST_DESCRIBE_CLASS(conversation_state, (), (messages, custom, artifacts),
                       (), ())
};

/// Returns the state without its static types, sharing the messages.
template <class Custom>
[[nodiscard]] state to_state(conversation_state<Custom> x) {
  return state::conversation(std::move(x.messages),
                             payload::of(std::move(x.custom)),
                             artifact_list{std::move(x.artifacts)},
                             stored_type::of<Custom>());
}

/// Returns the state with its static types, sharing the messages.
/// @errors `invalid_argument` if the custom value is of another shape;
///         `failed_precondition` if it is of another version of its type, or of
///         another type.
template <class Custom>
[[nodiscard]] conversation_state<Custom> from_state(const state& x) {
  detail::expect_type(x.type(), stored_type::of<Custom>());
  auto custom = x.custom();
  return conversation_state<Custom>{
    x.messages(), custom ? std::move(custom).template take<Custom>() : Custom{},
    x.artifacts().to_vector()};
}

/// Input of a client in one turn. docs/genkit.md 003 §1.2, 004 §1.2.
struct conversation_input {
  conversation_input() = default;

  explicit conversation_input(std::vector<message> messages)
    : messages(std::move(messages)) {}

  std::vector<message> messages;
};

BOOST_DESCRIBE_STRUCT(conversation_input, (), (messages))

/// Start of a conversation: from a snapshot, from a state, or empty.
/// @design docs/genkit.md 003 §1.2, 004 §1.2.
template <class Custom>
struct conversation_init {
  tertulia::snapshot_id snapshot_id;
  std::optional<conversation_state<Custom>> state;

  BOOST_DESCRIBE_CLASS(conversation_init, (), (snapshot_id, state), (), ())
};

/// Item in the stream of a conversation; any of its members can be set.
/// @design docs/genkit.md 003 §1.3, 004 §1.3.
template <class Status>
// NOLINTNEXTLINE(bugprone-exception-escape): moving JSON asserts
struct stream_chunk {
  // NOLINTNEXTLINE(bugprone-exception-escape): making JSON asserts
  stream_chunk();

  /// Makes a chunk with a piece of a model's answer.
  explicit stream_chunk(model_response_chunk chunk) : chunk(std::move(chunk)) {}

  /// Makes a chunk with a new artifact.
  explicit stream_chunk(ai::artifact artifact)
    : artifact(std::move(artifact)) {}

  /// Piece of a model's answer.
  std::optional<model_response_chunk> chunk;
  /// Progress report of the program.
  std::optional<Status> status;
  /// New artifact.
  std::optional<ai::artifact> artifact;
  /// Change of the custom value as a JSON Patch (RFC 6902), for a client that
  /// has requested changes (`with_custom_deltas`); null for none. The first one
  /// of a turn replaces the whole value. See `custom_view`.
  json custom_patch;
  /// Snapshot that was just stored; empty for none.
  snapshot_id snapshot_created;
  /// True if the turn has ended: the client may send the next input.
  bool end_turn = false;

  BOOST_DESCRIBE_CLASS(stream_chunk, (),
                       (chunk, status, artifact, custom_patch, snapshot_created,
                        end_turn),
                       (), ())
};

// Defined outside of the class: see part.
template <class Status>
stream_chunk<Status>::stream_chunk() = default;

// -- chat agents --------------------------------------------------------------

template <class Custom>
struct agent_snapshot;

template <class Custom>
struct session_flow_snapshot;

/// Output of a chat agent for its client. docs/genkit.md 003 §1.2.
template <class Custom>
struct agent_response {
  using snapshot_type = agent_snapshot<Custom>;

  tertulia::session_id session_id;
  conversation_state<Custom> state;
  /// Snapshots of this invocation, oldest first.
  std::vector<snapshot_id> snapshot_ids;
  /// Reason for which the last turn ended; empty if the program gave none.
  std::optional<ai::finish_reason> finish_reason;

  BOOST_DESCRIBE_CLASS(agent_response, (),
                       (session_id, state, snapshot_ids, finish_reason), (), ())
};

/// A snapshot of a chat agent. docs/genkit.md 003 §1.1.
template <class Custom>
struct agent_snapshot {
  agent_snapshot() = default;

  agent_snapshot(const snapshot_record& record, const tertulia::state& content)
    : snapshot_id(record.id), session_id(record.session),
      parent_id(record.parent_id), created_at(record.created_at),
      turn_index(record.turn_index), event(record.event),
      finish_reason(record.finish_reason), state(from_state<Custom>(content)) {}

  tertulia::snapshot_id snapshot_id;
  tertulia::session_id session_id;
  tertulia::snapshot_id parent_id;
  caf::timestamp created_at;
  std::uint64_t turn_index = 0;
  snapshot_event event = snapshot_event::turn_end;
  /// As `snapshot_record::finish_reason`.
  std::optional<ai::finish_reason> finish_reason;
  conversation_state<Custom> state;

  BOOST_DESCRIBE_CLASS(agent_snapshot, (),
                       (snapshot_id, session_id, parent_id, created_at,
                        turn_index, event, finish_reason, state),
                       (), ())
};

// -- session flows ------------------------------------------------------------

/// Output of a session flow for its client. docs/genkit.md 004 §1.2.
template <class Custom>
struct session_flow_response {
  using snapshot_type = session_flow_snapshot<Custom>;

  tertulia::session_id session_id;
  conversation_state<Custom> state;
  /// Snapshot that has this state; empty without one.
  tertulia::snapshot_id snapshot_id;
  /// Reason for which the last turn ended; empty if the program gave none.
  std::optional<ai::finish_reason> finish_reason;

  BOOST_DESCRIBE_CLASS(session_flow_response, (),
                       (session_id, state, snapshot_id, finish_reason), (), ())
};

/// A snapshot of a session flow. docs/genkit.md 004 §1.1.
template <class Custom>
struct session_flow_snapshot {
  session_flow_snapshot() = default;

  session_flow_snapshot(const snapshot_record& record,
                        const tertulia::state& content)
    : snapshot_id(record.id), parent_id(record.parent_id),
      created_at(record.created_at), turn_index(record.turn_index),
      finish_reason(record.finish_reason), state(from_state<Custom>(content)) {}

  tertulia::snapshot_id snapshot_id;
  tertulia::snapshot_id parent_id;
  caf::timestamp created_at;
  std::uint64_t turn_index = 0;
  /// As `snapshot_record::finish_reason`.
  std::optional<ai::finish_reason> finish_reason;
  conversation_state<Custom> state;

  BOOST_DESCRIBE_CLASS(session_flow_snapshot, (),
                       (snapshot_id, parent_id, created_at, turn_index,
                        finish_reason, state),
                       (), ())
};

} // namespace tertulia::ai

namespace tertulia {

template <class Custom>
inline constexpr bool
  refuses_unknown_members<ai::conversation_state<Custom>> = true;

template <>
inline constexpr bool refuses_unknown_members<ai::conversation_input> = true;

template <class Custom>
inline constexpr bool
  refuses_unknown_members<ai::conversation_init<Custom>> = true;

template <class Custom>
inline constexpr auto
  omitted_when_empty<ai::conversation_state<Custom>> = std::tuple{
    &ai::conversation_state<Custom>::messages,
    &ai::conversation_state<Custom>::artifacts};

template <>
inline constexpr auto omitted_when_empty<ai::conversation_input> = std::tuple{
  &ai::conversation_input::messages};

template <class Custom>
inline constexpr auto
  omitted_when_empty<ai::conversation_init<Custom>> = std::tuple{
    &ai::conversation_init<Custom>::snapshot_id};

template <class Status>
inline constexpr auto omitted_when_empty<ai::stream_chunk<Status>> = std::tuple{
  &ai::stream_chunk<Status>::custom_patch,
  &ai::stream_chunk<Status>::snapshot_created,
  &ai::stream_chunk<Status>::end_turn};

template <class Custom>
inline constexpr auto
  omitted_when_empty<ai::agent_response<Custom>> = std::tuple{
    &ai::agent_response<Custom>::snapshot_ids};

template <class Custom>
inline constexpr auto
  omitted_when_empty<ai::agent_snapshot<Custom>> = std::tuple{
    &ai::agent_snapshot<Custom>::parent_id};

template <class Custom>
inline constexpr auto
  omitted_when_empty<ai::session_flow_response<Custom>> = std::tuple{
    &ai::session_flow_response<Custom>::snapshot_id};

template <class Custom>
inline constexpr auto
  omitted_when_empty<ai::session_flow_snapshot<Custom>> = std::tuple{
    &ai::session_flow_snapshot<Custom>::parent_id};

} // namespace tertulia
