// SPDX-License-Identifier: BSD-3-Clause

// A client that keeps the state itself, such as a web page with local storage:
// it sends the state when it opens a connection, and receives it at the end.
// The agent needs no store.

#include <tertulia/ai/chat_agent.hpp>
#include <tertulia/describe.hpp>

#include <iostream>
#include <map>
#include <string>
#include <utility>

#include "scripted_model.hpp"

namespace ai = tertulia::ai;

struct chat_state {
  std::map<std::string, std::string> user_preferences;
};

BOOST_DESCRIBE_STRUCT(chat_state, (), (user_preferences))

tertulia::task<> chat(tertulia::context ctx, ai::chat_session<chat_state> sess,
                      tertulia::input<ai::conversation_input> in,
                      ai::chat_responder<tertulia::nothing> out) {
  while (auto input = co_await in.next()) {
    co_await sess.add_messages(input->messages);
    auto answer = co_await example::model.generate(
      ctx, co_await sess.messages(),
      [&](auto chunk) { return out.send_chunk(std::move(chunk)); });
    co_await sess.add_messages(*answer.message);
    co_await out.end_turn();
  }
}

int main() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  auto agent = ai::define_chat_agent(rt, "chatAgent", chat);

  // --(client-state-begin)--
  ai::conversation_state<chat_state> state;
  state.custom.user_preferences["language"] = "English";

  for (auto* line : {"Hello! Tell me about C++.", "And coroutines?"}) {
    auto talk = agent.stream_bidi(ai::with_state(state));
    talk.send_text(line);
    talk.close();
    for (const auto& item : talk.responses())
      if (item.chunk)
        std::cout << item.chunk->text();
    std::cout << '\n';
    state = talk.output().state; // for the next time
  }
  // --(client-state-end)--

  std::cout << state.messages.size() << " messages, and the preferences are "
            << tertulia::to_json(state.custom.user_preferences) << '\n';
}
