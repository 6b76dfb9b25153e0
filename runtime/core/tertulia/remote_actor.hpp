// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <caf/actor_cast.hpp>
#include <caf/actor_control_block.hpp>
#include <caf/actor_system.hpp>
#include <caf/timespan.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include <spdlog/fwd.h>

// Actors of another node, such as its store, over the transport that the
// configuration has chosen.

namespace tertulia {

namespace detail {

/// @param speaks message types of the actor, as CAF names them.
std::uint16_t
publish(caf::actor_system& system, const caf::strong_actor_ptr& what,
        std::set<std::string> speaks, std::uint16_t port,
        const std::string& address, const std::shared_ptr<spdlog::logger>& log);

/// @param speaks message types that the actor must have.
/// @param noun   for the error if it does not have them.
caf::strong_actor_ptr
find_remote(caf::actor_system& system, const std::string& host,
            std::uint16_t port, std::chrono::steady_clock::time_point until,
            const std::set<std::string>& speaks, const std::string& noun);

[[nodiscard]] std::chrono::steady_clock::time_point
limit_of_search(caf::timespan within);

} // namespace detail

/// Publishes an actor on a port, so that other processes can reach it with
/// `remote_actor`. As `runtime::publish` for a runtime: the same transport, and
/// the same trust in the holders of certificates.
///
/// @param what    a typed actor, such as a `managed_store`.
/// @param port    0 picks a free one.
/// @param address address of this machine to listen on, in numeric form.
/// @returns the port.
/// @errors as `runtime::publish`.
/// @threads from any thread.
template <class Handle>
std::uint16_t publish_actor(caf::actor_system& system, const Handle& what,
                            std::uint16_t port = 0,
                            const std::string& address = "127.0.0.1") {
  return detail::publish(system, caf::actor_cast<caf::strong_actor_ptr>(what),
                         system.message_types(what), port, address, nullptr);
}

/// Connects to an actor that another node has published; blocks.
///
/// ```
/// auto store = tertulia::remote_actor<tertulia::managed_store>(
///   system, "127.0.0.1", port);
/// ```
///
/// The handle dies with its node. CAF does not answer a request to a node that
/// is lost: use a time-out.
///
/// @param within longest wait.
/// @errors as the constructor of `remote_runtime`.
/// @threads any that may block.
template <class Handle>
[[nodiscard]] Handle
remote_actor(caf::actor_system& system, const std::string& host,
             std::uint16_t port,
             caf::timespan within = std::chrono::seconds{10}) {
  return caf::actor_cast<Handle>(
    detail::find_remote(system, host, port, detail::limit_of_search(within),
                        system.message_types<Handle>(), "actor of this type"));
}

} // namespace tertulia
