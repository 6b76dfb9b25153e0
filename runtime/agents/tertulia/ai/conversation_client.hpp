// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/actor_client.hpp>
#include <tertulia/ai/conversation.hpp>
#include <tertulia/ai/interrupt.hpp>
#include <tertulia/ai/tool_progress.hpp>

#include <concepts>
#include <string>
#include <utility>
#include <vector>

namespace tertulia::ai {

/// Client of a chat agent or a session flow for an actor: an `actor_client`
/// that sends messages, hears text and answers questions.
///
/// ```
/// using guide_type = ai::session_flow<nothing, nothing>;
///
/// struct guest : ai::conversation_client<guide_type> {
///   using conversation_client::conversation_client;
///   void on_text(const std::string& x) override { std::cout << x; }
///   void on_question(const ai::part& x) override { answer(ai::approval(x)); }
///   void on_turn_end() override {
///     if (!send_answers())
///       close();
///   }
/// };
/// ```
///
/// The complete program is examples/agent_actor_client.cpp.
///
/// @tparam Handle type of the handle, such as `session_flow<nothing, trip>`.
/// @threads  as `actor_client`.
/// @lifetime as `actor_client`.
/// @design   docs/engine.md#clients.
template <class Handle>
class conversation_client : public actor_client<Handle> {
public:
  static_assert(std::same_as<typename Handle::in_type, conversation_input>,
                "a conversation_client is that of a chat agent or a session "
                "flow; an actor_client is that of any handle");

  using typename actor_client<Handle>::stream_type;
  using typename actor_client<Handle>::out_type;

  using actor_client<Handle>::actor_client;

  /// Sends the messages of a turn.
  /// @errors as `send`.
  void send_messages(std::vector<message> messages) {
    this->send(std::move(messages));
  }

  /// Sends one text message of the user.
  /// @errors as `send`.
  void send_text(std::string text) {
    std::vector<message> messages;
    messages.push_back(user_text(std::move(text)));
    this->send(std::move(messages));
  }

  /// Keeps the answer to a question, such as `approval(question)`, until
  /// `send_answers`.
  void answer(message x) {
    answers_.push_back(std::move(x));
  }

  /// Sends all answers as the next input. The turn with the questions must have
  /// ended.
  /// @returns false if there are none: nothing is sent then.
  /// @errors as `send`.
  bool send_answers() {
    if (answers_.empty())
      return false;
    send_messages(std::exchange(answers_, {}));
    return true;
  }

protected:
  /// Called for each piece of text of the model's answer.
  virtual void on_text(const std::string&) {}

  /// Called for each request of a tool that waits for a person. Without an
  /// answer the tool is not run.
  virtual void on_question(const part&) {}

  /// Called for each report of a tool that has not responded yet.
  virtual void on_progress(const tool_progress&) {}

  /// Calls `on_text`, `on_question` and `on_progress`. Overridden by a client
  /// that reads everything itself.
  void on_chunk(stream_type& x) override {
    if (!x.chunk)
      return;
    if (const auto text = x.chunk->text(); !text.empty())
      on_text(text);
    for (const auto& question : interrupts_in(x.chunk->content))
      on_question(question);
    for (const auto& report : progress_in(x.chunk->content))
      on_progress(report);
  }

private:
  std::vector<message> answers_;
};

} // namespace tertulia::ai
