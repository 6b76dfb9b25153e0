// SPDX-License-Identifier: BSD-3-Clause

// An agent that creates files. Artifacts are streamed, kept in the session, and
// part of its snapshots. A file replaces an older one of the same name.

#include <tertulia/ai/chat_agent.hpp>
#include <tertulia/describe.hpp>
#include <tertulia/memory_store.hpp>

#include <iostream>
#include <string>
#include <utility>

namespace ai = tertulia::ai;

// --(code-agent-begin)--
struct code_state {
  std::string language;
};

BOOST_DESCRIBE_STRUCT(code_state, (), (language))

struct code_status {
  std::string phase;
};

BOOST_DESCRIBE_STRUCT(code_status, (), (phase))

tertulia::task<> write_code(tertulia::context,
                            ai::chat_session<code_state> sess,
                            tertulia::input<ai::conversation_input> in,
                            ai::chat_responder<code_status> out) {
  co_await sess.set_custom("C++");
  while (auto input = co_await in.next()) {
    co_await sess.add_messages(input->messages);
    ai::artifact file{
      "main.cpp",
      {ai::part::text("int main() {} // " + input->messages.back().text())},
      {{"language", "C++"}}};
    co_await out.send_status("code generated");
    co_await out.send_artifact(std::move(file));
    co_await sess.add_messages(ai::model_text("Here is the code."));
    co_await out.end_turn();
  }
}
// --(code-agent-end)--

int main() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  auto agent = ai::define_chat_agent(
    rt, "codeAgent", write_code,
    tertulia::with_snapshot_store(tertulia::spawn_memory_store(system)),
    tertulia::with_snapshot_callback(tertulia::snapshot_always{}));

  auto talk = agent.stream_bidi();
  for (auto* wish : {"does nothing", "does nothing, but faster"}) {
    talk.send_text(wish);
    for (const auto& item : talk.responses()) {
      if (item.status)
        std::cout << '[' << item.status->phase << "]\n";
      if (item.artifact)
        std::cout << item.artifact->name << ": "
                  << ai::text_of(item.artifact->parts) << '\n';
    }
  }
  talk.close();
  const auto response = talk.output();

  // --(code-snapshots-begin)--
  for (const auto& id : response.snapshot_ids) {
    const auto then = rt.run_action<ai::agent_snapshot<code_state>>(
      "/snapshot-store/codeAgent/getSnapshot", tertulia::snapshot_query{id});
    for (const auto& file : then.state.artifacts)
      std::cout << "after turn " << then.turn_index << ": " << file.name << ", "
                << ai::text_of(file.parts) << '\n';
  }
  // --(code-snapshots-end)--
}
