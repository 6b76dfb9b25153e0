// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/message.hpp>
#include <tertulia/snapshot.hpp>

#include <functional>
#include <optional>
#include <vector>

#include "chat_partner.hpp"

namespace tertulia::tool {

using chat_chunk = ai::stream_chunk<nothing>;

/// Effect of Ctrl-C while an answer is under way.
enum class ctrl_c {
  cancels_turn, ///< Ends the turn; the user can send another text.
  ends_process, ///< Ends the process, like any program that reads a pipe.
};

/// Life of a run that its chat leaves in the middle of an answer.
enum class run_life {
  ends,    ///< It ends with the process of the chat.
  is_kept, ///< It goes on; a chat that is started again attaches to it.
};

/// Connection to a chat session. It is opened by the first turn.
///
/// @threads one at a time.
class chat_talk {
public:
  chat_talk(chat_flow flow, ctrl_c interrupt, run_life life)
    : flow_(std::move(flow)), interrupt_(interrupt), life_(life) {}

  chat_talk(const chat_talk&) = delete;
  chat_talk& operator=(const chat_talk&) = delete;

  ~chat_talk() {
    leave();
  }

  [[nodiscard]] const session_id& id() const noexcept {
    return id_;
  }

  /// Returns whether the session has a live connection of this chat.
  [[nodiscard]] bool is_open() const noexcept {
    return live_.has_value();
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

  /// Passes each chunk of the answer that is under way to `on_chunk`, from its
  /// beginning on, as `send` does.
  /// @param on_begin is called before, if an answer is under way.
  /// @returns empty if no answer is under way (any more).
  std::optional<outcome>
  attach(const std::function<void()>& on_begin,
         const std::function<void(const chat_chunk&)>& on_chunk);

  /// Returns whether a session has a kept run.
  [[nodiscard]] bool is_live(const session_id& id) const;

  /// Returns whether the session has a kept run, in the middle of an answer.
  [[nodiscard]] bool answer_is_under_way() const;

  /// Returns why the model ended the last answer; empty if no model was called.
  [[nodiscard]] std::optional<ai::finish_reason> finish_reason() const {
    return finish_reason_;
  }

  /// Ends the live invocation, so that the store can change the session.
  void leave() noexcept;

  /// Switches to another session, or reloads the same one from the store.
  void go_to(session_id id);

private:
  using connection_type
    = ai::conversation_connection<nothing, ai::session_flow_response<nothing>>;

  void open(bool or_open);

  /// Returns the live kept run of a session.
  [[nodiscard]] std::optional<run_info> run_of(const session_id& id) const;

  /// Passes on the chunks of a turn.
  /// @param begin sends the input, if there is one to send.
  outcome hear(const std::function<void()>& begin,
               const std::function<void(const chat_chunk&)>& on_chunk);

  void drop() noexcept;

  chat_flow flow_;
  ctrl_c interrupt_;
  run_life life_;
  std::optional<ai::finish_reason> finish_reason_;
  session_id id_;
  std::optional<connection_type> live_;
};

} // namespace tertulia::tool
