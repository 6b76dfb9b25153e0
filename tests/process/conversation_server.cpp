// SPDX-License-Identifier: BSD-3-Clause

// Offers the test conversations on a port, which it prints, until it is killed.

#include <iostream>

#include "../support/node_conversations.hpp"
#include <unistd.h>

int main() {
  tertulia::config cfg;
  cfg.with_network();
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  tertulia::test::define_node_conversations(rt);
  std::cout << rt.publish() << std::endl;
  for (;;)
    ::pause();
}
