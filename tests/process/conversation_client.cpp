// SPDX-License-Identifier: BSD-3-Clause

// Opens the session "s" of the "diary" agent at a port, has one turn, prints
// the answer and then holds the session until it is killed.

#include <iostream>

#include "support/child_program.hpp"
#include "support/node_conversations.hpp"
#include "support/node_programs.hpp"

namespace tertulia::test::conversation_client_process {

namespace {

void run(int, char** argv) {
  const node_at_port node{argv[1]};
  const auto agent
    = node.there
        .action<diary, std::string, agent_output<diary, int>, std::string>(
          "/agent/diary");
  auto talk = agent.stream_bidi(with_session_id("s"));
  talk.send("mine");
  for (const auto& x : talk.responses())
    std::cout << x << std::endl;
  wait_to_be_killed();
}

const child_program program{"conversation_client", run};

} // namespace

} // namespace tertulia::test::conversation_client_process
