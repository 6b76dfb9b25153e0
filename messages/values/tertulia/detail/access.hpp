// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <utility>

namespace tertulia::detail {

/// Access of this library to the private members of its public classes, each of
/// which has it as a friend.
///
/// @threads as the member.
struct access {
  /// Constructs a `T` with a private constructor.
  template <class T, class... Ts>
  [[nodiscard]] static T make(Ts&&... xs) {
    return T(std::forward<Ts>(xs)...);
  }

  /// Returns the host of the body of a context.
  template <class Context>
  [[nodiscard]] static auto& owner(const Context& x) noexcept {
    return x.owner();
  }

  /// Takes the content out of a payload.
  template <class Payload>
  [[nodiscard]] static auto content(Payload x) noexcept {
    return std::move(x.content_);
  }

  /// Returns the type name of sessions with the state of this handle.
  template <class Session>
  [[nodiscard]] static const auto& session_type() {
    return Session::type();
  }

  /// Prepares a task to run without an awaiting coroutine. The caller resumes
  /// the returned handle and, once the listener was called, gets the `result`.
  template <class Task, class Listener, class Scope>
  static auto start(Task& x, Listener& listener, Scope& scope) {
    return x.start_for(listener, scope);
  }

  /// Returns whether an ended task has failed.
  template <class Task>
  [[nodiscard]] static bool has_failed(const Task& x) noexcept {
    return x.failed();
  }

  /// Returns the value of an ended task, or throws its exception.
  template <class Task>
  [[nodiscard]] static decltype(auto) result(const Task& x) {
    return x.result();
  }

  /// Returns the descriptor of an action of these types.
  template <class Types, class Runtime, class... Ts>
  [[nodiscard]] static auto describe(Ts&&... xs) {
    return Runtime::template describe<Types>(std::forward<Ts>(xs)...);
  }

  /// Registers actions under their keys, all or none.
  template <class Runtime, class Actions>
  static void add(Runtime& rt, const Actions& xs) {
    rt.add(xs);
  }

  /// Makes a handle of an action.
  template <class Types, class Runtime, class Action>
  [[nodiscard]] static auto handle(const Runtime& rt, const Action& x) {
    return rt.template handle<Types>(x);
  }

  /// Returns the action behind a handle; null if it is one of another process.
  template <class Handle>
  [[nodiscard]] static const auto& local_action(const Handle& x) noexcept {
    return x.reference_->local;
  }

  /// Defines an action of any kind.
  template <class Runtime, class... Ts>
  static auto define(Runtime& rt, Ts&&... xs) {
    return rt.define(std::forward<Ts>(xs)...);
  }
};

} // namespace tertulia::detail
