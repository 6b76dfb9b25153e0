// SPDX-License-Identifier: BSD-3-Clause

// A terminal for an agent whose tools ask before they act.

#include <tertulia/ai/define_model.hpp>
#include <tertulia/ai/prompt_agent.hpp>
#include <tertulia/memory_store.hpp>

#include <iostream>
#include <string>
#include <vector>

#include "scripted_model.hpp"

namespace ai = tertulia::ai;
using agent_type = ai::session_flow<tertulia::nothing, tertulia::nothing>;

// --(terminal-begin)--
/// Asks the user; anything but "yes" refuses.
ai::message ask(const ai::part& question) {
  std::string line;
  std::cout << '\n' << ai::question_text(question) << ' ' << std::flush;
  std::getline(std::cin, line);
  return line == "yes" ? ai::approval(question) : ai::refusal(question);
}

/// Talks until the end of the input, and returns the messages of the session.
std::size_t converse(const agent_type& agent, const std::string& session) {
  auto talk = agent.stream_bidi(tertulia::with_session_id(session));
  std::vector<ai::message> next;
  for (std::string line; !next.empty() || std::getline(std::cin, line);) {
    if (next.empty())
      next.push_back(ai::user_text(line));
    talk.send_messages(std::exchange(next, {}));
    for (const auto& item : talk.responses())
      if (item.chunk) {
        std::cout << item.chunk->text() << std::flush;
        for (const auto& question : ai::interrupts_in(item.chunk->content))
          next.push_back(ask(question));
      }
    std::cout << '\n';
  }
  talk.close();
  return talk.output().state.messages.size();
}
// --(terminal-end)--

int main() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  const auto open_door = ai::define_tool(
    rt, "open_door", "Opens the door.",
    [](ai::tool_context ctx, tertulia::nothing) -> tertulia::task<std::string> {
      const auto reply = co_await ctx.interrupt("Open the door: yes or no?");
      co_return reply == true ? "open" : "still closed";
    });
  const auto model = ai::define_model(
    rt, "script",
    example::scripted_model{
      {{"\"open\"", ai::model_text("It is open.")},
       {"\"still closed\"", ai::model_text("It stays closed.")},
       {"door",
        ai::message{ai::role::model, {ai::part::request("open_door", {})}}}}});
  const agent_type porter = ai::define_prompt_agent(
    rt, "porter", ai::prompt{model, ai::with_tools(open_door)},
    tertulia::with_snapshot_store(tertulia::spawn_memory_store(system)));
  std::cout << converse(porter, "night shift") << " messages\n";
}
