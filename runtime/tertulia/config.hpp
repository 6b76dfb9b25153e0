// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <caf/actor_system_config.hpp>

namespace tertulia {

/// Teaches an application's own configuration our messages and errors. Call it
/// before the actor system is made.
void add_messages_to(caf::actor_system_config& cfg);

/// Adds CAF's network module, with the heartbeats without which a frozen node
/// is never noticed. Every node must use it, or none.
///
/// CAF's own network protocol has no authentication: keep it on loopback or a
/// private network.
void add_network_to(caf::actor_system_config& cfg);

/// The configuration of a program that has no other.
///
/// Reads no file and no command line: those belong to the program.
///
/// ```
/// tertulia::config cfg;
/// caf::actor_system system{cfg};
/// tertulia::runtime rt{system};
/// ```
///
/// @lifetime must outlive its actor system.
class config : public caf::actor_system_config {
public:
  config();

  /// Adds the network module; see `add_network_to`.
  config& with_network();
};

} // namespace tertulia
