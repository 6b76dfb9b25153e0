// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/open.hpp>
#include <tertulia/protocol.hpp>
#include <tertulia/store.hpp>

#include <caf/actor_system.hpp>

namespace tertulia::detail {

/// Hears from the lease keeper that it must end.
using lease_holder = protocol<caf::result<void>(cancel_atom, caf::error)>;

/// Sees to it that a session has one live invocation at a time.
///
/// A lease is held by a session actor and ends with it, or sooner when its
/// connection says so: before it says its last word, so that a client that has
/// heard it can open the session again.
///
/// - claim: the lease of that name for the sender, whose end the connection
///   given brings about. Answered when the lease is the sender's;
///   `failed_precondition` if somebody holds it; when taken over, the holder is
///   cancelled first. A later take-over ends the wait of an earlier one with
///   `aborted`.
/// - release: what that session holds or waits for.
using lease_actor
  = protocol<caf::result<void>(claim_atom, session_ref, lease_holder, if_live),
             caf::result<void>(release_atom, caf::actor_addr)>;

/// Spawns the lease keeper of one runtime.
lease_actor spawn_leases(caf::actor_system& system);

} // namespace tertulia::detail
