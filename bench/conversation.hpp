// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/chat_agent.hpp>
#include <tertulia/ai/session_flow.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "client.hpp"

// Common parts of the questions about conversations: equivalent bodies for
// agents and flows, and clients that take turns.

namespace tertulia::bench {

/// Text of one message.
inline std::string utterance() {
  return std::string(200, 'x');
}

/// Input of one turn.
inline payload one_message() {
  std::vector<ai::message> messages;
  messages.push_back(ai::user_text(utterance()));
  return payload::of(ai::conversation_input{std::move(messages)});
}

/// Returns a history with the given number of messages.
inline ai::conversation_state<nothing> history(std::size_t messages) {
  ai::conversation_state<nothing> result;
  for (std::size_t i = 0; i < messages; ++i)
    result.messages = result.messages.with(
      i % 2 == 0 ? ai::user_text(utterance()) : ai::model_text(utterance()));
  return result;
}

/// Adds an answer to the messages of each input and streams one chunk of it.
inline task<> chat_agent(context, ai::chat_session<nothing> chat,
                         input<ai::conversation_input> in,
                         ai::chat_responder<nothing> out) {
  while (auto input = co_await in.next()) {
    input->messages.push_back(ai::model_text(utterance()));
    co_await chat.add_messages(std::move(input->messages));
    co_await out.send_text("hello");
    co_await out.end_turn();
  }
}

inline task<> chat_flow(context ctx, ai::flow_session<nothing> chat,
                        ai::flow_responder<nothing> out) {
  co_await chat.run_turns(
    ctx, [&](context, const ai::conversation_input&) -> task<> {
      co_await chat.add_messages(ai::model_text(utterance()));
      co_await out.send_text("hello");
    });
}

/// Answers without using the session: measures the cost of the engine itself.
inline task<> trivial_agent(context, ai::chat_session<nothing>,
                            input<ai::conversation_input> in,
                            ai::chat_responder<nothing> out) {
  while (const auto input = co_await in.next()) {
    co_await out.send_text("hello");
    co_await out.end_turn();
  }
}

inline task<> trivial_flow(context ctx, ai::flow_session<nothing> chat,
                           ai::flow_responder<nothing> out) {
  co_await chat.run_turns(
    ctx, [&](context, const ai::conversation_input&) -> task<> {
      co_await out.send_text("hello");
    });
}

/// Takes turns on one connection, which stays open.
class turn_client : public staying_client {
public:
  using staying_client::staying_client;

private:
  void next() override {
    say(one_message());
  }

  void on_turn_end() override {
    end();
  }
};

/// Opens a connection, takes all its turns on it and closes it.
class visiting_client : public client_state {
public:
  using client_state::client_state;

private:
  void on_start(std::uint64_t operations) override {
    left_ = operations;
    connect();
  }

  void on_opened() override {
    next();
  }

  void on_turn_end() override {
    --left_;
    next();
  }

  void on_finished() override {
    arrive();
  }

  void next() {
    if (left_ > 0)
      say(one_message());
    else
      close();
  }

  std::uint64_t left_ = 0;
};

/// Opens a connection for each turn.
class brief_client : public returning_client {
public:
  using returning_client::returning_client;

private:
  void on_opened() override {
    say(one_message());
  }

  void on_turn_end() override {
    close();
  }
};

} // namespace tertulia::bench
