// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/compiled_once.hpp>
#include <tertulia/inspect.hpp>
#include <tertulia/payload.hpp>
#include <tertulia/protocol.hpp>
#include <tertulia/run.hpp>

#include <caf/meta/load_callback.hpp>
#include <caf/meta/type_name.hpp>
#include <caf/timespan.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// Messages that open a connection.

namespace tertulia {

/// Largest window that a client may request, in inputs or chunks. It bounds how
/// much a node holds for one connection.
inline constexpr std::uint32_t max_window = 65'536;

/// Properties that all sessions of one agent have in common.
struct session_kind : memberwise {
  session_kind() = default;
  session_kind(std::string type, std::string span_key, std::string agent)
    : type(std::move(type)), span_key(std::move(span_key)),
      agent(std::move(agent)) {}

  /// Type of the state. A body that asks for another type finds no session.
  std::string type;
  /// Attribute of a snapshot's span: the name of the agent, under this key.
  std::string span_key;
  std::string agent;
};

BOOST_DESCRIBE_STRUCT(session_kind, (), (type, span_key, agent))

/// Session of a body, as seen by the flows that the body calls: they find it
/// through their context and work on the same state.
struct session_link {
  session_link() = default;
  session_link(session_id id, session_actor session, turn_owner owner,
               std::shared_ptr<const session_kind> kind)
    : id(std::move(id)), session(std::move(session)), owner(std::move(owner)),
      kind(std::move(kind)) {}

  session_id id;
  session_actor session;
  /// Connection of the conversation.
  turn_owner owner;
  /// Shared by all sessions of the agent in this process; null without a
  /// session.
  std::shared_ptr<const session_kind> kind;

  friend bool operator==(const session_link& x, const session_link& y) {
    return x.id == y.id && x.session == y.session && x.owner == y.owner
           && (x.kind == y.kind || (x.kind && y.kind && *x.kind == *y.kind));
  }
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, session_link& x) {
  session_kind kind;
  if (x.kind)
    kind = *x.kind;
  auto load = [&]() -> caf::error {
    x.kind.reset();
    if (x.session)
      x.kind = std::make_shared<const session_kind>(std::move(kind));
    return caf::none;
  };
  return f(caf::meta::type_name("tertulia::session_link"), x.id, x.session,
           x.owner, kind, caf::meta::load_callback(load));
}

/// Policy for opening a session that has a live invocation. Sent over the wire;
/// append only.
enum class if_live : std::uint8_t {
  /// The request to open is refused with `failed_precondition`.
  refuse = 0,
  /// The live invocation is cancelled; the request continues when it has ended.
  take_over = 1,
  /// The request waits until the live invocation has ended, in the order of the
  /// requests. `resource_exhausted` if `max_queued_openings` wait already. A
  /// client ends its wait by a time-out, or by its own end.
  queue = 2,
};

BOOST_DESCRIBE_ENUM(if_live, refuse, take_over, queue)

/// Maximum number of requests to open that wait for one session.
inline constexpr std::size_t max_queued_openings = 64;

/// Options that a client chooses when it opens a connection.
struct open_options : memberwise {
  open_options() = default;

  /// Number of inputs in flight before `send` waits; at most `max_window`. 0 is
  /// a strict rendezvous: `send` waits until the body asks for an input.
  std::uint32_t input_window = 1;
  /// Number of chunks in flight before the body waits; at most `max_window`. A
  /// larger window is faster and uses more memory. 0 is a strict rendezvous:
  /// the body waits until the client asks for a chunk.
  std::uint32_t chunk_window = 64;
  /// Time until the connection is cancelled with `deadline_exceeded`, counted
  /// from its opening; zero for no deadline.
  caf::timespan deadline{0};
  /// W3C `traceparent` of the caller's span; may be empty.
  std::string trace_parent;
  /// W3C `tracestate` beside it; may be empty.
  std::string trace_state;
  /// Conversations only: the session to continue, created if it does not exist;
  /// empty for a new session.
  session_id session;
  /// Conversations only: the snapshot to continue from; may be empty.
  snapshot_id snapshot;
  /// Conversations only: policy for a session that has a live invocation.
  if_live live = if_live::refuse;
  /// Time for which the client waits for the answer; not negative. An opening
  /// that waits in a queue is refused then.
  caf::timespan open_within = std::chrono::seconds{30};
  /// Chat agents and session flows only: whether changes of the custom value
  /// are sent as chunks with a `custom_patch`.
  bool custom_deltas = false;
  /// Policy for the run when its client leaves or is lost; empty for that of
  /// the action.
  std::optional<on_disconnect> disconnect;
  /// Time for which a kept run waits for a client: it is cancelled then, or
  /// forgotten if it has ended. Zero: a run that has not ended waits for ever.
  caf::timespan grace{0};
  /// The run to attach to, instead of opening a new one. Only the windows, the
  /// session, the turn and the client of the request count then.
  std::optional<attachment> attach;
  /// Conversations with a store only: if set, a turn that was cut off in the
  /// last run of the session is finished first, unless its input is among that
  /// many first inputs of the conversation. The session contains the input, and
  /// the body gets an empty one in its place.
  std::optional<std::uint64_t> resume_after;
  /// Conversations with a store only: name of the turn that the first input
  /// begins; empty for none. If the session knows the turn, the answer says how
  /// far it is, and the client does not send its input again: a turn that was
  /// cut off is finished. A session knows its last turn and up to
  /// `max_past_turns` named ones before it.
  turn_id turn;
  /// Number of the input that begins this turn, if it may be among those of the
  /// session: the client opens it again. Empty for the next input.
  std::optional<std::uint64_t> turn_begin;
  /// Name of the call of a tool: the same if a turn that was cut off makes the
  /// call again. Empty for other actions, and for a tool outside a session.
  std::string call;
  /// Caller for whom the connection is opened: it reaches the sessions and the
  /// runs of this caller only. Empty: the caller of the body that opens it. An
  /// empty name: the program itself, which reaches all of them.
  std::optional<caller_name> caller;
  /// Chat agents and session flows only: number of messages in the state of the
  /// output, the last ones, for all clients of the run; 0 for all messages.
  std::uint64_t output_messages = 0;
};

/// Progress of a turn that has a name. Sent over the wire; append only.
enum class turn_progress : std::uint8_t {
  not_begun = 0, ///< The session has no such turn, or no name was given.
  open = 1,      ///< It is under way in this run.
  over = 2,      ///< It has ended: `open_result::snapshot` has its state.
  past = 3,      ///< The session has gone on after it.
};

BOOST_DESCRIBE_ENUM(turn_progress, not_begun, open, over, past)

BOOST_DESCRIBE_STRUCT(open_options, (),
                      (input_window, chunk_window, deadline, trace_parent,
                       trace_state, session, snapshot, live, open_within,
                       custom_deltas, disconnect, grace, attach, resume_after,
                       turn, turn_begin, call, caller, output_messages))

/// Client to front desk: open a connection to an action.
struct open_request : memberwise {
  open_request() = default;
  open_request(std::string key, payload init, open_options options,
               chunk_sink client)
    : key(std::move(key)), init(std::move(init)), options(std::move(options)),
      client(std::move(client)) {}

  /// Encodes the values, for another node.
  /// @errors throws `invalid_argument` for a value without JSON.
  void seal() {
    init = init.sealed();
    for (auto& x : inputs)
      x = x.sealed();
  }

  /// Makes the window large enough for the inputs.
  void make_room() {
    const auto count = inputs.size() + (options.resume_after ? 1 : 0);
    if (!inputs.empty() && count > options.input_window)
      options.input_window = static_cast<std::uint32_t>(
        std::min<std::size_t>(count, max_window + 1));
  }

  /// Key of the action, e.g. `/bidi-flow/echo`.
  std::string key;
  /// Initialization data; may be empty.
  payload init;
  open_options options;
  /// Sink for the output of the connection; the connection monitors it.
  chunk_sink client;
  /// Session of the body that acts as the client; empty for other clients.
  session_link session;
  /// First inputs of a run that the request opens, not of one that it attaches
  /// to. They cost their credit, so there are at most as many as the window,
  /// and one less with `resume_after`. A turn that the options name begins with
  /// one, which is dropped if the session knows the turn.
  std::vector<payload> inputs;
  /// Whether the input is closed behind them.
  bool closes = false;
  /// Number of the client among those with this sink: a later one has a larger
  /// number, and one that comes back keeps its own.
  std::uint64_t client_number = 0;
};

BOOST_DESCRIBE_STRUCT(open_request, (),
                      (key, init, options, client, session, inputs, closes,
                       client_number))

/// Reply of the connection to `open_request`, as of before the first inputs. No
/// other message of this connection reaches the client before it, unless
/// another actor has passed the request on.
struct open_result : memberwise {
  open_result() = default;
  open_result(connection_actor connection, std::uint32_t input_credit,
              session_id session = {}, std::string trace_id = {},
              snapshot_id snapshot = {}, attach_result attached = {},
              turn_progress turn = turn_progress::not_begun)
    : connection(std::move(connection)), input_credit(input_credit),
      session(std::move(session)), trace_id(std::move(trace_id)),
      snapshot(std::move(snapshot)), attached(std::move(attached)), turn(turn) {
  }

  connection_actor connection;
  /// Number of inputs that may be sent immediately.
  std::uint32_t input_credit = 0;
  /// Session of a conversation; empty for other actions.
  session_id session;
  /// Id of the trace of the connection, 32 hexadecimal digits; empty if it is
  /// not traced.
  std::string trace_id;
  /// Snapshot from which the conversation continues; empty without one. For a
  /// client that attaches: that of the last turn that ended before the position
  /// from which it reads.
  snapshot_id snapshot;
  attach_result attached;
  /// Progress of the turn that the options name.
  turn_progress turn = turn_progress::not_begun;
};

BOOST_DESCRIBE_STRUCT(open_result, (),
                      (connection, input_credit, session, trace_id, snapshot,
                       attached, turn))

} // namespace tertulia

TERTULIA_COMPILED_ONCE(tertulia::open_request)
TERTULIA_COMPILED_ONCE(tertulia::open_result)
