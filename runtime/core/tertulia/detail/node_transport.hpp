// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <caf/actor_control_block.hpp>
#include <caf/fwd.hpp>
#include <caf/io/scribe.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include <spdlog/fwd.h>

namespace tertulia::detail {

/// Transport between nodes in place of CAF's own, which is plain text. The
/// interface is here and its implementation is a component, so that a program
/// without encryption does not link its libraries.
///
/// @threads all members, for several actor systems at once.
class node_transport {
public:
  virtual ~node_transport() = default;

  /// Publishes an actor on a port.
  /// @param speaks message types of the actor, as CAF names them.
  /// @returns the port.
  /// @errors throws `failed_precondition` for a configuration that cannot be
  ///         used; `invalid_argument` for an address that is not numeric;
  ///         `unavailable` if the port cannot be opened.
  virtual std::uint16_t publish(caf::actor_system& system,
                                const caf::strong_actor_ptr& what,
                                std::set<std::string> speaks,
                                std::uint16_t port, const std::string& address,
                                std::shared_ptr<spdlog::logger> log) const = 0;

  /// Connects and completes the handshake.
  /// @returns the connection, for CAF's broker.
  /// @errors throws `failed_precondition` for a configuration that cannot be
  ///         used; `permission_denied` if one side does not trust the other;
  ///         `unavailable`, `deadline_exceeded`.
  [[nodiscard]] virtual caf::io::scribe_ptr
  connect(caf::actor_system& system, const std::string& host,
          std::uint16_t port,
          std::chrono::steady_clock::time_point until) const = 0;
};

/// Adds CAF's network module, with the heartbeats that are required to detect a
/// frozen node.
/// @param encrypted transport of its nodes, the same object for each
///        configuration of this process; null for CAF's own transport.
/// @lifetime the transport must outlive every actor system.
void add_network_module(caf::actor_system_config& cfg,
                        const node_transport* encrypted);

/// Returns the transport of the nodes of this system; null for CAF's own.
/// @errors throws `failed_precondition` if it does not have the network module,
///         or if the module was not added by `add_network_to`.
[[nodiscard]] const node_transport* transport_of(caf::actor_system& system);

/// Returns CAF's actor for the communication with other nodes.
/// @pre the system has the network module.
[[nodiscard]] caf::actor node_broker(caf::actor_system& system);

/// Notes that a node has answered through the connection that this system has
/// opened to it. Returns at once.
/// @pre the system has the network module.
/// @threads from any thread.
void confirm_connection(caf::actor_system& system, const caf::node_id& node);

/// Closes the connection that this system has opened to a node, unless it was
/// confirmed. Returns at once; the actors of that node are lost a bit later.
///
/// Such a connection may never answer. CAF knows a connection by the number of
/// its socket, and forgets it when all messages that came through it were read.
/// If the next connection has the same number and comes before that, CAF
/// forgets this one: it answers no request that comes through it while it is
/// open.
///
/// @pre the system has the network module.
/// @threads from any thread.
void close_silent_connection(caf::actor_system& system,
                             const caf::node_id& node);

} // namespace tertulia::detail
