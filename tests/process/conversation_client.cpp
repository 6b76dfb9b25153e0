// SPDX-License-Identifier: BSD-3-Clause

// Opens the session "s" of a port's "diary" agent, has one turn, prints the
// answer and then holds the session until it is killed.

#include <tertulia/remote_runtime.hpp>

#include <iostream>

#include "../support/node_conversations.hpp"
#include <unistd.h>

int main(int, char** argv) {
  using namespace tertulia;
  config cfg;
  cfg.with_network();
  caf::actor_system system{cfg};
  const remote_runtime there{system, "127.0.0.1",
                             static_cast<std::uint16_t>(std::stoi(argv[1]))};
  const auto agent
    = there.action<test::diary, std::string, agent_output<test::diary, int>,
                   std::string>("/agent/diary");
  auto talk = agent.stream_bidi(with_session_id("s"));
  talk.send("mine");
  for (const auto& x : talk.responses())
    std::cout << x << std::endl;
  for (;;)
    ::pause();
}
