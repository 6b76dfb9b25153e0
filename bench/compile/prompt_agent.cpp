// SPDX-License-Identifier: BSD-3-Clause

// A chat agent of a model and a prompt, and a thread that talks to it.

#include <tertulia/ai/offline_model.hpp>
#include <tertulia/ai/prompt_agent.hpp>
#include <tertulia/runtime.hpp>

#include <iostream>

namespace ai = tertulia::ai;

int main() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  auto guide = ai::define_prompt_agent(
    rt, "guide", ai::prompt{ai::define_offline_model(rt)});
  auto talk = guide.stream_bidi();
  talk.send_text("Hello!");
  for (const auto& item : talk.responses())
    if (item.chunk)
      std::cout << item.chunk->text();
}
