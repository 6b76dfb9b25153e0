// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/store.hpp>

#include <caf/fwd.hpp>

namespace tertulia {

/// Factory of the store that a test is about, with the files of the store.
///
/// Each test makes a factory of its own. The factory outlives the actor system,
/// so it holds files rather than actors.
///
/// @threads called from the thread of the test only.
/// @design  docs/stores.md#the-contract.
class contract_factory {
public:
  contract_factory() = default;
  contract_factory(const contract_factory&) = delete;
  contract_factory& operator=(const contract_factory&) = delete;
  virtual ~contract_factory() = default;

  /// Prepares the actor system, for example for a store on another node.
  virtual void configure(caf::actor_system_config&) {}

  /// Opens the store. It is empty at the first call; each further call follows
  /// the end of the store before.
  /// @returns its handle; by `caf::actor_cast` if it is not a managed store.
  virtual managed_store open(caf::actor_system& system) = 0;

  /// Returns whether sessions can be listed, titled, copied, pruned, deleted
  /// and verified, snapshots can be labelled and annotated, kept runs can be
  /// listed, and the store can be vacuumed. Without it these requests are not
  /// sent.
  [[nodiscard]] virtual bool is_managed() const {
    return true;
  }

  /// Returns whether a store that is opened again, after the one before has
  /// ended, has its data.
  [[nodiscard]] virtual bool is_durable() const {
    return false;
  }

  /// Changes the stored data of a state in the open store.
  /// @returns whether the factory can do so; its tests are skipped otherwise.
  virtual bool corrupt(const state_id&) {
    return false;
  }

  /// Removes the stored data of a state from the open store.
  /// @returns whether the factory can do so; its tests are skipped otherwise.
  virtual bool lose(const state_id&) {
    return false;
  }
};

} // namespace tertulia
