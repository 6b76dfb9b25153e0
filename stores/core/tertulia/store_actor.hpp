// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/protocol.hpp>
#include <tertulia/store_tables.hpp>

#include <caf/fwd.hpp>

#include <cstdint>
#include <memory>

namespace tertulia {

/// Options of the actor of a store.
///
/// @threads a value.
struct store_actor_options {
  store_actor_options() = default;

  /// Maximum number of requests in one transaction. With 1, each request has
  /// its own and is answered at once.
  std::uint32_t max_batch = 1;

  /// Whether the actor has a thread of its own, because the engine blocks.
  bool blocks = false;
};

/// Spawns the actor of a store, which executes the requests of the store
/// protocol on the tables of any engine. `supervise_store` restarts it.
///
/// Changes that wait in the mailbox are put into one transaction and are
/// answered after its commit. A request that fails does not affect the others.
///
/// @param    tables may outlive the actor; another actor can then continue with
///           them.
/// @errors   throws `invalid_argument` for a batch of 0.
/// @threads  any.
/// @lifetime the actor ends with its last handle. On an exit message it commits
///           first. Whatever ends it, it answers the requests that it has not
///           answered.
/// @design   docs/stores.md#rows.
[[nodiscard]] managed_store
spawn_store_actor(caf::actor_system& system,
                  std::shared_ptr<store_tables> tables,
                  store_actor_options options = {});

} // namespace tertulia
