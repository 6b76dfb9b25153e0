// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/memory_store.hpp>
#include <tertulia/store_actor.hpp>
#include <tertulia/store_supervisor.hpp>

#include <caf/actor_system.hpp>

#include <memory>

#include "memory_tables.hpp"

namespace tertulia {

managed_store spawn_memory_store(caf::actor_system& system) {
  return supervise_store(system, [tables = std::make_shared<memory_tables>()](
                                   caf::actor_system& system) {
    return spawn_store_actor(system, tables);
  });
}

} // namespace tertulia
