// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/caller.hpp>
#include <tertulia/detail/build.hpp>
#include <tertulia/detail/option_family.hpp>
#include <tertulia/detail/run_policy.hpp>
#include <tertulia/first_inputs.hpp>
#include <tertulia/nothing.hpp>
#include <tertulia/open.hpp>
#include <tertulia/payload.hpp>
#include <tertulia/status.hpp>

#include <caf/timespan.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// Options of a client that opens a connection:
//
//   flow.stream_bidi(with_init(settings{"be brief", 0.7}), with_deadline(30s))
//
// Design: docs/engine.md#clients; docs/genkit.md 001 §2.4.

namespace tertulia {

/// All options, with their defaults.
template <class Init>
struct client_options {
  open_options connection;
  std::optional<Init> init;
  /// First inputs, which the opening carries.
  std::vector<payload> inputs;
  /// Whether the input is closed behind them.
  bool closes = false;
};

namespace detail {

/// Returns the choice of a run to attach to.
template <class Init>
attachment& attachment_of(client_options<Init>& to) {
  auto& chosen = to.connection.attach;
  return chosen ? *chosen : chosen.emplace();
}

} // namespace detail

/// Initialization data for the body; without it the body gets a default one.
template <class T>
struct with_init {
  explicit with_init(T value) : value(std::move(value)) {}

  template <class Init>
  requires std::convertible_to<T, Init>
  void apply(client_options<Init>& to) const {
    if (to.init)
      throw status_error{errc::invalid_argument, "with_init is given twice"};
    to.init.emplace(value);
  }

  T value;
};

/// Maximum number of inputs in transit before `send` waits; 1 by default, 0 is
/// a rendezvous.
struct with_input_window {
  explicit with_input_window(std::uint32_t inputs) : inputs(inputs) {}

  template <class Init>
  void apply(client_options<Init>& to) const {
    to.connection.input_window = inputs;
  }

  std::uint32_t inputs;
};

/// Maximum number of chunks in transit before the body waits; 64 by default, 0
/// is a rendezvous.
struct with_chunk_window {
  explicit with_chunk_window(std::uint32_t chunks) : chunks(chunks) {}

  template <class Init>
  void apply(client_options<Init>& to) const {
    to.connection.chunk_window = chunks;
  }

  std::uint32_t chunks;
};

/// Time until the connection ends with `deadline_exceeded`; must be positive.
struct with_deadline {
  explicit with_deadline(caf::timespan after) : after(after) {}

  template <class Init>
  void apply(client_options<Init>& to) const {
    if (after.count() <= 0)
      throw status_error{errc::invalid_argument, "a deadline must be positive"};
    to.connection.deadline = after;
  }

  caf::timespan after;
};

/// Longest wait for the connection to open; 30 s by default. Must not be
/// negative.
struct with_open_timeout {
  explicit with_open_timeout(caf::timespan within) : within(within) {}

  template <class Init>
  void apply(client_options<Init>& to) const {
    if (within.count() < 0)
      throw status_error{errc::invalid_argument,
                         "a time limit must not be negative"};
    to.connection.open_within = within;
  }

  caf::timespan within;
};

/// W3C `traceparent` of the caller's span, so that the connection's span
/// becomes its child, and the `tracestate` beside it.
struct with_trace_parent {
  explicit with_trace_parent(std::string traceparent,
                             std::string tracestate = {})
    : traceparent(std::move(traceparent)), tracestate(std::move(tracestate)) {}

  template <class Init>
  void apply(client_options<Init>& to) const {
    to.connection.trace_parent = traceparent;
    to.connection.trace_state = tracestate;
  }

  std::string traceparent;
  std::string tracestate;
};

/// Id of the session to continue; if the store does not contain it, a session
/// is created. Only for conversations with a store: agents, chat agents and
/// session flows.
struct with_session_id {
  explicit with_session_id(session_id id) : id(std::move(id)) {}
  explicit with_session_id(std::string id) : id(std::move(id)) {}

  template <class Init>
  void apply(client_options<Init>& to) const {
    if (id.empty())
      throw status_error{errc::invalid_argument, "a session id is not empty"};
    to.connection.session = id;
  }

  session_id id;
};

/// Id of the snapshot to continue from. Only for conversations; not together
/// with an initial state.
struct with_snapshot_id {
  explicit with_snapshot_id(snapshot_id id) : id(std::move(id)) {}
  explicit with_snapshot_id(std::string id) : id(std::move(id)) {}

  template <class Init>
  void apply(client_options<Init>& to) const {
    if (id.empty())
      throw status_error{errc::invalid_argument, "a snapshot id is not empty"};
    to.connection.snapshot = id;
  }

  snapshot_id id;
};

/// If the session has a live invocation, cancels it and continues after its
/// end, instead of failing. Only for conversations.
struct with_take_over {
  template <class Init>
  void apply(client_options<Init>& to) const {
    to.connection.live = if_live::take_over;
  }
};

/// If the session has a live invocation, waits until it has ended, behind other
/// clients that wait. The wait is a part of the opening: `with_open_timeout`
/// limits it. Only for conversations.
struct with_queue {
  template <class Init>
  void apply(client_options<Init>& to) const {
    to.connection.live = if_live::queue;
  }
};

/// Finishes first a turn that was cut off in the last run of the session: by a
/// crash, a lost node or an error. Its input is not sent again, and tools whose
/// responses are stored do not run again. Only for conversations that have a
/// store; without such a turn it has no effect.
///
/// @design docs/runs.md.
struct with_resume {
  template <class Init>
  void apply(client_options<Init>& to) const {
    to.connection.resume_after = 0;
  }
};

/// Name of the turn that the first input begins. If the session knows the turn,
/// see `turn_found` of the connection: its input must not be sent again. A
/// session knows its last turn and up to `max_past_turns` named ones before it.
/// Only for conversations that have a store.
///
/// @design docs/runs.md.
struct with_turn_id {
  /// @param id at most `max_turn_id_size` bytes.
  explicit with_turn_id(turn_id id) : id(std::move(id)) {}
  explicit with_turn_id(std::string id) : id(std::move(id)) {}

  template <class Init>
  void apply(client_options<Init>& to) const {
    if (id.empty())
      throw status_error{errc::invalid_argument, "a turn id is not empty"};
    to.connection.turn = id;
  }

  turn_id id;
};

/// Opens for a caller, such as a user whom a server has authenticated: the
/// connection reaches the sessions and the kept runs of this caller only. A
/// session `errands` of the caller `ann` is `ann/errands` in its store.
///
/// A body opens for its own caller without this option. An empty name stands
/// for the program itself, which reaches all sessions and runs.
///
/// @design docs/sessions.md#callers.
struct with_caller {
  /// @errors throws `invalid_argument` as `check_caller`, but for an empty
  ///         name.
  explicit with_caller(caller_name name) : name(std::move(name)) {
    if (!this->name.empty())
      check_caller(this->name);
  }
  explicit with_caller(std::string name)
    : with_caller(caller_name{std::move(name)}) {}

  template <class Init>
  void apply(client_options<Init>& to) const {
    to.connection.caller = name;
  }

  caller_name name;
};

/// Keeps the run when its client leaves or is lost: it goes on, and clients can
/// attach to it, with `with_cursor`, `with_run` or its session. As an option of
/// a definition: keeps the runs whose clients do not choose.
///
/// @design docs/runs.md.
struct with_keep {
  /// Waits for ever for a client to come back.
  with_keep() = default;

  /// @param grace longest time without a client; the run is then cancelled, or
  ///              forgotten if it has ended. Must be positive.
  explicit with_keep(caf::timespan grace) : grace(grace) {}

  template <class Init>
  void apply(client_options<Init>& to) const {
    apply_to(to.connection);
  }

  template <class Context>
  void apply(agent_options<Context>& to) const {
    apply_to(to.runs);
  }

  void apply(detail::run_policy& to) const {
    apply_to(to);
  }

  std::optional<caf::timespan> grace;

private:
  template <class Options>
  void apply_to(Options& to) const {
    if (grace && grace->count() <= 0)
      throw status_error{errc::invalid_argument,
                         "a grace period must be positive"};
    to.disconnect = on_disconnect::keep;
    to.grace = grace.value_or(caf::timespan{0});
  }
};

/// Cancels the run when its client leaves or is lost, whatever the definition
/// of the action says.
struct without_keep {
  template <class Init>
  void apply(client_options<Init>& to) const {
    to.connection.disconnect = on_disconnect::cancel;
  }
};

/// Attaches to a kept run at this position, instead of opening a run.
struct with_cursor {
  explicit with_cursor(cursor position) : position(std::move(position)) {}

  template <class Init>
  void apply(client_options<Init>& to) const {
    if (position.run.empty())
      throw status_error{errc::invalid_argument, "the cursor names no run"};
    auto& chosen = detail::attachment_of(to);
    chosen.run = position.run;
    chosen.after = position.number;
  }

  cursor position;
};

/// Attaches to a kept run at the beginning of the turn under way, instead of
/// opening a run.
struct with_run {
  explicit with_run(run_id run) : run(std::move(run)) {}

  template <class Init>
  void apply(client_options<Init>& to) const {
    if (run.empty())
      throw status_error{errc::invalid_argument, "a run id is not empty"};
    detail::attachment_of(to).run = run;
  }

  run_id run;
};

/// Attaches to the live run of the session, at the beginning of the turn under
/// way, instead of opening a run.
struct with_attach {
  /// @param or_open whether a run is opened if the session has none that is
  ///                live; otherwise that is `not_found`.
  explicit with_attach(bool or_open = false) : or_open(or_open) {}

  template <class Init>
  void apply(client_options<Init>& to) const {
    detail::attachment_of(to).or_open = or_open;
  }

  bool or_open;
};

/// Attaches as a listener, which only reads and holds nobody back. For a run
/// that `with_cursor`, `with_run` or `with_attach` names.
struct as_listener {
  template <class Init>
  void apply(client_options<Init>& to) const {
    detail::attachment_of(to).role = client_role::listener;
  }
};

namespace detail {

/// Returns the chosen options of an action whose inputs are of type `In`.
template <class Init, class In, class... Options>
client_options<Init> gather(const Options&... options) {
  static_assert((!has_other_inputs<Options, In>() && ...),
                "the inputs are of another type than those of the action: name "
                "it, as in with_inputs<my_input>(x)");
  client_options<Init> result;
  (apply_option(options, result), ...);
  return result;
}

/// True for an option with a value that would not survive a `co_await` by
/// itself, possibly created in the same expression.
template <class Option>
inline constexpr bool holds_aggregate = false;

template <class T>
inline constexpr bool holds_aggregate<with_init<T>> = !survives_await<T>;

/// As `check_awaited_arguments`, for options.
template <class... Options>
consteval void check_awaited_options() {
  static_assert(
    ((survives_await<Options> && !holds_aggregate<Options>)&&...),
    "g++ before version 13 destroys such a temporary of a co_await twice: give "
    "the option a name and pass that, without std::move");
}

} // namespace detail

} // namespace tertulia
