// SPDX-License-Identifier: BSD-3-Clause

// A chat that outlives its connections: the session is in a store, and any
// client that knows its id can continue it.

#include <tertulia/define_agent.hpp>
#include <tertulia/describe.hpp>
#include <tertulia/memory_store.hpp>
#include <tertulia/runtime.hpp>

#include <iostream>
#include <string>
#include <utility>

#include "scripted_model.hpp"

namespace ai = tertulia::ai;

struct chat_state {
  ai::message_log messages;
};

BOOST_DESCRIBE_STRUCT(chat_state, (), (messages))

// --(session-agent-begin)--
tertulia::task<tertulia::agent_result<std::string>>
chat(tertulia::context ctx, tertulia::agent_session<chat_state> sess,
     tertulia::input<std::string> in,
     tertulia::agent_responder<std::string> out) {
  auto state = co_await sess.state(); // as the last connection left it
  while (auto input = co_await in.next()) {
    state.messages = state.messages.with(ai::user_text(*input));
    auto answer = co_await example::model.generate(
      ctx, state.messages, [&](auto word) { return out.send(word.text()); });
    state.messages = state.messages.with(*answer.message);
    co_await sess.update_state(state); // the store has it now
    co_await out.end_turn();
  }
  ai::artifact summary{
    "summary",
    {ai::part::text(std::to_string(state.messages.size()) + " messages")}};
  co_return tertulia::agent_result<std::string>{"conversation ended",
                                                {std::move(summary)}};
}
// --(session-agent-end)--

void say(auto& talk, const std::string& what) {
  talk.send(what);
  for (const auto& word : talk.responses())
    std::cout << word;
  std::cout << '\n';
}

int main() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};

  auto agent = tertulia::define_agent(
    rt, "chatAgent", chat,
    tertulia::with_snapshot_store(tertulia::spawn_memory_store(system)));

  // --(session-begin)--
  auto talk = agent.stream_bidi(); // a new session
  say(talk, "Hello! Tell me about C++.");
  say(talk, "What are coroutines used for?");
  talk.close();
  auto result = talk.output();
  std::cout << result.output << "; " << result.artifacts[0].name << ": "
            << ai::text_of(result.artifacts[0].parts) << '\n';

  // Later, on another connection:
  auto again = agent.stream_bidi(tertulia::with_session_id(result.session_id));
  say(again, "And actors?");
  again.close();
  result = again.output();
  std::cout << result.output << "; " << result.artifacts[0].name << ": "
            << ai::text_of(result.artifacts[0].parts) << '\n';
  // --(session-end)--
}
