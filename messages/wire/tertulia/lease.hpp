// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/open.hpp>
#include <tertulia/protocol.hpp>
#include <tertulia/store.hpp>

namespace tertulia {

/// Holder of a lease: the connection that the lease keeper can cancel.
using lease_holder = protocol<caf::result<void>(cancel_atom, caf::error)>;

/// Lease keeper: ensures that a session has at most one live invocation.
///
/// A lease is held by a session actor and ends with it, or earlier when its
/// connection releases it. The connection does so before it sends its
/// completion message, so that a client that has received the message can open
/// the session again.
///
/// - claim: requests the lease of that session for the sender, whose connection
///   is given. Answered when the sender has the lease; `failed_precondition` if
///   it is held. On a take-over the connection of the holder is cancelled
///   first. A later take-over ends the wait of an earlier one with `aborted`.
/// - release: ends the claim of that session actor, whether it holds the lease
///   or waits for it.
using lease_actor
  = protocol<caf::result<void>(claim_atom, session_ref, lease_holder, if_live),
             caf::result<void>(release_atom, caf::actor_addr)>;

} // namespace tertulia
