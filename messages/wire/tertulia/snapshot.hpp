// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/finish_reason.hpp>
#include <tertulia/detail/compiled_once.hpp>
#include <tertulia/inspect.hpp>
#include <tertulia/stored_type.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tertulia {

/// Event after which a snapshot may be made. Stored by name; append only.
/// @design docs/genkit.md 000 §1.2.
enum class snapshot_event : std::uint8_t {
  /// The responder has ended a turn.
  turn_end = 0,
  /// All tools of one iteration of a model are done, before their results go
  /// back to the model.
  tool_iteration_end = 1,
  /// The body has returned without an error.
  invocation_end = 2,
};

BOOST_DESCRIBE_ENUM(snapshot_event, turn_end, tool_iteration_end,
                    invocation_end)

/// Entry in the timeline of a session: a state, and when and why it was
/// recorded. It never changes after it was appended, except for its labels and
/// its note.
///
/// The records of a session form a tree by `parent`; those from the root to the
/// session's head are active, all others are orphaned.
///
/// @threads a value.
/// @design  docs/sessions.md#records-and-states; docs/genkit.md 000 §1.1,
///          003 §1.1.
struct snapshot_record {
  snapshot_record() = default;

  /// Key of the agent or flow that the session belongs to, e.g. `/agent/chat`.
  std::string agent;
  session_id session;
  /// Position in the session's append order, 1 for the first; 0 until a store
  /// has accepted the record.
  std::uint64_t sequence = 0;
  /// Occurs repeatedly if the session returns to a state.
  snapshot_id id;
  state_id state;
  /// Type and version of the value in the state. States with the same id and
  /// different types are different states.
  stored_type type;
  /// Sequence number of the parent record; 0 without a parent.
  std::uint64_t parent = 0;
  snapshot_id parent_id;
  /// One more than the index of the parent; 0 without a parent.
  std::uint64_t index = 0;
  /// Turn during or after which the record was made, 0 for the first turn. At
  /// the end of an invocation: the number of completed turns.
  std::uint64_t turn_index = 0;
  snapshot_event event = snapshot_event::turn_end;
  /// Reason for which the turn ended; empty if the program gave none, and after
  /// another event than the end of a turn or of an invocation.
  std::optional<ai::finish_reason> finish_reason;
  /// Number of inputs of the conversation that the state contains, from its
  /// beginning on; empty if they were not counted.
  std::optional<std::uint64_t> inputs;
  timestamp created_at;
  /// Labels given by people; ordered, distinct.
  std::vector<std::string> labels;
  /// Note written by people; may be empty.
  std::string note;
  /// True if the record is not on the path from the root to the session's head.
  /// Derived when it is read.
  bool orphaned = false;
};

BOOST_DESCRIBE_STRUCT(snapshot_record, (),
                      (agent, session, sequence, id, state, type, parent,
                       parent_id, index, turn_index, event, finish_reason,
                       inputs, created_at, labels, note, orphaned))

template <>
inline constexpr auto omitted_when_empty<snapshot_record> = std::tuple{
  &snapshot_record::type, &snapshot_record::note};

/// Returns the index of the turn that follows this record.
[[nodiscard]] inline std::uint64_t
next_turn_after(const snapshot_record& x) noexcept {
  return x.event == snapshot_event::turn_end ? x.turn_index + 1 : x.turn_index;
}

/// Maximum number of characters of a message that a list of sessions shows.
inline constexpr std::size_t max_preview = 120;

/// Number of last messages that are searched for a preview.
inline constexpr std::size_t preview_depth = 64;

/// Largest size of the name of a turn, in bytes.
inline constexpr std::size_t max_turn_id_size = 256;

/// Maximum number of turns before the last one that a session knows by name.
inline constexpr std::size_t max_past_turns = 16;

/// Turn with a name that other turns have followed.
///
/// @threads a value.
struct past_turn {
  past_turn() = default;
  past_turn(turn_id name, std::uint64_t inputs)
    : name(std::move(name)), inputs(inputs) {}

  turn_id name;
  /// Number of inputs that the conversation had taken when the turn was stored.
  std::uint64_t inputs = 0;
};

BOOST_DESCRIBE_STRUCT(past_turn, (), (name, inputs))

/// Data that a store keeps of one session beside its records.
///
/// @threads a value.
struct session_info {
  session_info() = default;

  std::string agent;
  session_id id;
  /// Title given by people; may be empty.
  std::string title;
  /// Beginning of the first text in the last user message that has a text, if
  /// that message is among the last `preview_depth`.
  std::string preview;
  timestamp created_at;
  /// Time of the last save or the last new record.
  timestamp updated_at;
  /// Sequence number of the head record; 0 without one.
  std::uint64_t head = 0;
  /// Index of the next turn.
  std::uint64_t next_turn = 0;
  /// As `snapshot_record::inputs`, for the state that the session works on.
  std::optional<std::uint64_t> inputs;
  /// Name of the last turn; empty if its client gave it none.
  std::optional<turn_id> turn;
  /// Named turns before the last one that the state contains, oldest first: the
  /// last `max_past_turns` of them.
  std::vector<past_turn> past_turns;
  /// Number of records, orphans included.
  std::uint64_t records = 0;
  /// Number of messages in the current state of the session.
  std::uint64_t messages = 0;
  /// Size of these messages as JSON in bytes, brackets and commas included; 0
  /// without messages.
  std::uint64_t bytes = 0;
};

BOOST_DESCRIBE_STRUCT(session_info, (),
                      (agent, id, title, preview, created_at, updated_at, head,
                       next_turn, inputs, turn, past_turns, records, messages,
                       bytes))

template <>
inline constexpr auto omitted_when_empty<session_info> = std::tuple{
  &session_info::past_turns};

} // namespace tertulia

TERTULIA_COMPILED_ONCE(tertulia::session_info)
TERTULIA_COMPILED_ONCE(tertulia::snapshot_record)
