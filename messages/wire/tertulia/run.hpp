// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/compiled_once.hpp>
#include <tertulia/inspect.hpp>

#include <caf/timespan.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <boost/describe/enum.hpp>

// A run that outlives its client, and the clients that attach to it.

namespace tertulia {

/// Policy for a run whose client leaves or is lost. Sent over the wire; append
/// only.
enum class on_disconnect : std::uint8_t {
  /// The run is cancelled.
  cancel = 0,
  /// The run continues, and clients can attach to it.
  keep = 1,
};

BOOST_DESCRIBE_ENUM(on_disconnect, cancel, keep)

/// Rights of a client of a run. Sent over the wire; append only.
enum class client_role : std::uint8_t {
  /// Sends inputs, and holds the body back by its credit. A run has at most
  /// one: another one takes over.
  talker = 0,
  /// Only reads, at its own pace.
  listener = 1,
};

BOOST_DESCRIBE_ENUM(client_role, talker, listener)

/// Position in the log of a run: everything before `number` was read.
///
/// @threads a value.
struct cursor {
  cursor() = default;
  cursor(run_id run, std::uint64_t number)
    : run(std::move(run)), number(number) {}

  /// Run whose log it is; empty for a run that is not kept.
  run_id run;
  /// Number of the chunk or end of a turn that follows.
  std::uint64_t number = 0;

  friend bool operator==(const cursor&, const cursor&) = default;
};

BOOST_DESCRIBE_STRUCT(cursor, (), (run, number))

/// Choice of a run to attach to, and how.
struct attachment : memberwise {
  attachment() = default;

  /// The run; empty for the live run of the session in the options.
  run_id run;
  /// Number of the chunk or end of a turn that follows; empty for the beginning
  /// of the turn under way.
  std::optional<std::uint64_t> after;
  client_role role = client_role::talker;
  /// Whether a run is opened if the session has none.
  bool or_open = false;
  /// Number of the talker that comes back after it has lost its connection.
  /// Refused with `aborted` if another talker has taken over since.
  std::optional<std::uint32_t> back_as;
};

BOOST_DESCRIBE_STRUCT(attachment, (), (run, after, role, or_open, back_as))

/// Position of a client in a run, for its first and for every later client.
struct attach_result : memberwise {
  attach_result() = default;

  /// Empty for a run that is not kept.
  run_id run;
  /// Number of the client among the readers of the run.
  std::uint32_t reader = 0;
  /// Number of the chunk or end of a turn that follows.
  std::uint64_t next = 0;
  /// Index of the turn under way, 0 for the first of the conversation, or of
  /// the run of another action.
  std::uint64_t turn = 0;
  /// Number of inputs that the conversation has, or the run of another action:
  /// a client does not send them again.
  std::uint64_t inputs = 0;
  /// Number of them that a body has taken; credit follows for the others.
  std::uint64_t taken = 0;
  /// Whether a store keeps the conversation: it can be opened again if the run
  /// is lost.
  bool is_stored = false;
  /// Time for which the run waits for a client; zero for ever.
  caf::timespan grace{0};
  /// Whether a turn is under way.
  bool is_in_turn = false;
};

BOOST_DESCRIBE_STRUCT(attach_result, (),
                      (run, reader, next, turn, inputs, taken, is_stored, grace,
                       is_in_turn))

/// State of a run. Sent over the wire; append only.
enum class run_status : std::uint8_t {
  running = 0,
  completed = 1, ///< With an output.
  failed = 2,    ///< With an error of its own.
  aborted = 3,   ///< Cancelled, aborted or stopped.
  /// Running according to a store, but without a heartbeat: its process is
  /// gone. Derived when it is read.
  expired = 4,
};

BOOST_DESCRIBE_ENUM(run_status, running, completed, failed, aborted, expired)

/// Summary of a run.
struct run_info : memberwise {
  run_info() = default;

  run_id id;
  /// Key of the action.
  std::string key;
  /// Session of a conversation; empty for another action.
  session_id session;
  run_status status = run_status::running;
  /// Whether a turn is under way, or an input waits for one.
  bool is_in_turn = false;
};

BOOST_DESCRIBE_STRUCT(run_info, (), (id, key, session, status, is_in_turn))

/// Returns the id that a kept run reserves for the snapshot with which it ends.
/// A store that is asked for that snapshot answers `failed_precondition` unless
/// the run has completed; the details have its `status`, `pending` while it is
/// running.
[[nodiscard]] inline snapshot_id end_of(const run_id& run) {
  return snapshot_id{run.str()};
}

/// Purpose of a `run_request`. Sent over the wire; append only.
enum class run_verb : std::uint8_t {
  inspect = 0, ///< Nothing but the reply.
  leave = 1,   ///< The reader leaves.
  close = 2,   ///< As `close_atom`, if the reader is the talker.
  cancel = 3,  ///< As `cancel_atom`, if the reader is the talker; else `leave`.
  abort = 4,   ///< The run ends with `aborted` for everybody.
  confirm = 5, ///< The reader has received the end of the run.
  await_turn_end
  = 6, ///< As `inspect`, but of a run that is live here the reply
       ///< comes when it is in no turn, and no input waits.
};

BOOST_DESCRIBE_ENUM(run_verb, inspect, leave, close, cancel, abort, confirm,
                    await_turn_end)

/// Request about a kept run: of one of its clients to its connection, or of
/// anybody to the front desk, which takes `inspect`, `abort` and
/// `await_turn_end`. For a run that is not live here, the front desk asks the
/// store of the action. The reply has the status that was found: a run that is
/// over is not changed.
struct run_request : memberwise {
  run_request() = default;

  /// Makes a request of a client.
  run_request(run_verb verb, std::uint32_t reader)
    : verb(verb), reader(reader) {}

  /// Makes a request for the front desk.
  /// @param run     empty for the live run of a session.
  /// @param key     of the action; may be empty if `run` is not.
  /// @param session empty if `run` is not.
  run_request(run_verb verb, run_id run, std::string key, session_id session)
    : verb(verb), run(std::move(run)), key(std::move(key)),
      session(std::move(session)) {}

  run_verb verb = run_verb::inspect;
  /// Number of the client among the readers of the run.
  std::uint32_t reader = 0;
  run_id run;
  std::string key;
  session_id session;
  /// Caller who asks the front desk; empty for the program itself.
  caller_name caller;
};

BOOST_DESCRIBE_STRUCT(run_request, (),
                      (verb, reader, run, key, session, caller))

} // namespace tertulia

TERTULIA_COMPILED_ONCE(tertulia::run_info)
TERTULIA_COMPILED_ONCE(tertulia::run_request)
