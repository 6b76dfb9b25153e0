// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/access.hpp>
#include <tertulia/detail/session_calls.hpp>

#include <type_traits>
#include <utility>
#include <vector>

namespace tertulia {

/// Handle of a body on the session of its agent: state that outlives the
/// connection.
///
/// All values that it yields are copies; only the session actor can change the
/// state.
///
/// ```
/// co_await chat.update([&](words& w) { w.seen += 1; });
/// ```
///
/// @threads  only on the actor of its body.
/// @lifetime a light handle; valid while the body runs.
/// @design   docs/sessions.md#sessions; docs/genkit.md 001 §1.5, §3.2.
template <class State>
class agent_session {
public:
  using state_type = State;

  [[nodiscard]] const session_id& id() const noexcept {
    return owner_->link().id;
  }

  /// Yields a copy of the state.
  /// @errors `unavailable` if the session has ended; `cancelled` or another
  ///         error that ends the connection.
  [[nodiscard]] auto state() const {
    return detail::ask_session(*owner_, [](session_view x) {
      auto value = x.content.custom();
      return std::move(value).template take<State>();
    });
  }

  /// Replaces the state, and resumes when the store, if there is one, has saved
  /// it. Takes a state or the arguments to build one.
  /// @errors `invalid_argument` for a state without JSON; errors of the store.
  ///         The state is then unchanged.
  template <class... Ts>
  requires detail::buildable_from<State, Ts...>
  [[nodiscard]] auto update_state(Ts&&... xs) const {
    detail::check_awaited_arguments<Ts...>();
    return detail::edit_session(
      *owner_, session_verb::set_custom,
      payload::of(detail::build<State>(std::forward<Ts>(xs)...)));
  }

  /// Changes the state by a function, atomically, even if tools and nested
  /// flows change it at the same time.
  /// @param fn takes a `State&` to change, or a `State` and returns the new
  ///           one; called again if another change came first. A lambda whose
  ///           captures have destructors needs a name, see
  ///           `context::run_blocking`.
  /// @errors as `update_state`; exceptions of `fn`.
  template <class Fn>
  [[nodiscard]] task<> update(Fn&& fn) const {
    detail::check_awaited_arguments<Fn>();
    return detail::patch_session(
      *owner_, detail::patch_of<State, std::decay_t<Fn>>(std::forward<Fn>(fn)));
  }

  /// Yields the index of the current turn, 0 for the first of the session.
  [[nodiscard]] auto turn_index() const {
    return detail::ask_session(*owner_,
                               [](const session_view& x) { return x.turn; });
  }

  /// Yields the id of the session's current snapshot; empty for none.
  [[nodiscard]] auto last_snapshot() const {
    return detail::ask_session(*owner_, [](const session_view& x) {
      return x.last_snapshot;
    });
  }

private:
  friend detail::access;

  /// Returns the type name of sessions with this state.
  static const std::string& type() {
    return detail::session_type_name<agent_session, State>();
  }

  explicit agent_session(detail::host& owner) noexcept : owner_(&owner) {}

  detail::host* owner_;
};

} // namespace tertulia
