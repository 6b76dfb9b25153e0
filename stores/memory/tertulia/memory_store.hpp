// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/protocol.hpp>
#include <tertulia/store.hpp>

#include <caf/fwd.hpp>

namespace tertulia {

/// Spawns a store that keeps everything in memory, for tests and for
/// conversations that need not outlive their process.
///
/// The store keeps states as objects, which share their common parts; it does
/// not serialize them. A snapshot costs about 500 bytes plus the new part of
/// its state. A state is stored once, however many records and sessions refer
/// to it.
///
/// The store is supervised: if its actor dies, a new one continues with the
/// same data. This costs about one microsecond per save.
///
/// @errors   as the protocol states, and `unavailable` if the actor dies.
/// @threads  any.
/// @lifetime the store and its data end with the last handle. If a value is
///           modified through a pointer in it, without its state, reads of that
///           state fail with `data_loss`.
/// @design   docs/sessions.md#records-and-states.
[[nodiscard]] managed_store spawn_memory_store(caf::actor_system& system);

} // namespace tertulia
