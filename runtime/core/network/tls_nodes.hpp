// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/open.hpp>

#include <caf/actor_system.hpp>
#include <caf/io/middleman_actor.hpp>
#include <caf/io/scribe.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <spdlog/fwd.h>

// Bridge between CAF's network module, which only uses plain sockets of this
// process, and other nodes, which only use TLS.

namespace tertulia::network {

/// Returns CAF's actor for the communication with other nodes.
/// @pre the system has the network module.
[[nodiscard]] caf::actor node_broker(caf::actor_system& system);

/// Publishes a desk on a port that accepts only nodes whose certificate comes
/// from the same authority as the certificate of this node.
/// @returns the port.
/// @errors `failed_precondition` for certificates that cannot be used;
///         `invalid_argument` for an address that is not numeric; `unavailable`
///         if the port cannot be opened.
std::uint16_t publish_over_tls(caf::actor_system& system,
                               const front_desk_actor& desk, std::uint16_t port,
                               const std::string& address,
                               std::shared_ptr<spdlog::logger> log);

/// Connects and completes the handshake; each side checks the certificate of
/// the other.
/// @returns the connection, for CAF's broker.
/// @errors `failed_precondition` for certificates that cannot be used;
///         `permission_denied` if one side does not trust the other;
///         `unavailable`, `deadline_exceeded`.
[[nodiscard]] caf::io::scribe_ptr
connect_over_tls(caf::actor_system& system, const std::string& host,
                 std::uint16_t port,
                 std::chrono::steady_clock::time_point until);

} // namespace tertulia::network
