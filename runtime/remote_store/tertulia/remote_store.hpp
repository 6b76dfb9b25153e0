// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/protocol.hpp>
#include <tertulia/remote_runtime.hpp>

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
/// store may have executed them. Requests that come while it is away are held,
/// and are sent when it is back; of more than 10 000, those that are too many
/// get `resource_exhausted`. If the node stays away for longer than `within`,
/// they get `unavailable`, and so does each later one at once until it is back.
/// A conversation whose request fails ends with that error, and continues from
/// what the store has when it is opened again.
///
/// The store of the other node must know the holders of its leases, as every
/// store of this library does.
///
/// @param within time after which requests are no longer held, from the loss of
///               the node or from this call on, and longest time of an attempt
///               to connect. An attempt that is under way at that moment ends
///               within a second. Between attempts there are pauses of 10 ms to
///               1 s. A requester with a shorter time-out, such as
///               `with_store_timeout`, gets `deadline_exceeded`; its request is
///               still sent when the node is back.
/// @errors   none here but of the requests: those of the store, `unavailable`,
///           and at once, because waiting does not help, `failed_precondition`
///           of a system without a network and `permission_denied` of a node
///           that does not trust the certificate.
/// @threads  any.
/// @lifetime ends with its last handle, which must not outlive the system. The
///           end of the system waits for an attempt to connect, at most for
///           `within`; without TLS, for as long as the kernel tries to reach a
///           host that does not respond.
/// @design   docs/stores.md#a-store-on-another-node.
[[nodiscard]] managed_store
connect_store(caf::actor_system& system, std::string host, std::uint16_t port,
              caf::timespan within = std::chrono::seconds{10});

/// Returns the store of a conversation of a published runtime, with a handle
/// that outlives the node of that runtime and connects again when the node is
/// lost.
///
/// Requests that come while the node is away are held or refused as for a store
/// that is published by itself.
///
/// @param key    of the conversation; empty if all there have the same store.
/// @param within time after which requests are no longer held. Each attempt to
///               connect takes as long as `there` waits for answers.
/// @errors   none here but of the requests: those for a store that is published
///           by itself, and those of `remote_runtime::store`.
/// @threads  any.
/// @lifetime ends with its last handle, which must not outlive the system. The
///           end of the system waits for an attempt to connect.
/// @design   docs/stores.md#a-store-on-another-node.
[[nodiscard]] managed_store
connect_store(caf::actor_system& system, remote_runtime there,
              std::string key = {},
              caf::timespan within = std::chrono::seconds{10});

} // namespace tertulia
