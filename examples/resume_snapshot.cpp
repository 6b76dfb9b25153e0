// SPDX-License-Identifier: BSD-3-Clause

// A chat agent resumes from any of its snapshots. Nothing is lost: the session
// then has two branches.

#include <tertulia/ai/chat_agent.hpp>
#include <tertulia/memory_store.hpp>

#include <iostream>
#include <utility>
#include <vector>

#include "scripted_model.hpp"

namespace ai = tertulia::ai;

tertulia::task<> chat(tertulia::context ctx,
                      ai::chat_session<tertulia::nothing> sess,
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
  auto agent = ai::define_chat_agent(
    rt, "chatAgent", chat,
    tertulia::with_snapshot_store(tertulia::spawn_memory_store(system)),
    tertulia::with_snapshot_callback(tertulia::snapshot_always{}));

  // --(remember-begin)--
  tertulia::snapshot_id remembered;
  auto talk = agent.stream_bidi();
  talk.send_text("Hello! Tell me about C++.");
  for (const auto& item : talk.responses())
    if (item.snapshot_created)
      remembered = item.snapshot_created;
  // --(remember-end)--
  talk.send_text("What are coroutines used for?");
  talk.close();
  talk.output();

  // --(resume-begin)--
  auto again = agent.stream_bidi(tertulia::with_snapshot_id(remembered));
  again.send_text("Let us go on with actors.");
  for (const auto& item : again.responses())
    if (item.chunk)
      std::cout << item.chunk->text();
  again.close();
  // --(resume-end)--

  std::cout << "\n\nWhat was said on this branch:\n";
  const auto response = again.output();
  for (const auto& message : response.state.messages)
    std::cout << "- " << message.text() << '\n';
  const auto snapshots
    = rt.run_action<std::vector<ai::agent_snapshot<tertulia::nothing>>>(
      "/snapshot-store/chatAgent/listSnapshots",
      tertulia::session_query{response.session_id});
  std::cout << "Snapshots on all branches:\n";
  for (const auto& x : snapshots) {
    std::cout << "- " << x.snapshot_id.str().substr(0, 8);
    if (x.parent_id)
      std::cout << " after " << x.parent_id.str().substr(0, 8);
    std::cout << '\n';
  }
}
