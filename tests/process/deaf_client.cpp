// SPDX-License-Identifier: BSD-3-Clause

// Opens a connection to a port's "countUp" flow with a window of 16, asks for
// more than that, says so, and reads nothing until it is killed.

#include <tertulia/config.hpp>
#include <tertulia/remote_runtime.hpp>

#include <iostream>

#include <unistd.h>

int main(int, char** argv) {
  using namespace tertulia;
  config cfg;
  cfg.with_network();
  caf::actor_system system{cfg};
  const remote_runtime there{system, "127.0.0.1",
                             static_cast<std::uint16_t>(std::stoi(argv[1]))};
  const auto count_up
    = there.action<nothing, int, int, int>("/bidi-flow/countUp");
  auto talk = count_up.stream_bidi(with_chunk_window(16));
  talk.send(1'000'000);
  std::cout << "asked" << std::endl;
  for (;;)
    ::pause();
}
