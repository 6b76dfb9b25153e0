// SPDX-License-Identifier: BSD-3-Clause

// A session flow: the session runs the loop over the turns, and the program
// defines a single turn. With a store, each turn ends with a snapshot, whose id
// is in the last message of the turn. A conversation can continue from any of
// these snapshots.

#include <tertulia/ai/session_flow.hpp>
#include <tertulia/describe.hpp>
#include <tertulia/memory_store.hpp>

#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "scripted_model.hpp"

namespace ai = tertulia::ai;

// --(chat-flow-begin)--
struct chat_state {
  std::vector<std::string> topic_history;
};

BOOST_DESCRIBE_STRUCT(chat_state, (), (topic_history))

struct chat_status {
  std::string phase;
};

BOOST_DESCRIBE_STRUCT(chat_status, (), (phase))

tertulia::task<> chat(tertulia::context ctx, ai::flow_session<chat_state> sess,
                      ai::flow_responder<chat_status> out) {
  co_await sess.run_turns(
    ctx,
    [&](tertulia::context inner,
        const ai::conversation_input& input) -> tertulia::task<> {
      co_await out.send_status("generating");
      auto answer = co_await example::model.generate(
        inner, co_await sess.messages(),
        [&](auto chunk) { return out.send_chunk(std::move(chunk)); });
      co_await sess.add_messages(*answer.message);
      co_await sess.patch_custom([&](chat_state& x) {
        x.topic_history.push_back(example::topic_of(input.messages));
      });
      co_await out.send_status("complete");
    });
}
// --(chat-flow-end)--

// Sends a text and prints the answer.
void say(auto& talk, const std::string& what) {
  talk.send_text(what);
  for (const auto& item : talk.responses()) {
    if (item.status)
      std::cout << '[' << item.status->phase << "] ";
    if (item.chunk)
      std::cout << '"' << item.chunk->text() << "\" ";
    if (item.end_turn)
      std::cout << "your turn\n";
  }
}

void print_topics(const auto& response) {
  std::cout << response.state.messages.size() << " messages, topics:";
  for (const auto& topic : response.state.custom.topic_history)
    std::cout << ' ' << topic;
  std::cout << '\n';
}

int main() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};

  // --(chat-flow-define-begin)--
  auto flow = ai::define_session_flow(
    rt, "chatFlow", chat,
    tertulia::with_snapshot_store(tertulia::spawn_memory_store(system)));
  // --(chat-flow-define-end)--

  auto talk = flow.stream_bidi();
  say(talk, "Hello! Tell me about C++.");
  say(talk, "Explain coroutines!");
  talk.close();
  const auto response = talk.output();
  print_topics(response);

  // --(chat-flow-resume-begin)--
  // Each answer knows its snapshot: go on behind the first.
  const auto answer = response.state.messages.prefix(2).back();
  auto again = flow.stream_bidi(
    tertulia::with_snapshot_id(answer.metadata.at("snapshotId")));
  // --(chat-flow-resume-end)--
  say(again, "No, explain actors!");
  again.close();
  print_topics(again.output());

  // --(run-text-begin)--
  const auto last = flow.run_text("Hello! Tell me about C++.",
                                  tertulia::with_session_id("ada"));
  std::cout << last.session_id.str() << ": " << last.text << '\n';
  // --(run-text-end)--
}
