// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/access.hpp>
#include <tertulia/detail/blocking_wait.hpp>
#include <tertulia/detail/build.hpp>
#include <tertulia/detail/host.hpp>
#include <tertulia/detail/letter_box.hpp>
#include <tertulia/detail/reply_wait.hpp>
#include <tertulia/detail/sleep_wait.hpp>
#include <tertulia/detail/span_failure.hpp>
#include <tertulia/task.hpp>
#include <tertulia/trace.hpp>

#include <caf/timespan.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>

namespace tertulia {

class context;

namespace detail {

/// Calls a step's function, with the context if it takes one.
template <class Fn>
decltype(auto) call_step(Fn& fn, const context& ctx) {
  if constexpr (std::is_invocable_v<Fn&, const context&>)
    return std::invoke(fn, ctx);
  else
    return std::invoke(fn);
}

template <class Fn>
using step_result_t
  = decltype(call_step(std::declval<Fn&>(), std::declval<const context&>()));

template <class Fn>
struct step_value {
  using type = step_result_t<Fn>;
};

template <class Fn>
requires awaitable<step_result_t<Fn>>
struct step_value<Fn> {
  using type = awaited_t<step_result_t<Fn>>;
};

template <class Fn>
using step_value_t = typename step_value<Fn>::type;

} // namespace detail

/// Environment of a body: its cancellation and deadline, its trace, time, other
/// actors and blocking work.
///
/// @threads  only on the actor of its body.
/// @lifetime a light handle; valid while the body, or the step that it was made
///           for, runs.
/// @design   docs/engine.md#coroutines; Go's `context.Context`.
class context {
public:
  // -- cancellation -----------------------------------------------------------

  /// Returns whether the connection is being cancelled. Every wait throws from
  /// then on, so only code that does not wait needs to check.
  [[nodiscard]] bool cancelled() const noexcept {
    return owner_->root.cancelled();
  }

  /// Returns when the connection will be cancelled with `deadline_exceeded`, by
  /// the clock of the actor system; empty for never.
  [[nodiscard]] std::optional<caf::actor_clock::time_point>
  deadline() const noexcept {
    return owner_->limits.deadline();
  }

  // -- time, work, other actors -----------------------------------------------

  /// Waits for `delay`; the actor handles other messages meanwhile.
  /// @errors `cancelled` or another error that ends the connection.
  [[nodiscard]] auto sleep(caf::timespan delay) const {
    return detail::sleep_wait{delay};
  }

  /// Runs `fn` on a thread that may block, and yields its result or throws its
  /// exception. `fn` may take a `std::stop_token`.
  ///
  /// A cancel asks `fn` to stop through its token, and the wait ends when `fn`
  /// has returned: `fn` may refer to data of the body. A call that has not
  /// begun is dropped at once.
  ///
  /// So let a lambda capture by reference. g++ 12 miscompiles a lambda inside a
  /// `co_await` if it captures a string, or anything else with a destructor, so
  /// this does not compile there. Give such a lambda a name before and pass
  /// that, or `std::ref` of it if it cannot be copied.
  ///
  /// @errors  `cancelled` or another error that ends the connection;
  ///          `resource_exhausted` if too many calls wait for a thread;
  ///          exceptions of `fn`.
  /// @threads `fn` runs on another thread than the body, which waits.
  template <class Fn>
  [[nodiscard]] auto run_blocking(Fn&& fn) const {
    detail::check_awaited_arguments<Fn>();
    return detail::blocking_wait<std::decay_t<Fn>>{std::forward<Fn>(fn)};
  }

  /// Sends a request to another actor and yields its reply.
  ///
  /// @param within longest wait; the actor may act on the request even if its
  ///               reply comes too late.
  /// @errors those of the actor, as `status_error`; `deadline_exceeded`;
  ///         `unavailable` if it is dead; `cancelled` or another error that
  ///         ends the connection.
  template <class... Sigs, class... Ts>
  [[nodiscard]] auto
  ask(caf::typed_actor<Sigs...> other, caf::timespan within, Ts&&... xs) const {
    detail::check_awaited_arguments<Ts...>();
    using handle = caf::typed_actor<Sigs...>;
    return detail::reply_wait<detail::reply_of_t<handle, Ts...>, handle,
                              std::decay_t<Ts>...>{std::move(other), within,
                                                   std::forward<Ts>(xs)...};
  }

  /// Sends a request to an actor without a declared protocol and yields a
  /// `Reply`.
  template <class Reply, class... Ts>
  [[nodiscard]] auto
  ask(caf::actor other, caf::timespan within, Ts&&... xs) const {
    detail::check_awaited_arguments<Ts...>();
    return detail::reply_wait<Reply, caf::actor, std::decay_t<Ts>...>{
      std::move(other), within, std::forward<Ts>(xs)...};
  }

  // -- messages of other actors -----------------------------------------------

  /// Returns the handle of an actor that takes messages of type `T` for this
  /// body, which `receive` yields.
  ///
  /// ```
  /// co_await ctx.ask(clock, 1s, subscribe{ctx.address<alarm>()});
  /// auto rung = co_await ctx.receive<alarm>();
  /// ```
  ///
  /// The handle can be given to actors of any node. It answers a request when
  /// the message is kept: with `resource_exhausted` while 1024 messages have
  /// not been received, and with `unavailable` once the body has ended.
  template <class T>
  [[nodiscard]] protocol<caf::result<void>(T)> address() const {
    return owner_->letters().template address_of<T>();
  }

  /// Waits for a message that another actor has sent to `address<T>()`. Only
  /// one part of a body may wait for a type at a time.
  /// @errors `failed_precondition` if another part took the message;
  ///         `cancelled` or another error that ends the connection.
  template <class T>
  [[nodiscard]] auto receive() const {
    return detail::letter_wait<T>{owner_->letters().template letters_of<T>()};
  }

  // -- tracing ----------------------------------------------------------------

  /// Runs one step of the body under a span of its own and yields its value.
  ///
  /// @param name name of the step, e.g. `loadProfile`.
  /// @param fn   a function, a coroutine, or a function that returns an
  ///             awaitable; may take a `context` whose steps then become
  ///             children of this one. A lambda may capture: it lives as long
  ///             as the step. Capture by reference, see `run_blocking`.
  /// @errors exceptions of `fn`.
  template <class Fn>
  [[nodiscard]] task<detail::step_value_t<std::decay_t<Fn>>>
  run_step(std::string name, Fn&& fn) const {
    detail::check_awaited_arguments<Fn>();
    return run_in_span<std::decay_t<Fn>>(*this, std::move(name),
                                         std::forward<Fn>(fn));
  }

  /// Returns the current span, for attributes and events. Empty, and cheap, if
  /// no sink is subscribed.
  [[nodiscard]] span& trace() const noexcept {
    return *trace_;
  }

  // -- the caller -------------------------------------------------------------

  /// Returns the caller for whom this code runs, such as a user whom a server
  /// has authenticated; empty for the program itself. Connections that a body
  /// opens are for its caller, unless it says `with_caller`.
  /// @design docs/sessions.md#callers.
  [[nodiscard]] const caller_name& caller() const noexcept {
    return owner_->caller();
  }

  // -- the session ------------------------------------------------------------

  /// Returns the session in which this code runs: that of the body's own
  /// connection, or that of the conversation that has called this flow.
  ///
  /// ```
  /// if (auto chat = ctx.session<tertulia::agent_session<words>>())
  ///   co_await chat->update([](words& w) { w.seen += 1; });
  /// ```
  ///
  /// @tparam Session `agent_session<State>` or `ai::chat_session<Custom>`.
  /// @returns empty if there is no session or it has another type.
  /// @design docs/sessions.md#sessions; docs/genkit.md 003 §1.4, 004 §1.4.
  template <class Session>
  [[nodiscard]] std::optional<Session> session() const {
    const auto& link = owner_->link();
    if (!link.session
        || link.kind->type != detail::access::session_type<Session>())
      return std::nullopt;
    return detail::access::make<Session>(*owner_);
  }

  // -- the actor system -------------------------------------------------------

  /// Returns the actor system in which the body runs.
  [[nodiscard]] caf::actor_system& system() const noexcept {
    return owner_->self()->system();
  }

private:
  [[nodiscard]] detail::host& owner() const noexcept {
    return *owner_;
  }

  friend detail::access;

  context(detail::host& owner, span& trace) noexcept
    : owner_(&owner), trace_(&trace) {}

  template <class Fn>
  static task<detail::step_value_t<Fn>>
  run_in_span(context outer, std::string name, Fn fn) {
    auto trace = outer.start_span(name);
    const context inner{*outer.owner_, trace};
    try {
      if constexpr (detail::awaitable<detail::step_result_t<Fn>>)
        co_return co_await detail::call_step(fn, inner);
      else
        co_return detail::call_step(fn, inner);
    } catch (...) {
      detail::note_failure(trace, to_status(current_exception_to_error()));
      throw;
    }
  }

  [[nodiscard]] span start_span(const std::string& name) const;

  detail::host* owner_;
  span* trace_;
};

} // namespace tertulia
