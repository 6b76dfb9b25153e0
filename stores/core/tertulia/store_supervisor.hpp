// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/protocol.hpp>
#include <tertulia/store.hpp>
#include <tertulia/supervise.hpp>

#include <caf/fwd.hpp>

#include <functional>

namespace tertulia {

/// Function that starts a store, or throws if it cannot be started. Called from
/// any thread, one call at a time. May block for as long as opening a file
/// takes.
using store_factory = std::function<managed_store(caf::actor_system&)>;

/// Spawns an actor that supervises a store: it delegates all requests to the
/// store and restarts the store after it has died, as `supervise`, and knows
/// who holds the leases of its sessions.
///
/// The store answers the sender of a request directly. CAF answers for a store
/// that dies with requests in its mailbox, and the supervisor while the store
/// is down: `unavailable`. Requests are not queued while the store is down. A
/// store that keeps a request for later must answer it when it dies, with
/// `unavailable`: the request may have been executed. If a store does not
/// answer, clients wait until their own time-out.
///
/// @param    factory starts the store, now and after each death.
/// @errors   throws the exceptions of the first call of `factory`, and
///           `invalid_argument` for inconsistent options. An exception of a
///           later call counts as a death.
/// @threads  any.
/// @lifetime the supervisor ends with its last handle or on an exit message,
///           and the store with it. On an exit message the supervisor ends
///           after the store. A supervisor that waits for a restart lives until
///           the pause is over. `factory` is kept as long as the supervisor
///           lives. The shutdown of the actor system waits for both, as for
///           every other actor, but not for a pause: handles must not outlive
///           the system, and must not be held or registered while
///           `await_all_actors_done` is called.
/// @design   docs/sessions.md#records-and-states.
[[nodiscard]] managed_store supervise_store(caf::actor_system& system,
                                            store_factory factory,
                                            restart_options options = {});

} // namespace tertulia
