// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/caller.hpp>
#include <tertulia/detail/access.hpp>
#include <tertulia/detail/conversation_action.hpp>
#include <tertulia/status_error.hpp>
#include <tertulia/store.hpp>
#include <tertulia/store_handlers.hpp>

#include <caf/actor_cast.hpp>

#include <concepts>
#include <memory>
#include <string>
#include <utility>

#include "ask.hpp"
#include "exchange.hpp"
#include "server_core.hpp"

namespace tertulia::web {

/// Conversation of this process with its store, as one caller sees it.
///
/// @threads  those of the request.
/// @lifetime must not outlive the exchange.
class conversation {
public:
  /// @param action an action that clients may open.
  /// @errors throws `failed_precondition` for an action without sessions, or
  ///         without a store.
  conversation(server_core& server, const exchange& from,
               const json_action& action)
    : server_(server), from_(from),
      action_(detail::access::local_action(action)) {
    if (!action_ || action_->conversation() == nullptr
        || !action_->conversation()->policy.store)
      throw status_error{errc::failed_precondition,
                         action.info().key + " has no store of sessions"};
  }

  [[nodiscard]] const std::string& key() const noexcept {
    return action_->key();
  }

  /// Returns whether a snapshot begins a branch when it is continued.
  [[nodiscard]] bool branches() const noexcept {
    return policy().restore == detail::restore_rule::branch;
  }

  /// Returns the session that the caller means.
  /// @errors throws `invalid_argument` for an empty id.
  [[nodiscard]] session_ref session(const session_id& x) const {
    if (x.empty())
      throw status_error{errc::invalid_argument, "the session is missing"};
    return {key(), owned(x)};
  }

  /// Returns the snapshot that the caller means.
  /// @param in its session, which only a caller without a name may leave out.
  [[nodiscard]] snapshot_ref snapshot(snapshot_id id,
                                      const session_id& in) const {
    if (in.empty() && from_.caller.empty())
      return {key(), {}, std::move(id)};
    return {key(), session(in).id, std::move(id)};
  }

  /// Returns a state as this program reads it, as clients receive it.
  /// @errors throws `failed_precondition` for one of another type.
  [[nodiscard]] json client_state(state x) const {
    return conversation_action()
      .client_state(policy().schema.adopt(std::move(x)))
      .to_json();
  }

  /// Sends a request to the store and waits for the answer.
  /// @errors throws those of the store; `unimplemented` if it does not take
  ///         such requests.
  template <class Request>
  net::awaitable<store_reply_t<Request>> ask_store(Request question) const {
    // A store that is no `managed_store` answers that it does not know it.
    co_return co_await ask<store_reply_t<Request>>(
      server_.actions().system(),
      caf::actor_cast<managed_store>(policy().store), std::move(question),
      from_.executor());
  }

private:
  [[nodiscard]] const detail::conversation_action&
  conversation_action() const noexcept {
    return *action_->conversation();
  }

  [[nodiscard]] const detail::session_policy& policy() const noexcept {
    return conversation_action().policy;
  }

  [[nodiscard]] session_id owned(const session_id& x) const {
    return from_.caller.empty() ? x : session_of(caller_name{from_.caller}, x);
  }

  server_core& server_;
  const exchange& from_;
  std::shared_ptr<const detail::action> action_;
};

} // namespace tertulia::web
