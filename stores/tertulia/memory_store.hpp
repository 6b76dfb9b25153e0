// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/protocol.hpp>
#include <tertulia/store.hpp>

#include <caf/fwd.hpp>

namespace tertulia {

/// Spawns a store that keeps everything in memory: for tests, and for
/// conversations that need not outlive their process.
///
/// It keeps states as they are, with all that they share with each other, and
/// writes none of them down: a snapshot costs about 500 bytes and what is new
/// in it. A state is kept once, however many records and sessions have it.
///
/// The store is supervised: should its actor die, another one goes on with what
/// it knew. That costs a save about one microsecond.
///
/// @errors   as the protocol says, and `unavailable` if the actor dies.
/// @threads  any.
/// @lifetime the store and what it knows end with the last handle. A value that
///           is changed behind the back of its state, through a pointer in it,
///           is answered with `data_loss`.
/// @design   README §5.15 "Records and states".
[[nodiscard]] managed_store spawn_memory_store(caf::actor_system& system);

} // namespace tertulia
