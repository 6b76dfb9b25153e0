// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/describe.hpp>
#include <tertulia/identifier.hpp>
#include <tertulia/stored_type.hpp>
#include <tertulia/timestamp.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace tertulia {

/// When a snapshot may be made. Stored by name; append only. Seed 000 §1.2.
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

/// One entry in the timeline of one session: which state it had, when and why.
/// Never changed once it was appended, except for its labels and its note.
///
/// The records of a session form a tree by `parent`; those from the root to the
/// session's head are active, all others are orphaned.
///
/// @threads a value.
/// @design  README §5.15 "Records and states"; seeds 000 §1.1, 003 §1.1.
struct snapshot_record {
  snapshot_record() = default;

  /// Key of the agent or flow whose session it is, e.g. `/agent/chat`.
  std::string agent;
  session_id session;
  /// Position in the session's append order, 1 for the first; 0 in a record
  /// that no store has taken yet.
  std::uint64_t sequence = 0;
  /// The same again and again if the session comes back to a state.
  snapshot_id id;
  state_id state;
  /// Of which type, and which version of it, the value in the state is. States
  /// with the same id are different ones if it differs.
  stored_type type;
  /// Sequence number of the record that this one went on from; 0 for none.
  std::uint64_t parent = 0;
  snapshot_id parent_id;
  /// One more than that of the parent; 0 for a record without one.
  std::uint64_t index = 0;
  /// The turn in or after which it was made, 0 for the first; at the end of an
  /// invocation the number of turns that were completed.
  std::uint64_t turn_index = 0;
  snapshot_event event = snapshot_event::turn_end;
  caf::timestamp created_at;
  /// What people call it; ordered, distinct.
  std::vector<std::string> labels;
  /// What people say about it; empty for nothing.
  std::string note;
  /// Whether it is no ancestor of the session's head. Derived when it is read.
  bool orphaned = false;

  friend bool operator==(const snapshot_record&, const snapshot_record&)
    = default;
};

BOOST_DESCRIBE_STRUCT(snapshot_record, (),
                      (agent, session, sequence, id, state, type, parent,
                       parent_id, index, turn_index, event, created_at, labels,
                       note, orphaned))

template <>
inline constexpr auto omitted_when_empty<snapshot_record> = std::tuple{
  &snapshot_record::type, &snapshot_record::note};

/// Returns the index of the turn that follows such a record.
[[nodiscard]] inline std::uint64_t
next_turn_after(const snapshot_record& x) noexcept {
  return x.event == snapshot_event::turn_end ? x.turn_index + 1 : x.turn_index;
}

/// How many characters of a message a list of sessions shows at most.
inline constexpr std::size_t max_preview = 120;

/// So many of the last messages are looked at for one to show.
inline constexpr std::size_t preview_depth = 64;

/// What a store keeps of one session beside its records.
///
/// @threads a value.
struct session_info {
  session_info() = default;

  std::string agent;
  session_id id;
  /// What people call it; empty if nobody has said.
  std::string title;
  /// What it is about: the beginning of the first text in the last message of
  /// the user that has one, if that is among the last `preview_depth`.
  std::string preview;
  caf::timestamp created_at;
  /// When it last was saved or got a record.
  caf::timestamp updated_at;
  /// Sequence number of the record at which the session stands; 0 for none.
  std::uint64_t head = 0;
  /// Index of its next turn.
  std::uint64_t next_turn = 0;
  /// Number of its records, orphans included.
  std::uint64_t records = 0;
  /// Number of messages of the state that it works on.
  std::uint64_t messages = 0;
  /// Size of their JSON, brackets and commas included; 0 without any.
  std::uint64_t bytes = 0;

  friend bool operator==(const session_info&, const session_info&) = default;
};

BOOST_DESCRIBE_STRUCT(session_info, (),
                      (agent, id, title, preview, created_at, updated_at, head,
                       next_turn, records, messages, bytes))

} // namespace tertulia
