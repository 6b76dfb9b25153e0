// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <caf/actor_system_config.hpp>

namespace tertulia {

/// Transports between nodes without certificates. <tertulia/tls.hpp> has the
/// one with certificates.
enum class transport {
  /// No encryption and no authentication. One header of 32 bytes ends the
  /// process, and any program that reaches the port can send it, so on loopback
  /// any local user. A header that announces 4 GB makes the process allocate
  /// and zero 4 GB. Use it only if no other program can reach the port, such as
  /// within a network namespace.
  plain_for_trusted_hosts,
};

/// Adds the messages and errors of this library to an application's own
/// configuration. Call it before the actor system is created.
void add_messages_to(caf::actor_system_config& cfg);

namespace detail {

/// Checks that the configuration of a system went through `add_messages_to`.
/// Otherwise its actors could send messages to each other, but not to another
/// node, and errors of this library would have no text.
/// @errors throws `failed_precondition`.
void check_messages_of(caf::actor_system& system);

} // namespace detail

/// Adds CAF's network module, with the heartbeats that are required to detect a
/// frozen node. All nodes must use the same transport. Read the description of
/// this one first; the usual one is in <tertulia/tls.hpp>.
void add_network_to(caf::actor_system_config& cfg, transport choice);

/// Configuration of a program without a configuration of its own.
///
/// It does not read files or the command line: these belong to the program.
///
/// ```
/// tertulia::config cfg;
/// tertulia::add_network_to(cfg, tertulia::tls_files::of("pki", "server"));
/// caf::actor_system system{cfg};
/// tertulia::runtime rt{system};
/// rt.publish(4711);
/// ```
///
/// @threads  one at a time, until the actor system is made; then no member may
///           change.
/// @lifetime must outlive its actor system.
class config : public caf::actor_system_config {
public:
  config();
};

} // namespace tertulia
