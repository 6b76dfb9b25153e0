// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/access.hpp>
#include <tertulia/detail/session_calls.hpp>
#include <tertulia/output.hpp>

#include <optional>
#include <utility>

namespace tertulia {

/// Output stream of the body of an agent. docs/genkit.md 001 §1.4.
///
/// @threads  only on the actor of its body.
/// @lifetime a light handle; valid while the body runs.
/// @design   docs/sessions.md#sessions.
template <class Stream>
class agent_responder {
public:
  using value_type = Stream;

  /// Sends one chunk; waits while the client lags by a whole window. Takes a
  /// chunk or the arguments to build one: see `output::send`.
  /// @errors `cancelled` or another error that ends the connection.
  template <class... Ts>
  requires detail::buildable_from<Stream, Ts...>
  [[nodiscard]] auto send(Ts&&... xs) const {
    detail::check_awaited_arguments<Ts...>();
    return detail::send_chunk<Stream>{detail::access::owner(ctx_),
                                      std::forward<Ts>(xs)...};
  }

  /// Ends the turn: makes a snapshot if one is wanted, then notifies the
  /// client, whose `responses()` ends here. So a client that has received the
  /// end of a turn can rely on its snapshot.
  ///
  /// @param reason reason for which the turn ends; empty for that of the last
  ///               answer of a model in the session, if there is one.
  /// @returns the id of the snapshot that has the state: an earlier one if
  ///          nothing has changed since; empty if none was wanted.
  /// @errors  exceptions of the callback; errors of the store;
  ///          `invalid_argument` for a state without JSON; `deadline_exceeded`;
  ///          `aborted` if another invocation has continued the session. The
  ///          turn is then not over: it can be ended again.
  [[nodiscard]] task<snapshot_id>
  end_turn(std::optional<ai::finish_reason> reason = {}) const {
    return detail::end_conversation_turn(ctx_, reason);
  }

  /// Sends the gathered chunks now. Never waits.
  void flush() const {
    detail::access::owner(ctx_).flush();
  }

private:
  friend detail::access;

  explicit agent_responder(context ctx) noexcept : ctx_(ctx) {}

  context ctx_;
};

} // namespace tertulia
