// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/protocol.hpp>
#include <tertulia/supervise.hpp>

#include <caf/actor_system.hpp>
#include <caf/timespan.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace tertulia {

/// Returns a store that another node has published (`publish_actor`), with a
/// handle that outlives that node: when the node is lost, the handle connects
/// again, to the same host and port.
///
/// ```
/// auto store = tertulia::connect_store(system, "10.0.0.7", 4711);
/// ```
///
/// Requests that have no answer when the node is lost get `unavailable`; the
/// store may have executed them. So do requests while the node cannot be
/// reached, at once or when an attempt to connect has failed. A conversation
/// whose request fails ends with that error, and continues from what the store
/// has when it is opened again.
///
/// The store of the other node must know the holders of its leases, as every
/// store of this library does.
///
/// @param within  longest wait for the node; requests wait for as long while an
///                attempt is made.
/// @param options pauses between the attempts.
/// @errors   `invalid_argument` for inconsistent options. A node that cannot be
///           reached is not an error here but of the requests.
/// @threads  any.
/// @lifetime as `supervise`: ends with its last handle, which must not outlive
///           the actor system. The end of the system waits for an attempt to
///           connect, at most for `within`.
/// @design   docs/stores.md#a-store-on-another-node.
[[nodiscard]] managed_store
connect_store(caf::actor_system& system, std::string host, std::uint16_t port,
              restart_options options = {},
              caf::timespan within = std::chrono::seconds{10});

} // namespace tertulia
