// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/memory_store.hpp>
#include <tertulia/store_contract.hpp>

// A store of snapshots alone: what else one can do is not asked of it.
struct outside_store_factory {
  tertulia::snapshot_store open(caf::actor_system& system) {
    return tertulia::spawn_memory_store(system);
  }
};

namespace tertulia {
INSTANTIATE_TYPED_TEST_SUITE_P(outside, store_contract, outside_store_factory);
}
