// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/memory_store.hpp>
#include <tertulia/store_contract.hpp>

// Factory of a store of snapshots only: optional capabilities are not tested.
struct outside_store_factory {
  tertulia::snapshot_store open(caf::actor_system& system) {
    return tertulia::spawn_memory_store(system);
  }
};

namespace tertulia {
INSTANTIATE_TYPED_TEST_SUITE_P(outside, store_contract, outside_store_factory);
}
