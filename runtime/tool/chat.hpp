// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/message.hpp>
#include <tertulia/snapshot.hpp>

#include <optional>
#include <string>
#include <vector>

#include "chat_agent.hpp"
#include "chat_answer.hpp"
#include "chat_talk.hpp"
#include "tool.hpp"

namespace tertulia::tool {

/// A chat as its commands see it: an agent, a session that people are in, and
/// what tools want to know of them.
///
/// @lifetime within that of the tool.
class chat {
public:
  chat(tool& t, chat_agent& agent, chat_manner manner, ctrl_c interrupt)
    : tool_(t), agent_(agent), manner_(manner), talk_(agent.flow(), interrupt) {
  }

  // -- talking ----------------------------------------------------------------

  /// Says something, or answers what a tool has asked, and prints the answer.
  /// @errors throws what has failed the turn.
  void say(const std::string& text);

  /// What was said so far, oldest first.
  [[nodiscard]] std::vector<std::string> said_before();

  // -- sessions ---------------------------------------------------------------

  [[nodiscard]] session_ref session() const {
    return {chat_key, talk_.id()};
  }

  /// What the store knows of the session; empty before anything was said.
  [[nodiscard]] std::optional<session_info> info();

  /// Begins a new session.
  void begin();

  /// Goes on with a session.
  /// @errors throws a failure with `data_loss` if its state is damaged. It is
  ///         the session then nevertheless, so that people can restore another
  ///         snapshot of it.
  void go_to(const session_info& x);

  /// Stops work on the session, so that the store may change it; what is said
  /// next goes on with what the store has.
  void pause();

  // -- remarks ----------------------------------------------------------------

  /// Whether somebody wants to read more than the answers.
  [[nodiscard]] bool is_talkative() const {
    return manner_ == chat_manner::talkative && !tool_.as_json();
  }

  /// Remarks something on standard error, for whoever wants to read it.
  void tell(const std::string& text) const;

  // -- what it is made of -----------------------------------------------------

  [[nodiscard]] tool& of() noexcept {
    return tool_;
  }

  [[nodiscard]] chat_agent& agent() noexcept {
    return agent_;
  }

  /// Whether somebody wants to leave.
  bool over = false;

private:
  /// Finds what tools still ask in the session.
  void look_for_questions();

  [[nodiscard]] std::optional<ai::message_log> messages();

  /// What a turn says: a text, or all answers once there are as many as
  /// questions.
  [[nodiscard]] std::vector<ai::message> said(const std::string& text);

  /// Asks what has no answer yet, as an answer does.
  void ask_again();

  tool& tool_;
  chat_agent& agent_;
  chat_manner manner_;
  chat_talk talk_;
  std::vector<ai::part> questions_;
  std::vector<ai::message> answers_;
};

} // namespace tertulia::tool
