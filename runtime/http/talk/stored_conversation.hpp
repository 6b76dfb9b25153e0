// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/conversation_action.hpp>
#include <tertulia/store.hpp>
#include <tertulia/store_handlers.hpp>

#include <caf/actor_cast.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "ask.hpp"
#include "message/exchange.hpp"
#include "server/server_core.hpp"

namespace tertulia::web {

/// Returns whether an action is a conversation of this process with a store.
[[nodiscard]] bool has_store(const json_action& x);

/// Conversation of this process with its store, as one caller sees it.
///
/// @threads  those of its executor.
/// @lifetime must not outlive the runtime, and the server of its request.
class stored_conversation {
public:
  /// Makes it for the program itself, which sees all sessions.
  /// @errors throws `failed_precondition` for an action without sessions, or
  ///         without a store.
  stored_conversation(runtime& rt, net::any_io_executor executor,
                      const json_action& action);

  /// Makes it for the caller of a request.
  /// @param action an action that clients may open.
  /// @errors throws `failed_precondition` for an action without sessions, or
  ///         without a store.
  stored_conversation(server_core& server, const exchange& from,
                      const json_action& action);

  /// Makes it for one verb of the store. A verb exists for clients if the
  /// action `/snapshot-store/<name>/<verb>` does.
  /// @param session as the client names it; may be empty.
  /// @errors also throws `not_found`, and `permission_denied`.
  stored_conversation(server_core& server, const exchange& from,
                      const std::string& key, const char* verb,
                      const session_id& session = {});

  [[nodiscard]] const std::string& key() const noexcept {
    return action_->key();
  }

  [[nodiscard]] const std::string& caller() const noexcept {
    return caller_;
  }

  /// Checks whether the caller may use the verb with a further session.
  /// @errors throws `permission_denied`.
  void authorize(const session_id& x) const;

  /// Checks whether the caller may end a run.
  /// @errors throws `permission_denied`.
  void authorize_abort(const run_id& run, const session_id& session) const;

  /// Returns whether a snapshot begins a branch when it is continued.
  [[nodiscard]] bool branches() const noexcept {
    return policy().restore == detail::restore_rule::branch;
  }

  /// Returns the session that the caller means.
  /// @errors throws `invalid_argument` for an empty id.
  [[nodiscard]] session_ref session(const session_id& x) const;

  /// Returns whether a session is one of the caller.
  [[nodiscard]] bool is_own(const session_id& x) const;

  /// Returns the session behind which a list of those of the caller begins.
  /// @param after last one of the page before; empty for the first page.
  [[nodiscard]] session_ref first_of_list(const session_id& after) const;

  /// Returns the snapshot that the caller means.
  /// @param in its session, which only a caller without a name may leave out.
  [[nodiscard]] snapshot_ref snapshot(snapshot_id id,
                                      const session_id& in) const;

  /// Returns the snapshot of a session that the caller means by an id or by its
  /// number.
  /// @errors throws `invalid_argument` for an empty text or session.
  [[nodiscard]] snapshot_ref find(const std::string& text,
                                  const session_id& in) const;

  /// Returns a document for the caller, as text.
  /// @errors throws `internal` if its redaction fails.
  [[nodiscard]] std::string leaving(json x) const;

  /// Checks that what the store has may leave unchanged.
  /// @errors throws `permission_denied` if it is redacted.
  void check_whole() const;

  /// Returns a state as this program reads it, as clients receive it.
  /// @errors throws `failed_precondition` for one of another type.
  [[nodiscard]] json client_state(state x) const;

  /// Sends a request to the store and waits for the answer.
  /// @errors throws those of the store; `unimplemented` if it does not take
  ///         such requests.
  template <class Request>
  net::awaitable<store_reply_t<Request>> ask_store(Request question) const {
    // A store that is not a `managed_store` answers that it does not know it.
    co_return co_await ask<store_reply_t<Request>>(
      runtime_.system(), caf::actor_cast<managed_store>(policy().store),
      std::move(question), executor_);
  }

  /// Ends a run in the name of the caller.
  net::awaitable<run_info> abort_run(const run_id& run) const;

  /// Returns the record of a snapshot.
  net::awaitable<snapshot_record> find_record(snapshot_ref x) const;

private:
  [[nodiscard]] const detail::session_policy& policy() const noexcept {
    return action_->conversation()->policy;
  }

  runtime& runtime_;
  const server_core* server_ = nullptr; ///< null for the program itself
  std::string caller_;
  net::any_io_executor executor_;
  std::shared_ptr<const detail::action> action_;
  std::string route_; ///< of the verb; empty without one
};

/// Returns the length of a page in a query; 100 without one.
/// @errors throws `invalid_argument` if it is not a number.
[[nodiscard]] std::uint32_t limit_of(const target& x);

} // namespace tertulia::web
