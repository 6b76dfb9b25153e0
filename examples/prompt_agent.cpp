// SPDX-License-Identifier: BSD-3-Clause

// An agent of a model, a prompt and a tool, with a conversation that lasts.

// --(all-begin)--
#include <tertulia/ai.hpp>
#include <tertulia/describe.hpp>
#include <tertulia/memory_store.hpp>

#include <iostream>
#include <string>

namespace ai = tertulia::ai;

struct city {
  std::string name;
};

BOOST_DESCRIBE_STRUCT(city, (), (name))

int main() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};

  auto model = ai::define_offline_model(rt); // or define_openai_model
  auto weather = ai::define_tool(
    rt, "weather", "Returns the weather in a city.",
    [](ai::tool_context, city where) -> tertulia::task<std::string> {
      co_return "sunny in " + where.name;
    });
  auto guide = ai::define_prompt_agent(
    rt, "guide",
    ai::prompt{model, ai::with_system("You help people who travel."),
               ai::with_tools(weather)},
    tertulia::with_snapshot_store(tertulia::spawn_memory_store(system)));

  auto talk = guide.stream_bidi(tertulia::with_session_id("ada"));
  for (const auto* text : {"My name is Ada.", "Use the weather tool for Lisbon",
                           "What is my name?"}) {
    talk.send_text(text);
    for (const auto& item : talk.responses()) // until the end of the turn
      if (item.chunk)
        std::cout << item.chunk->text();
    std::cout << '\n';
  }
}
// --(all-end)--
