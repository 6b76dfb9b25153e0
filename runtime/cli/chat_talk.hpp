// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/message.hpp>
#include <tertulia/snapshot.hpp>

#include <functional>
#include <optional>
#include <vector>

#include "chat_agent.hpp"

namespace tertulia::tool {

using chat_chunk = ai::stream_chunk<nothing>;

/// Effect of Ctrl-C while an answer is under way.
enum class ctrl_c {
  cancels_turn, ///< Ends the turn; the user can send another text.
  ends_process, ///< Ends the process, like any program that reads a pipe.
};

/// Connection to a chat session. It is opened by the first turn.
///
/// @threads one at a time.
class chat_talk {
public:
  chat_talk(chat_flow flow, ctrl_c interrupt)
    : flow_(std::move(flow)), interrupt_(interrupt) {}

  chat_talk(const chat_talk&) = delete;
  chat_talk& operator=(const chat_talk&) = delete;

  ~chat_talk() {
    leave();
  }

  [[nodiscard]] const session_id& id() const noexcept {
    return id_;
  }

  /// Outcome of a turn.
  enum class outcome { answered, cancelled };

  /// Sends messages and passes each chunk of the answer to `on_chunk`. After a
  /// cancelled turn the session is as it was before the turn, or as its last
  /// snapshot has it.
  /// @errors throws the error that made the turn fail, and exceptions of
  ///         `on_chunk`.
  outcome send(std::vector<ai::message> messages,
               const std::function<void(const chat_chunk&)>& on_chunk);

  /// Ends the live invocation, so that the store can change the session.
  void leave() noexcept;

  /// Switches to another session, or reloads the same one from the store.
  void go_to(session_id id);

private:
  using connection_type
    = ai::conversation_connection<nothing, ai::session_flow_response<nothing>>;

  void drop() noexcept;

  chat_flow flow_;
  ctrl_c interrupt_;
  session_id id_;
  std::optional<connection_type> live_;
};

} // namespace tertulia::tool
