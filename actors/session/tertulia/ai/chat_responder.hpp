// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/flow_responder.hpp>
#include <tertulia/detail/session_calls.hpp>

#include <optional>

namespace tertulia::ai {

/// Output stream of the body of a chat agent, which ends its turns itself.
///
/// @threads  as `flow_responder`.
/// @lifetime as `flow_responder`.
/// @design   docs/genkit.md 003 §1.5.
template <class Status>
class chat_responder : public flow_responder<Status> {
public:
  using flow_responder<Status>::flow_responder;

  /// Ends the turn: makes a snapshot if one is wanted, notifies the client of
  /// it, and then of the end.
  ///
  /// @param reason reason for which the turn ends; empty for that of the last
  ///               answer of a model in the session, if there is one.
  /// @returns the id of the snapshot that has the state; empty if none was
  ///          wanted.
  /// @errors  as `agent_responder::end_turn`.
  [[nodiscard]] task<snapshot_id> end_turn(std::optional<finish_reason> reason
                                           = {}) const {
    return detail::end_conversation_turn(this->ctx(), reason);
  }
};

} // namespace tertulia::ai
