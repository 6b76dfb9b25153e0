// SPDX-License-Identifier: BSD-3-Clause

// A session flow without a store, whose client keeps the state. Each turn may
// then run on any node.

#include <tertulia/ai/session_flow.hpp>
#include <tertulia/describe.hpp>

#include <iostream>
#include <string>
#include <utility>

#include "scripted_model.hpp"

namespace ai = tertulia::ai;

struct chat_state {
  std::string language;
  int turns = 0;
};

BOOST_DESCRIBE_STRUCT(chat_state, (), (language, turns))

tertulia::task<> chat(tertulia::context ctx, ai::flow_session<chat_state> sess,
                      ai::flow_responder<tertulia::nothing> out) {
  co_await sess.run_turns(
    ctx,
    [&](tertulia::context inner,
        const ai::conversation_input&) -> tertulia::task<> {
      auto answer = co_await example::model.generate(
        inner, co_await sess.messages(),
        [&](auto chunk) { return out.send_chunk(std::move(chunk)); });
      co_await sess.add_messages(*answer.message);
      co_await sess.patch_custom([](chat_state& x) { ++x.turns; });
    });
}

int main() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  auto flow = ai::define_session_flow(rt, "chatFlow", chat);

  // --(client-state-flow-begin)--
  ai::conversation_state<chat_state> state;
  state.custom.language = "English";

  for (auto* line : {"Hello! Tell me about C++.", "And coroutines?"}) {
    auto talk = flow.stream_bidi(ai::with_state(state));
    talk.send_text(line);
    talk.close();
    for (const auto& item : talk.responses())
      if (item.chunk)
        std::cout << item.chunk->text();
    std::cout << '\n';
    state = talk.output().state; // for the next time
  }
  // --(client-state-flow-end)--

  std::cout << state.messages.size() << " messages in " << state.custom.turns
            << " turns, in " << state.custom.language << '\n';
}
