// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/memory_store.hpp>
#include <tertulia/store_contract.hpp>

#include <memory>
#include <string>

namespace tertulia {

namespace {

struct memory_store_factory {
  managed_store open(caf::actor_system& system) {
    return spawn_memory_store(system);
  }
};

} // namespace

INSTANTIATE_TYPED_TEST_SUITE_P(memory, store_contract, memory_store_factory);

} // namespace tertulia
