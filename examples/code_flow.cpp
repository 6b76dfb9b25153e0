// SPDX-License-Identifier: BSD-3-Clause

// A session flow that creates files. Artifacts streamed in a turn are in the
// snapshot of that turn. A file replaces an older one of the same name.

#include <tertulia/ai/session_flow.hpp>
#include <tertulia/describe.hpp>
#include <tertulia/memory_store.hpp>

#include <iostream>
#include <string>
#include <utility>

namespace ai = tertulia::ai;

// --(code-flow-begin)--
struct code_state {
  std::string language;
};

BOOST_DESCRIBE_STRUCT(code_state, (), (language))

struct code_status {
  std::string phase;
};

BOOST_DESCRIBE_STRUCT(code_status, (), (phase))

tertulia::task<> write_code(tertulia::context ctx,
                            ai::flow_session<code_state> sess,
                            ai::flow_responder<code_status> out) {
  co_await sess.set_custom("C++");
  co_await sess.run_turns(
    ctx,
    [&](tertulia::context,
        const ai::conversation_input& input) -> tertulia::task<> {
      ai::artifact file{
        "main.cpp",
        {ai::part::text("int main() {} // " + input.messages.back().text())},
        {{"language", "C++"}}};
      co_await out.send_status("code generated");
      co_await out.send_artifact(std::move(file));
      co_await sess.add_messages(ai::model_text("Here is the code."));
    });
}
// --(code-flow-end)--

int main() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  auto flow = ai::define_session_flow(
    rt, "codeFlow", write_code,
    tertulia::with_snapshot_store(tertulia::spawn_memory_store(system)));

  auto talk = flow.stream_bidi();
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

  const auto last = rt.run_action<ai::session_flow_snapshot<code_state>>(
    "/snapshot-store/codeFlow/getSnapshot",
    tertulia::snapshot_query{response.snapshot_id});
  std::cout << "The snapshot of turn " << last.turn_index << " has:\n";
  for (const auto& file : last.state.artifacts)
    std::cout << file.name << ": " << ai::text_of(file.parts) << '\n';
}
