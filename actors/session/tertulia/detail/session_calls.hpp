// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/context.hpp>
#include <tertulia/detail/build.hpp>
#include <tertulia/detail/conversation_action.hpp>
#include <tertulia/detail/reply_wait.hpp>
#include <tertulia/session_protocol.hpp>
#include <tertulia/task.hpp>

#include <caf/detail/unique_function.hpp>

#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

// Calls of a body to its session.

namespace tertulia::detail {

/// Adapter of a wait that maps its result.
template <class Wait, class Fn>
class [[nodiscard]] mapped_wait {
public:
  mapped_wait(Wait wait, Fn fn) : wait_(std::move(wait)), fn_(std::move(fn)) {}

  bool await_ready() {
    return wait_.await_ready();
  }

  template <scoped_promise Promise>
  auto await_suspend(std::coroutine_handle<Promise> waiting) {
    return wait_.await_suspend(waiting);
  }

  auto await_resume() {
    return fn_(wait_.await_resume());
  }

private:
  Wait wait_;
  Fn fn_;
};

/// Returns the longest wait for a reply of a session: that of its conversation
/// for the store, otherwise 30 seconds.
inline caf::timespan session_wait(const host& owner) {
  const auto* own = owner.hosted_action()->conversation();
  return own != nullptr ? own->policy.store_within
                        : caf::timespan{std::chrono::seconds{30}};
}

/// Requests the current view of the session.
/// @param fn maps the `session_view` to the value that the body gets.
template <class Fn>
[[nodiscard]] auto ask_session(const host& owner, Fn fn) {
  using wait_type = reply_wait<session_view, session_actor, caf::get_atom>;
  return mapped_wait<wait_type, Fn>{
    wait_type{owner.link().session, session_wait(owner), caf::get_atom_v},
    std::move(fn)};
}

/// Makes an edit for the session of this body. A value for another process is
/// encoded here, where an error can still be reported.
/// @errors throws `invalid_argument` for a value without JSON, if it is
///         encoded.
inline session_edit make_edit(const host& owner, session_verb verb,
                              payload value,
                              std::uint64_t expected_version = 0) {
  if (owner.link().session.node() != owner.self()->node())
    value = value.sealed();
  return {verb, std::move(value), expected_version};
}

/// Sends an edit to the session.
/// @param fn maps the `session_view` after the edit to the value that the body
///           gets.
template <class Fn>
[[nodiscard]] auto edit_session(const host& owner, session_edit edit, Fn fn) {
  using wait_type = reply_wait<session_view, session_actor, session_edit>;
  return mapped_wait<wait_type, Fn>{
    wait_type{owner.link().session, session_wait(owner), std::move(edit)},
    std::move(fn)};
}

/// Changes the session; yields nothing.
[[nodiscard]] inline auto edit_session(const host& owner, session_verb verb,
                                       payload value) {
  return edit_session(owner, make_edit(owner, verb, std::move(value)),
                      [](const session_view&) {});
}

/// Function that returns the next custom value.
using patch_function = caf::detail::unique_function<payload(const payload&)>;

/// Returns a change of a value of type `T`.
/// @param fn takes a `T&` to change, or a `T` and returns the new one.
template <class T, class Fn>
patch_function patch_of(Fn fn) {
  return patch_function{[fn = std::move(fn)](const payload& old) mutable {
    auto value = payload{old}.template take<T>();
    if constexpr (std::is_void_v<std::invoke_result_t<Fn&, T&>>)
      fn(value);
    else
      value = fn(std::move(value));
    return payload::of(std::move(value));
  }};
}

/// Changes the custom value by a function, atomically: tries again if another
/// change came first.
task<> patch_session(host& owner, patch_function change);

/// Triggers a snapshot for an event.
/// @returns the id of the snapshot; empty if none was wanted.
task<snapshot_id> take_snapshot(context ctx, snapshot_event event);

/// Notes the reason for which the turn of the conversation will end, in the
/// body of the conversation or in a flow that it has called.
void note_finish_reason(context ctx, ai::finish_reason reason);

/// Ends the turn of a conversation: snapshot, notice, end of turn.
/// @param reason empty for the one that was noted.
task<snapshot_id> end_conversation_turn(context ctx,
                                        std::optional<ai::finish_reason> reason
                                        = {});

/// Result of an invocation.
struct invocation_result {
  session_summary summary;
  /// The snapshot that has the last state; empty if there is none.
  snapshot_id snapshot;
  /// Reason for which the last turn ended; may be empty.
  std::optional<ai::finish_reason> finish_reason;
};

/// Makes the snapshot at the end of an invocation, then requests the summary of
/// the session.
task<invocation_result> finish_invocation(context ctx);

/// Runs the body of a conversation, then finishes the invocation.
/// @param output makes the output of the conversation.
task<payload> run_conversation(context ctx, task<> body,
                               payload (*output)(invocation_result));

/// Returns a name of a type that is the same in all processes of one build.
template <class T>
const std::string& type_name() {
  static const std::string name = typeid(T).name();
  return name;
}

/// Returns a name of a session type with such a state. It contains the version
/// of the state: processes with different versions cannot read each other's
/// working states, so they have different sessions.
template <class Session, class T>
const std::string& session_type_name() {
  static const std::string name = [] {
    const auto type = stored_type::of<T>();
    auto result = type_name<Session>();
    if (!type.empty())
      result.append(" ").append(type.name())
        += ' ' + std::to_string(type.version());
    return result;
  }();
  return name;
}

} // namespace tertulia::detail
