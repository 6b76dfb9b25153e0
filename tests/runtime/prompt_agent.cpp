// SPDX-License-Identifier: BSD-3-Clause

// Messages that a client of an agent made of a model and a prompt may send, and
// the answers it receives.

#include <tertulia/ai/prompt_agent.hpp>
#include <tertulia/memory_store.hpp>

#include <string>
#include <utility>
#include <vector>

#include "support/scripted_model.hpp"

using namespace std::literals;

namespace tertulia::test::prompt_agent_tests {

namespace {

struct prompt_agent : generating {
  auto define_chat() {
    const auto asks_back = ai::define_tool(
      *rt, "ask", "", [](ai::tool_context ctx, nothing) -> task<json> {
        co_return co_await ctx.interrupt("well?");
      });
    return ai::define_prompt_agent(*rt, "chat",
                                   ai::prompt{model(),
                                              ai::with_system("Be brief."),
                                              ai::with_tools(asks_back)},
                                   with_snapshot_store(store));
  }

  template <class Client>
  void say(Client& client, std::vector<ai::message> messages) {
    client.send(ai::conversation_input{std::move(messages)});
  }

  template <class Client>
  static status_error error_of(const Client& client) {
    const auto& end = client.received().end;
    return end && end->reason ? to_status(end->reason)
                              : status_error{errc::ok, ""};
  }

  managed_store store = spawn_memory_store(system);
};

} // namespace

TEST_F(prompt_agent, what_its_model_does_not_stream_is_heard_once) {
  script->streams = false;
  answers(model_says(ai::part::text("Hello!")));
  auto client = open(define_chat());
  say(client, {ai::user_text("Hi")});
  std::string received;
  for (const auto& x : client.received().chunks)
    if (x.chunk)
      received += x.chunk->text();
  EXPECT_EQ(received, "Hello!");
}

TEST_F(prompt_agent, an_input_without_messages_is_no_answer_to_the_model) {
  answers(model_says(ai::part::text("Hello!")),
          model_says(ai::part::text("Hello yourself!")));
  auto client = open(define_chat(), with_session_id("s"));
  say(client, {ai::user_text("Hi")});
  say(client, {});
  const auto error = error_of(client);
  EXPECT_EQ(error.code(), errc::invalid_argument);
  EXPECT_EQ(error.message(), "$.messages: there is nothing to answer: the last "
                             "message is from the model");
  EXPECT_EQ(script->asked.size(), 1u) << "it does not answer itself";
  auto again = open(rt->action("/session-flow/chat"), with_session_id("s"));
  again.send(json::object());
  EXPECT_EQ(error_of(again).code(), errc::invalid_argument)
    << "also in a later invocation";
}

TEST_F(prompt_agent, an_input_without_messages_lets_it_say_the_first_word) {
  answers(model_says(ai::part::text("Welcome!")));
  auto client = open(define_chat());
  say(client, {});
  EXPECT_EQ(client.received().turns, 1u);
  EXPECT_EQ(lines_of(script->asked.at(0).messages), lines{});
}

TEST_F(prompt_agent, an_input_without_messages_goes_on_with_what_is_open) {
  answers(model_says(ai::part::request("ask", {}, "a")),
          model_says(ai::part::text("Fine.")));
  auto client = open(define_chat());
  say(client, {ai::user_text("Hi")});
  say(client, {});
  EXPECT_EQ(client.received().turns, 2u) << "the question is put again";
  ai::conversation_state<nothing> left;
  left.messages = left.messages.with(ai::user_text("Hi"));
  ai::define_prompt_agent(*rt, "bare", ai::prompt{model()});
  auto other
    = open(rt->action("/session-flow/bare"),
           with_init{to_json(ai::conversation_init<nothing>{{}, left})});
  other.send(json::object());
  EXPECT_EQ(other.received().turns, 1u) << "nobody has answered the user";
  EXPECT_EQ(received(1), lines{"user: Hi"});
}

TEST_F(prompt_agent, a_message_that_is_empty_is_refused) {
  const auto chat = define_chat();
  const std::vector<ai::message> empty{ai::message{ai::role::user, {}},
                                       ai::user_text(""),
                                       ai::message{ai::role::tool, {}}};
  for (const auto& x : empty) {
    auto client = open(chat);
    say(client, {ai::user_text("Hi"), x});
    const auto error = error_of(client);
    EXPECT_EQ(error.code(), errc::invalid_argument);
    EXPECT_EQ(error.message(), "$.messages[1].content: the message is empty");
  }
  EXPECT_TRUE(script->asked.empty());
}

} // namespace tertulia::test::prompt_agent_tests
