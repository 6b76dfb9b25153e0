// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/conversation.hpp>
#include <tertulia/detail/access.hpp>
#include <tertulia/detail/build.hpp>
#include <tertulia/detail/session_calls.hpp>
#include <tertulia/input.hpp>

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tertulia::ai {

/// Handle on the session of a chat agent or a session flow, for its body, its
/// tools and nested flows: messages, a custom value and artifacts.
///
/// All values that it yields are copies, or immutable and shared; only the
/// session actor can change the session.
///
/// @threads  only on the actor of its body.
/// @lifetime a light handle; valid while the body runs.
/// @design   docs/sessions.md#sessions; docs/genkit.md 003 §1.4, 004 §1.4.
template <class Custom>
class chat_session {
public:
  using custom_type = Custom;

  [[nodiscard]] const session_id& id() const noexcept {
    return owner_->link().id;
  }

  // -- reading ----------------------------------------------------------------
  //
  // Errors of all of them: `unavailable` if the session has ended; `cancelled`
  // or another error that ends the connection.

  /// Yields the whole state; copies the custom value and the artifacts.
  [[nodiscard]] auto state() const {
    return detail::ask_session(*owner_, [](const session_view& x) {
      return from_state<Custom>(x.content);
    });
  }

  /// Yields the messages so far, which are shared: O(1).
  [[nodiscard]] auto messages() const {
    return detail::ask_session(*owner_, [](const session_view& x) {
      return x.content.messages();
    });
  }

  /// Yields a copy of the custom value.
  [[nodiscard]] auto custom() const {
    return detail::ask_session(*owner_, [](const session_view& x) {
      auto value = x.content.custom();
      return std::move(value).template take<Custom>();
    });
  }

  /// Yields copies of the artifacts.
  [[nodiscard]] auto artifacts() const {
    return detail::ask_session(*owner_, [](const session_view& x) {
      return x.content.artifacts().to_vector();
    });
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

  /// Yields the snapshots of this invocation so far, oldest first.
  [[nodiscard]] auto new_snapshot_ids() const {
    using wait_type
      = detail::reply_wait<session_summary, session_actor, list_atom>;
    constexpr auto ids
      = [](session_summary x) { return std::move(x.snapshots); };
    return detail::mapped_wait<wait_type, decltype(ids)>{
      wait_type{owner_->link().session, detail::session_wait(*owner_),
                list_atom_v},
      ids};
  }

  // -- changing ---------------------------------------------------------------
  //
  // Each resumes when the session has applied the change; errors as for
  // reading.

  /// Adds messages at the end. Takes messages or one vector of them.
  template <class... Messages>
  requires(std::convertible_to<Messages, message>&&...)
    [[nodiscard]] auto add_messages(Messages&&... xs) const {
    detail::check_awaited_arguments<Messages...>();
    std::vector<message> all;
    all.reserve(sizeof...(xs));
    (all.push_back(std::forward<Messages>(xs)), ...);
    return add_messages(std::move(all));
  }

  [[nodiscard]] auto add_messages(std::vector<message> xs) const {
    return detail::edit_session(*owner_, session_verb::add_messages,
                                payload::of(std::move(xs)));
  }

  /// Replaces the whole history. A log that grew from the present one shares
  /// the common part with it.
  [[nodiscard]] auto set_messages(message_log xs) const {
    return detail::edit_session(*owner_, session_verb::set_messages,
                                payload::of(std::move(xs)));
  }

  /// Replaces the custom value. Takes a value or the arguments to build one.
  template <class... Ts>
  requires detail::buildable_from<Custom, Ts...>
  [[nodiscard]] auto set_custom(Ts&&... xs) const {
    detail::check_awaited_arguments<Ts...>();
    return detail::edit_session(
      *owner_, session_verb::set_custom,
      payload::of(detail::build<Custom>(std::forward<Ts>(xs)...)));
  }

  /// Changes the custom value by a function, atomically, even if tools and
  /// nested flows change it at the same time.
  /// @param fn takes a `Custom&` to change, or a `Custom` and returns the new
  ///           one; called again if another change came first. A lambda whose
  ///           captures have destructors needs a name, see
  ///           `context::run_blocking`.
  /// @errors also exceptions of `fn`.
  template <class Fn>
  [[nodiscard]] task<> patch_custom(Fn&& fn) const {
    detail::check_awaited_arguments<Fn>();
    return detail::patch_session(
      *owner_,
      detail::patch_of<Custom, std::decay_t<Fn>>(std::forward<Fn>(fn)));
  }

  /// Adds an artifact; one of the same name is replaced in its place.
  [[nodiscard]] auto add_artifact(artifact x) const {
    return detail::edit_session(*owner_, session_verb::add_artifact,
                                payload::of(std::move(x)));
  }

  /// Replaces all artifacts.
  [[nodiscard]] auto set_artifacts(std::vector<artifact> xs) const {
    return detail::edit_session(*owner_, session_verb::set_artifacts,
                                payload::of(std::move(xs)));
  }

  // -- start of the session ---------------------------------------------------

  /// Returns the init that the client gave when it opened the connection, with
  /// the snapshot to continue from. Only in the body of the conversation
  /// itself.
  [[nodiscard]] conversation_init<Custom> init() const {
    if (const auto* given
        = owner_->client_init().template get_if<conversation_init<Custom>>())
      return *given;
    return {};
  }

protected:
  [[nodiscard]] detail::host& owner() const noexcept {
    return *owner_;
  }

private:
  friend detail::access;

  /// Returns the type name of sessions with this state.
  static const std::string& type() {
    return detail::session_type_name<chat_session, Custom>();
  }

  explicit chat_session(detail::host& owner) noexcept : owner_(&owner) {}

  detail::host* owner_;
};

} // namespace tertulia::ai
