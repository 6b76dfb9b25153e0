// SPDX-License-Identifier: BSD-3-Clause

// Messages that a client of an agent made of a model and a prompt may send, and
// the answers it receives.

#include <tertulia/ai/prompt_agent.hpp>
#include <tertulia/memory_store.hpp>

#include <string>
#include <utility>
#include <vector>

#include "support/refusal.hpp"
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

  managed_store store = spawn_memory_store(system);
};

} // namespace

TEST_F(prompt_agent, what_its_model_does_not_stream_is_heard_once) {
  script->streams = false;
  answers("Hello!");
  auto client = open(define_chat());
  say(client, "Hi");
  std::string received;
  for (const auto& x : client.received().chunks)
    if (x.chunk)
      received += x.chunk->text();
  EXPECT_EQ(received, "Hello!");
}

TEST_F(prompt_agent, an_input_without_messages_is_no_answer_to_the_model) {
  answers("Hello!", "Hello yourself!");
  auto client = open(define_chat(), with_session_id("s"));
  say(client, "Hi");
  client.send(ai::conversation_input{});
  EXPECT_EQ(
    error_text(client.error()),
    "invalid_argument: $.messages: there is nothing to answer: the last "
    "message is from the model");
  EXPECT_EQ(script->asked.size(), 1u) << "it does not answer itself";
  auto again = open(rt->action("/session-flow/chat"), with_session_id("s"));
  again.send(json::object());
  EXPECT_EQ(again.error().code(), errc::invalid_argument)
    << "also in a later invocation";
}

TEST_F(prompt_agent, an_input_without_messages_lets_it_say_the_first_word) {
  answers("Welcome!");
  auto client = open(define_chat());
  client.send(ai::conversation_input{});
  EXPECT_EQ(client.received().turns, 1u);
  EXPECT_EQ(lines_of(script->asked.at(0).messages), lines{});
}

TEST_F(prompt_agent, an_input_without_messages_goes_on_with_what_is_open) {
  answers(model_says(ai::part::request("ask", {}, "a")), "Fine.");
  auto client = open(define_chat());
  say(client, "Hi");
  client.send(ai::conversation_input{});
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
    EXPECT_EQ(error_text(client.error()),
              "invalid_argument: $.messages[1].content: the message is empty");
  }
  EXPECT_TRUE(script->asked.empty());
}

} // namespace tertulia::test::prompt_agent_tests
