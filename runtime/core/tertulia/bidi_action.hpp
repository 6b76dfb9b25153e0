// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/async_connection.hpp>
#include <tertulia/client_options.hpp>
#include <tertulia/connection.hpp>
#include <tertulia/context.hpp>
#include <tertulia/detail/access.hpp>
#include <tertulia/detail/coroutine_kind.hpp>
#include <tertulia/detail/open_nested.hpp>
#include <tertulia/detail/remote_desk.hpp>

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace tertulia {

namespace detail {

/// Reference to an action, with its descriptor.
struct action_ref {
  caf::actor_system* system;
  front_desk_actor desk;
  std::string key;
  std::shared_ptr<const descriptor> info;
  /// The action itself if it belongs to this process; null otherwise.
  std::shared_ptr<const action> local;
  /// Desk of the other node, if the action is on another node.
  std::shared_ptr<remote_desk> remote = nullptr;

  /// Returns the desk; reconnects if it was lost, which blocks.
  [[nodiscard]] front_desk_actor current_desk() const {
    return remote ? remote->get() : desk;
  }

  /// Returns the desk for a client that must not block.
  [[nodiscard]] front_desk_actor desk_for_actor() const {
    return remote ? remote_desk::spawn_relay(remote) : desk;
  }
};

class actor_connection;

/// Returns the desk of an action, for a body; reconnects if it was lost.
task<front_desk_actor> find_desk(context ctx,
                                 std::shared_ptr<const action_ref> of);

/// Sends a request about a run of an action, and waits for the answer.
run_info ask_run(const action_ref& of, run_verb verb, const run_id& run,
                 const session_id& session);

/// Sends a request about a run of an action, for a body, and resumes with the
/// answer.
task<run_info> ask_run(context ctx, std::shared_ptr<const action_ref> of,
                       run_verb verb, run_id run, session_id session);

} // namespace detail

/// Handle of an action that takes inputs and streams chunks at the same time.
///
/// Returned by `define_bidi_flow` and its siblings, and by
/// `remote_runtime::action` for an action of another node. Its connections can
/// be opened in three ways: by threads, bodies and actors.
///
/// @threads  all members; cheap to copy.
/// @lifetime must not outlive the actor system; if its runtime is gone, opening
///           a connection fails with `unavailable`.
/// @design   docs/engine.md#clients; docs/genkit.md 001 §1.1, §2.4.
template <class Init, class In, class Out, class Stream>
class bidi_action {
public:
  using init_type = Init;
  using in_type = In;
  using out_type = Out;
  using stream_type = Stream;
  /// Type from which every handle of such an action is made.
  using action_type = bidi_action;

  /// Returns its name, and the schemas of its inputs and outputs; include
  /// <tertulia/descriptor.hpp> to use them.
  [[nodiscard]] const descriptor& info() const noexcept {
    return *reference_->info;
  }

  /// Opens a connection for threads and waits until it is open.
  ///
  /// @param options any of `with_init`, `with_input_window`,
  ///                `with_chunk_window`, `with_deadline`, `with_open_timeout`,
  ///                `with_trace_parent`, `with_keep`, `with_inputs`,
  ///                `with_all_inputs`; for agents also `with_session_id`,
  ///                `with_snapshot_id`, `with_take_over`.
  ///                To attach to a kept run instead: `with_cursor`, `with_run`
  ///                or `with_attach`, and `as_listener`.
  /// @errors `invalid_argument` for invalid options; `resource_exhausted`
  ///         if too many connections are open; `unavailable` if the runtime is
  ///         stopping; `deadline_exceeded`; `failed_precondition` on a thread
  ///         of CAF's scheduler; for another node that was lost before, the
  ///         errors of its `remote_runtime` when it reconnects, which has a
  ///         time limit of its own. For agents also `failed_precondition` for a
  ///         session that is live, a session or snapshot without a store or a
  ///         newer type; `not_found` and `data_loss` for a snapshot; errors of
  ///         the store. To attach: `not_found`; `out_of_range` for a position
  ///         that the log has lost, whose details name `number` and `snapshot`
  ///         to begin from.
  template <class... Options>
  [[nodiscard]] connection<In, Out, Stream>
  stream_bidi(const Options&... options) const {
    auto chosen = detail::gather<Init, In>(options...);
    return detail::access::make<connection<In, Out, Stream>>(
      detail::blocking_client::connect(
        *reference_->system, reference_->current_desk(),
        make_open_request(chosen, {}), reference_->local, reference_->remote));
  }

  /// Opens a connection whose client is a body, without blocking; see
  /// `stream_bidi`.
  template <class... Options>
  [[nodiscard]] task<async_connection<In, Out, Stream>>
  open(context ctx, Options&&... options) const {
    detail::check_awaited_options<Options...>();
    auto chosen = detail::gather<Init, In>(options...);
    return open_as_task(ctx, reference_, make_open_request(chosen, {}));
  }

  /// Opens a connection whose client is an actor, without blocking; see
  /// `stream_bidi`. Errors of the opening go to its `on_error`.
  /// @param client an `actor_client` for handles of this type, in the state of
  ///               its actor.
  /// @errors `invalid_argument` for invalid options; `failed_precondition`
  ///         while the client has a connection.
  template <class Client, class... Options>
  requires std::is_base_of_v<detail::actor_connection, Client>
  void open(Client& client, const Options&... options) const {
    static_assert(
      std::is_same_v<
        typename Client::in_type,
        In> && std::is_same_v<typename Client::out_type, Out> && std::is_same_v<typename Client::stream_type, Stream>,
      "the client must be an actor_client<Handle> of the type of "
      "this handle");
    auto chosen = detail::gather<Init, In>(options...);
    client.open(reference_->desk_for_actor(), make_open_request(chosen, {}),
                reference_->local, reference_->remote);
  }

  /// Returns the state of a kept run; blocks until the answer is there.
  /// @errors `not_found`; `deadline_exceeded`; `unavailable`;
  ///         `failed_precondition` on a thread of CAF's scheduler, where an
  ///         actor sends a `run_request` to the front desk; for an action of
  ///         another node those of `remote_runtime`.
  [[nodiscard]] run_info find_run(const run_id& run) const {
    return detail::ask_run(*reference_, run_verb::inspect, run, {});
  }

  /// Returns the state of the live run of a session; blocks until the answer is
  /// there.
  /// @errors `not_found`; `deadline_exceeded`; `unavailable`;
  ///         `failed_precondition` on a thread of CAF's scheduler, where an
  ///         actor sends a `run_request` to the front desk; for an action of
  ///         another node those of `remote_runtime`.
  [[nodiscard]] run_info find_run(const session_id& session) const {
    return detail::ask_run(*reference_, run_verb::inspect, {}, session);
  }

  /// Returns the state of a kept run, for a body; does not block.
  /// @errors `not_found`; those of `context::ask`, and for an action of another
  ///         node those of `remote_runtime`.
  [[nodiscard]] task<run_info> find_run(context ctx, run_id run) const {
    return detail::ask_run(ctx, reference_, run_verb::inspect, std::move(run),
                           {});
  }

  /// Returns the state of the live run of a session, for a body; does not
  /// block.
  /// @errors `not_found`; those of `context::ask`, and for an action of another
  ///         node those of `remote_runtime`.
  [[nodiscard]] task<run_info> find_run(context ctx, session_id session) const {
    return detail::ask_run(ctx, reference_, run_verb::inspect, {},
                           std::move(session));
  }

  /// Ends a kept run for all of its clients, which hear `aborted`; blocks until
  /// the answer is there.
  /// @returns the run, with the status that was found: a run that is over is
  ///          not changed.
  /// @errors  `not_found`; `deadline_exceeded`; `unavailable`;
  ///          `failed_precondition` on a thread of CAF's scheduler, where an
  ///          actor sends a `run_request` to the front desk; for an action of
  ///          another node those of `remote_runtime`.
  // NOLINTNEXTLINE(modernize-use-nodiscard): it acts
  run_info abort(const run_id& run) const {
    return detail::ask_run(*reference_, run_verb::abort, run, {});
  }

  /// Ends the live run of a session for all of its clients; blocks until the
  /// answer is there.
  /// @returns the run, with the status that was found.
  /// @errors  `not_found`; `deadline_exceeded`; `unavailable`;
  ///          `failed_precondition` on a thread of CAF's scheduler, where an
  ///          actor sends a `run_request` to the front desk; for an action of
  ///          another node those of `remote_runtime`.
  // NOLINTNEXTLINE(modernize-use-nodiscard): it acts
  run_info abort(const session_id& session) const {
    return detail::ask_run(*reference_, run_verb::abort, {}, session);
  }

  /// Ends a kept run for all of its clients, for a body; does not block.
  /// @returns the run, with the status that was found.
  /// @errors  `not_found`; those of `context::ask`, and for an action of
  ///          another node those of `remote_runtime`.
  [[nodiscard]] task<run_info> abort(context ctx, run_id run) const {
    return detail::ask_run(ctx, reference_, run_verb::abort, std::move(run),
                           {});
  }

  /// Ends the live run of a session for all of its clients, for a body; does
  /// not block.
  /// @returns the run, with the status that was found.
  /// @errors  `not_found`; those of `context::ask`, and for an action of
  ///          another node those of `remote_runtime`.
  [[nodiscard]] task<run_info> abort(context ctx, session_id session) const {
    return detail::ask_run(ctx, reference_, run_verb::abort, {},
                           std::move(session));
  }

  /// Returns the message with which an actor opens a connection: send it as a
  /// request to the runtime's `front_desk`.
  /// @param client receives the messages of the connection.
  template <class... Options>
  [[nodiscard]] tertulia::open_request
  opening_for(chunk_sink client, const Options&... options) const {
    auto chosen = detail::gather<Init, In>(options...);
    return make_open_request(chosen, std::move(client));
  }

protected:
  /// Returns a handle of another action of the same runtime.
  template <class OtherIn, class OtherOut>
  [[nodiscard]] bidi_action<nothing, OtherIn, OtherOut, nothing>
  neighbor(std::string key) const {
    auto what = *reference_;
    what.key = std::move(key);
    what.local = nullptr; // its inputs are checked when they arrive
    return detail::access::make<
      bidi_action<nothing, OtherIn, OtherOut, nothing>>(std::move(what));
  }

  [[nodiscard]] const std::string& key() const noexcept {
    return reference_->key;
  }

private:
  friend detail::access;

  explicit bidi_action(detail::action_ref what)
    : reference_(std::make_shared<const detail::action_ref>(std::move(what))) {}

  tertulia::open_request make_open_request(client_options<Init>& chosen,
                                           chunk_sink client) const {
    payload init;
    if (chosen.init)
      init = payload::of(std::move(*chosen.init));
    tertulia::open_request result{reference_->key, std::move(init),
                                  std::move(chosen.connection),
                                  std::move(client)};
    result.inputs = std::move(chosen.inputs);
    result.closes = chosen.closes;
    result.make_room();
    return result;
  }

  static task<async_connection<In, Out, Stream>>
  open_as_task(context ctx, std::shared_ptr<const detail::action_ref> what,
               tertulia::open_request message) {
    auto desk = co_await detail::find_desk(ctx, what);
    auto impl = co_await detail::open_nested(
      ctx, std::move(desk), std::move(message), what->local, what->remote);
    co_return detail::access::make<async_connection<In, Out, Stream>>(
      std::move(impl));
  }

  // Shared, because its schemas are large compared with the cost of a call.
  std::shared_ptr<const detail::action_ref> reference_;
};

/// Bidi action whose connections are traced: docs/genkit.md 001 §1.3.
template <class Init, class In, class Out, class Stream>
using bidi_flow = bidi_action<Init, In, Out, Stream>;

/// Action whose types are not known here; its inputs and outputs are JSON.
using json_action = bidi_action<json, json, json, json>;

} // namespace tertulia
