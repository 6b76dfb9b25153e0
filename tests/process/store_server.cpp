// SPDX-License-Identifier: BSD-3-Clause

// Publishes the store in a file on a port, which it prints, until it is killed:
// `store_server FILE PORT`.

#include <tertulia/remote_actor.hpp>
#include <tertulia/sqlite_store.hpp>

#include <cstdint>
#include <iostream>
#include <string>

#include "support/child_program.hpp"
#include "support/network_config.hpp"
#include <unistd.h>

namespace tertulia::test::store_server_process {

namespace {

void run(int, char** argv) {
  network_config cfg;
  caf::actor_system system{cfg};
  const auto store = spawn_sqlite_store(system, argv[1]);
  std::cout << publish_actor(system, store,
                             static_cast<std::uint16_t>(std::stoi(argv[2])))
            << std::endl;
  for (;;)
    ::pause();
}

const child_program program{"store_server", run};

} // namespace

} // namespace tertulia::test::store_server_process
