// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/message.hpp>
#include <tertulia/snapshot.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "chat_answer.hpp"
#include "chat_partner.hpp"
#include "chat_talk.hpp"
#include "command_environment.hpp"

namespace tertulia::tool {

/// State of a chat that its commands work on: an agent, the current session,
/// and the open questions of tools.
///
/// @lifetime must not outlive the tool.
class chat {
public:
  chat(tool& t, chat_partner& agent, chat_manner manner, ctrl_c interrupt,
       run_life life)
    : tool_(t), agent_(agent), manner_(manner),
      talk_(agent.flow(), interrupt, life) {}

  // -- talking ----------------------------------------------------------------

  /// Sends a text, or the answer to a question of a tool, and prints the
  /// response.
  /// @errors throws the error that made the turn fail.
  void send(const std::string& text);

  /// Prints the answer that is under way, if there is one.
  /// @errors throws the error that made the turn fail.
  void hear_answer_under_way();

  /// Prints what somebody else's conversation brings, until its run has ended.
  /// @errors throws a failure if the session has no live run.
  void watch();

  /// Returns the earlier texts of the user, oldest first.
  [[nodiscard]] std::vector<std::string> earlier_texts();

  // -- sessions ---------------------------------------------------------------

  [[nodiscard]] session_ref session() const {
    return {agent_.key(), talk_.id()};
  }

  /// Returns the stored session; empty before its first turn.
  [[nodiscard]] std::optional<session_info> info();

  /// Returns whether a session has a kept run in a running program.
  [[nodiscard]] bool is_live(const session_id& id) const {
    return talk_.is_live(id);
  }

  /// Starts a new session.
  void begin();

  /// Switches to a session.
  /// @errors throws a failure with `data_loss` if its state is damaged. The
  ///         chat has switched to the session nevertheless, so that the user
  ///         can restore another snapshot of it.
  void go_to(const session_info& x);

  /// Ends the invocation, so that the store can change the session. The next
  /// turn starts from the stored session.
  void pause();

  // -- remarks ----------------------------------------------------------------

  /// Returns whether the output may contain more than the answers.
  [[nodiscard]] bool is_talkative() const {
    return manner_ == chat_manner::talkative && !tool_.as_json();
  }

  /// Prints a remark on standard error if the chat is talkative.
  void tell(const std::string& text) const;

  // -- parts ------------------------------------------------------------------

  [[nodiscard]] tool& environment() noexcept {
    return tool_;
  }

  [[nodiscard]] chat_partner& agent() noexcept {
    return agent_;
  }

  /// Makes the program leave the chat after the current line.
  void end() noexcept {
    ended_ = true;
  }

  [[nodiscard]] bool ended() const noexcept {
    return ended_;
  }

private:
  /// Function that passes on the chunks of a turn.
  using turn_reader = std::function<std::optional<chat_talk::outcome>(
    const std::function<void(const chat_chunk&)>&)>;

  /// Prints an answer.
  /// @param old_questions those of before, which a turn without an effect
  ///                      leaves open.
  void print_answer(const turn_reader& hear,
                    std::vector<ai::part> old_questions);

  /// Loads the unanswered questions of tools from the session.
  void look_for_questions();

  [[nodiscard]] std::optional<ai::message_log> messages();

  /// Returns the messages for a turn: a text, or all answers once every
  /// question has one. Empty while answers are missing.
  [[nodiscard]] std::vector<ai::message> turn_messages(const std::string& text);

  /// Repeats the unanswered questions, in the format of an answer.
  void repeat_questions();

  tool& tool_;
  chat_partner& agent_;
  chat_manner manner_;
  chat_talk talk_;
  std::vector<ai::part> questions_;
  std::vector<ai::message> answers_;
  bool ended_ = false;
};

} // namespace tertulia::tool
