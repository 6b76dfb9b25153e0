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
  cancels_turn, ///< The one who typed it stays and says something else.
  ends_process, ///< As in any program that reads a pipe.
};

/// One session of a chat that is live, or will be when something is said.
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

  /// How a turn has ended.
  enum class outcome { answered, cancelled };

  /// Says something and hears the answer. If Ctrl-C cancels the turn, the
  /// session is then as it was before, or as its last snapshot has it.
  /// @errors throws what has failed the turn, and what `hear` throws.
  outcome say(std::vector<ai::message> said,
              const std::function<void(const chat_chunk&)>& hear);

  /// Ends the live invocation, so that the store can be asked to change what
  /// the session is.
  void leave() noexcept;

  /// Goes on with another session, or with the same one as the store has it.
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
