// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/memory_store.hpp>
#include <tertulia/store_contract.hpp>

#include <caf/actor_cast.hpp>

// Factory of a store of snapshots only: optional capabilities are not tested.
struct outside_store_factory : tertulia::contract_factory {
  tertulia::managed_store open(caf::actor_system& system) override {
    const tertulia::snapshot_store store = tertulia::spawn_memory_store(system);
    return caf::actor_cast<tertulia::managed_store>(store);
  }

  [[nodiscard]] bool is_managed() const override {
    return false;
  }
};

using tertulia::store_contract;
INSTANTIATE_TEST_SUITE_P(
  outside, store_contract,
  testing::Values(tertulia::store_kind::of<outside_store_factory>()));
