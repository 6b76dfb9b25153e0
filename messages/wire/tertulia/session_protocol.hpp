// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/finish_reason.hpp>
#include <tertulia/detail/compiled_once.hpp>
#include <tertulia/errc.hpp>
#include <tertulia/snapshot.hpp>
#include <tertulia/state.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// Messages to a session, and its replies.

namespace tertulia {

/// Session to requester: the current state.
struct session_view : memberwise {
  session_view() = default;
  session_view(session_id id, state content, std::uint64_t version)
    : id(std::move(id)), content(std::move(content)), version(version) {}

  session_id id;
  state content;
  /// Increases with every change.
  std::uint64_t version = 0;
  /// Index of the turn in progress, or of the next one.
  std::uint64_t turn = 0;
  /// Snapshot that the state is based on; empty without one.
  snapshot_id last_snapshot;
  /// Number of inputs that the state contains, as far as they were counted.
  std::uint64_t inputs = 0;
  /// Whether the turn in progress was cut off in an earlier run.
  bool is_in_turn = false;
  /// Name of the last turn that has begun; may be empty.
  turn_id turn_name;
  /// As in `session_info`; only in the answer to the opening.
  std::vector<past_turn> past_turns;
};

BOOST_DESCRIBE_STRUCT(session_view, (),
                      (id, content, version, turn, last_snapshot, inputs,
                       is_in_turn, turn_name, past_turns))

/// Kind of a change, with the type of its value. Sent over the wire; append
/// only.
enum class session_verb : std::uint8_t {
  add_messages = 0,  ///< `std::vector<ai::message>`
  set_messages = 1,  ///< `ai::message_log`
  set_custom = 2,    ///< the custom value, or all of a plain state
  add_artifact = 3,  ///< `ai::artifact`; replaces one of the same name
  set_artifacts = 4, ///< `std::vector<ai::artifact>`
};

BOOST_DESCRIBE_ENUM(session_verb, add_messages, set_messages, set_custom,
                    add_artifact, set_artifacts)

/// Any actor to session: change the state.
///
/// The session replies with its new view. If it keeps its state in a store
/// beside the snapshots, it saves the state before it replies.
struct session_edit : memberwise {
  session_edit() = default;
  session_edit(session_verb verb, payload value,
               std::uint64_t expected_version = 0, bool with_content = false)
    : verb(verb), value(std::move(value)), expected_version(expected_version),
      with_content(with_content) {}

  session_verb verb = session_verb::set_custom;
  payload value;
  /// Version that the session must still have, else `aborted`; 0 for any. Makes
  /// a change atomic that depends on the previous state.
  std::uint64_t expected_version = 0;
  /// Whether the view contains the new state, which saves a request to read it.
  /// It costs the encoding of the state if the sender is on another node.
  bool with_content = false;
};

BOOST_DESCRIBE_STRUCT(session_edit, (),
                      (verb, value, expected_version, with_content))

/// Connection to session: a turn begins with these messages of the client.
struct turn_start : memberwise {
  turn_start() = default;
  explicit turn_start(std::vector<ai::message> messages)
    : messages(std::move(messages)) {}

  std::vector<ai::message> messages;
};

BOOST_DESCRIBE_STRUCT(turn_start, (), (messages))

/// Connection to responder, and responder to session: an event has occurred,
/// make a snapshot if one is due.
struct snapshot_trigger : memberwise {
  snapshot_trigger() = default;
  snapshot_trigger(snapshot_event event, std::uint64_t turn)
    : event(event), turn(turn) {}

  snapshot_event event = snapshot_event::turn_end;
  /// Index of the turn of this connection in which it has occurred; at the end
  /// of the invocation the number of turns.
  std::uint64_t turn = 0;
  /// Reason for which the turn ended; may be empty.
  std::optional<ai::finish_reason> finish_reason;
  /// Number of inputs that the conversation has taken.
  std::uint64_t inputs = 0;
  /// Name of the turn; may be empty.
  turn_id turn_name;
};

BOOST_DESCRIBE_STRUCT(snapshot_trigger, (),
                      (event, turn, finish_reason, inputs, turn_name))

/// Flow that the body of a conversation has called to the connection of the
/// conversation: the answer of a model has ended for this reason.
struct answer_end : memberwise {
  answer_end() = default;
  explicit answer_end(ai::finish_reason reason) : reason(reason) {}

  std::optional<ai::finish_reason> reason;
};

BOOST_DESCRIBE_STRUCT(answer_end, (), (reason))

/// Session to connection, if the client wants its changes: the custom value of
/// the conversation has changed.
struct custom_change : memberwise {
  custom_change() = default;
  explicit custom_change(payload value) : value(std::move(value)) {}

  payload value;
};

BOOST_DESCRIBE_STRUCT(custom_change, (), (value))

/// Flow that the body of a conversation has called to the connection of the
/// conversation: a round of tools has ended, make a snapshot if one is due.
struct iteration_end : memberwise {
  iteration_end() = default;
  explicit iteration_end(std::uint64_t number) : number(number) {}

  /// Number by which the sender can withdraw the request.
  std::uint64_t number = 0;
};

BOOST_DESCRIBE_STRUCT(iteration_end, (), (number))

/// Result of a snapshot trigger.
struct snapshot_outcome : memberwise {
  snapshot_outcome() = default;
  snapshot_outcome(snapshot_id id, bool created)
    : id(std::move(id)), created(created) {}

  /// Snapshot with the state: a new one, or the last one if nothing has changed
  /// since; empty if no snapshot was wanted.
  snapshot_id id;
  bool created = false;
  /// Error of a failed save after which the conversation continues.
  errc failure = errc::ok;
  /// Number of inputs of the conversation that the store contains.
  std::uint64_t stored_inputs = 0;
};

BOOST_DESCRIBE_STRUCT(snapshot_outcome, (),
                      (id, failure, created, stored_inputs))

/// Session to connection: result of the invocation for the session.
struct session_summary : memberwise {
  session_summary() = default;

  session_view last;
  /// The snapshots of this invocation, in order.
  std::vector<snapshot_id> snapshots;
  /// Whether the session ends with it.
  bool is_final = false;
};

BOOST_DESCRIBE_STRUCT(session_summary, (), (last, snapshots, is_final))

} // namespace tertulia

TERTULIA_COMPILED_ONCE(tertulia::answer_end)
TERTULIA_COMPILED_ONCE(tertulia::custom_change)
TERTULIA_COMPILED_ONCE(tertulia::iteration_end)
TERTULIA_COMPILED_ONCE(tertulia::session_edit)
TERTULIA_COMPILED_ONCE(tertulia::session_summary)
TERTULIA_COMPILED_ONCE(tertulia::session_view)
TERTULIA_COMPILED_ONCE(tertulia::snapshot_outcome)
TERTULIA_COMPILED_ONCE(tertulia::snapshot_trigger)
TERTULIA_COMPILED_ONCE(tertulia::turn_start)
