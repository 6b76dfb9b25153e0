// SPDX-License-Identifier: BSD-3-Clause

// Opens a connection to the "countUp" flow at a port with a window of 16, asks
// for more chunks than that, prints "asked", and reads nothing until it is
// killed.

#include <iostream>

#include "support/child_program.hpp"
#include "support/node_programs.hpp"

namespace tertulia::test::deaf_client_process {

namespace {

void run(int, char** argv) {
  const node_at_port node{argv[1]};
  const auto count_up
    = node.there.action<nothing, int, int, int>("/bidi-flow/countUp");
  auto talk = count_up.stream_bidi(with_chunk_window(16));
  talk.send(1'000'000);
  std::cout << "asked" << std::endl;
  wait_to_be_killed();
}

const child_program program{"deaf_client", run};

} // namespace

} // namespace tertulia::test::deaf_client_process
