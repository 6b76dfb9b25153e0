// SPDX-License-Identifier: BSD-3-Clause

// Publishes the store in a file on a port, which it prints, until it is killed:
// `store_server FILE PORT`.

#include <tertulia/remote_actor.hpp>
#include <tertulia/sqlite_store.hpp>

#include <cstdint>
#include <iostream>
#include <string>

#include "support/network_config.hpp"
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc != 3)
    return 2;
  tertulia::test::network_config cfg;
  caf::actor_system system{cfg};
  const auto store = tertulia::spawn_sqlite_store(system, argv[1]);
  std::cout << tertulia::publish_actor(
    system, store, static_cast<std::uint16_t>(std::stoi(argv[2])))
            << std::endl;
  for (;;)
    ::pause();
}
