// SPDX-License-Identifier: BSD-3-Clause

// An agent whose session has a history: it creates snapshots, and an earlier
// one is restored. Later snapshots are then orphaned, but not lost.

#include <tertulia/ai/message_log.hpp>
#include <tertulia/define_agent.hpp>
#include <tertulia/describe.hpp>
#include <tertulia/memory_store.hpp>
#include <tertulia/runtime.hpp>

#include <iostream>
#include <string>
#include <vector>

#include "scripted_model.hpp"

namespace ai = tertulia::ai;

// --(agent-begin)--
struct chat_state {
  ai::message_log messages;
};

BOOST_DESCRIBE_STRUCT(chat_state, (), (messages))

tertulia::task<std::string> chat(tertulia::context ctx,
                                 tertulia::agent_session<chat_state> sess,
                                 tertulia::input<std::string> in,
                                 tertulia::agent_responder<std::string> out) {
  auto state = co_await sess.state();
  while (auto input = co_await in.next()) {
    state.messages = state.messages.with(ai::user_text(*input));
    auto answer = co_await example::model.generate(
      ctx, state.messages, [&](auto word) { return out.send(word.text()); });
    state.messages = state.messages.with(*answer.message);
    co_await sess.update_state(state);
    co_await out.end_turn(); // here is a snapshot made,
  }
  co_return "done"; // and after this if the state has changed since
}
// --(agent-end)--

// Sends a text and prints the answer as it arrives.
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

  // --(snapshots-begin)--
  using enum tertulia::snapshot_event;
  auto agent = tertulia::define_agent(
    rt, "chatAgent", chat,
    tertulia::with_snapshot_store(tertulia::spawn_memory_store(system)),
    tertulia::with_snapshot_callback(
      tertulia::snapshot_on{turn_end, invocation_end}));
  // --(snapshots-end)--

  auto talk = agent.stream_bidi();
  say(talk, "Hello! Tell me about C++.");
  say(talk, "What are actors good for?");
  talk.close();
  const auto result = talk.output();
  std::cout << result.output << ", " << result.snapshot_ids.size()
            << " snapshots\n\n";

  // --(restore-begin)--
  auto again
    = agent.stream_bidi(tertulia::with_snapshot_id(result.snapshot_ids[0]));
  say(again, "Actually, tell me about coroutines instead.");
  again.close();
  std::cout << again.output().state.messages.size() << " messages\n\n";
  // --(restore-end)--

  // --(list-begin)--
  auto list = [&](bool with_orphans) {
    return rt.run_action<std::vector<tertulia::snapshot<chat_state>>>(
      "/snapshot-store/chatAgent/listSnapshots",
      tertulia::session_query{result.session_id, with_orphans});
  };
  std::cout << list(false).size() << " active snapshots, of all:\n";
  for (const auto& x : list(true))
    std::cout << x.id.str().substr(0, 8) << " after turn " << x.turn_index
              << ": " << x.state.messages.back().text()
              << (x.orphaned ? " (orphaned)" : "") << '\n';
  // --(list-end)--
}
