// SPDX-License-Identifier: BSD-3-Clause

// Opens a connection to a port's "greet" flow, has one turn, prints the answer
// and then holds the connection until it is killed.

#include <tertulia/remote_runtime.hpp>

#include <iostream>

#include "../support/node_flows.hpp"
#include <unistd.h>

int main(int, char** argv) {
  using namespace tertulia;
  config cfg;
  cfg.with_network();
  caf::actor_system system{cfg};
  const remote_runtime there{system, "127.0.0.1",
                             static_cast<std::uint16_t>(std::stoi(argv[1]))};
  const auto greet
    = there.action<std::string, test::greeting, int, test::greeting>(
      "/bidi-flow/greet");
  auto talk = greet.stream_bidi(with_init(std::string{"dear "}));
  talk.send("you", 0.5);
  for (const auto& x : talk.responses())
    std::cout << x.word << std::endl;
  for (;;)
    ::pause();
}
