// SPDX-License-Identifier: BSD-3-Clause

// Opens a connection to the "greet" flow at a port, has one turn, prints the
// answer and then holds the connection until it is killed.

#include <iostream>

#include "support/child_program.hpp"
#include "support/node_flows.hpp"
#include "support/node_programs.hpp"

namespace tertulia::test::node_client_process {

namespace {

void run(int, char** argv) {
  const node_at_port node{argv[1]};
  const auto greet = node.there.action<std::string, greeting, int, greeting>(
    "/bidi-flow/greet");
  auto talk = greet.stream_bidi(with_init(std::string{"dear "}));
  talk.send("you", 0.5);
  for (const auto& x : talk.responses())
    std::cout << x.word << std::endl;
  wait_to_be_killed();
}

const child_program program{"node_client", run};

} // namespace

} // namespace tertulia::test::node_client_process
