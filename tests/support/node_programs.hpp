// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/remote_runtime.hpp>
#include <tertulia/runtime.hpp>

#include <caf/actor_system.hpp>

#include <cstdint>
#include <iostream>
#include <string>

#include "network_config.hpp"
#include <unistd.h>

// What the programs have in common that are one of two nodes.

namespace tertulia::test {

[[noreturn]] inline void wait_to_be_killed() {
  for (;;)
    ::pause();
}

/// Offers what `define` defines on a port, which it prints, until it is killed.
template <class Define>
[[noreturn]] void offer_to_nodes(Define define) {
  network_config cfg;
  caf::actor_system system{cfg};
  runtime rt{system};
  define(rt);
  std::cout << rt.publish() << std::endl;
  wait_to_be_killed();
}

/// What another process offers on a port of this machine.
struct node_at_port {
  explicit node_at_port(const std::string& port)
    : system(cfg),
      there(system, "127.0.0.1", static_cast<std::uint16_t>(std::stoi(port))) {}

  network_config cfg;
  caf::actor_system system;
  remote_runtime there;
};

} // namespace tertulia::test
