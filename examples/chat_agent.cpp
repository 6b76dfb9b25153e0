// SPDX-License-Identifier: BSD-3-Clause

// A chat agent whose session has the messages and a value of the program's own.
// The client receives the model's text, status updates, and the id of every
// snapshot.

#include <tertulia/ai/chat_agent.hpp>
#include <tertulia/describe.hpp>
#include <tertulia/memory_store.hpp>

#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "scripted_model.hpp"

namespace ai = tertulia::ai;

// --(chat-agent-begin)--
struct chat_state {
  std::vector<std::string> topic_history;
};

BOOST_DESCRIBE_STRUCT(chat_state, (), (topic_history))

struct chat_status {
  std::string phase;
  std::string details{}; // need not be given
};

BOOST_DESCRIBE_STRUCT(chat_status, (), (phase, details))

tertulia::task<> chat(tertulia::context ctx, ai::chat_session<chat_state> sess,
                      tertulia::input<ai::conversation_input> in,
                      ai::chat_responder<chat_status> out) {
  while (auto input = co_await in.next()) {
    co_await sess.add_messages(input->messages);
    co_await out.send_status("generating");
    auto answer = co_await example::model.generate(
      ctx, co_await sess.messages(),
      [&](auto chunk) { return out.send_chunk(std::move(chunk)); });
    co_await sess.add_messages(*answer.message);
    co_await sess.patch_custom([&](chat_state& x) {
      x.topic_history.push_back(example::topic_of(input->messages));
    });
    co_await out.send_status("complete");
    co_await out.end_turn(); // the snapshot, then the end of the turn
  }
}
// --(chat-agent-end)--

std::string short_form(const tertulia::snapshot_id& id) {
  return id.str().substr(0, 8);
}

int main() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};

  // --(chat-begin)--
  using enum tertulia::snapshot_event;
  auto agent = ai::define_chat_agent(
    rt, "chatAgent", chat,
    tertulia::with_snapshot_store(tertulia::spawn_memory_store(system)),
    tertulia::with_snapshot_callback(
      tertulia::snapshot_on{turn_end, invocation_end}));

  auto talk = agent.stream_bidi();
  for (auto* line : {"Hello! Tell me about C++.", "Explain coroutines!"}) {
    talk.send_text(line);
    for (const auto& item : talk.responses()) { // this turn
      if (item.status)
        std::cout << '[' << item.status->phase << "] ";
      if (item.chunk)
        std::cout << '"' << item.chunk->text() << "\" ";
      if (item.snapshot_created)
        std::cout << "[snapshot " << short_form(item.snapshot_created) << "] ";
      if (item.end_turn)
        std::cout << "your turn\n";
    }
  }
  talk.close();
  const auto response = talk.output();
  // --(chat-end)--

  std::cout << response.state.messages.size() << " messages, topics:";
  for (const auto& topic : response.state.custom.topic_history)
    std::cout << ' ' << topic;

  // --(chat-list-begin)--
  const auto snapshots
    = rt.run_action<std::vector<ai::agent_snapshot<chat_state>>>(
      "/snapshot-store/chatAgent/listSnapshots",
      tertulia::session_query{response.session_id});
  // --(chat-list-end)--
  std::cout << '\n' << snapshots.size() << " snapshots in the session\n";
}
