// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <caf/actor_system_config.hpp>

#include <string>

namespace tertulia {

/// Certificates of a node and of the authority that it trusts, as PEM files.
/// `tertulia pki` creates them.
///
/// Nodes use TLS 1.3 and both sides present a certificate. Every certificate
/// that the authority has issued is accepted: names and addresses are not
/// compared. The holder of a certificate can open every registered action,
/// impersonate any other node, and end the process of a peer with malformed
/// messages. So certificates are for nodes and trusted programs only, and the
/// authority must be your own.
///
/// @threads a value.
struct tls_files {
  /// Returns the files that `tertulia pki issue DIRECTORY NAME` has created.
  static tls_files of(const std::string& directory, const std::string& name);

  std::string certificate; ///< of this node
  std::string key;         ///< of this node; not encrypted
  std::string authority;   ///< issuer of the certificates of all nodes
};

/// Transports between nodes without certificates.
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
/// frozen node, and TLS between the nodes. All nodes must use it, or none.
///
/// The files are read when a runtime is published and when it connects to
/// another one; errors in them are reported there as `failed_precondition`.
void add_network_to(caf::actor_system_config& cfg, const tls_files& files);

/// Adds the network module with another transport; read its description first.
void add_network_to(caf::actor_system_config& cfg, transport choice);

/// Configuration of a program without a configuration of its own.
///
/// It does not read files or the command line: these belong to the program.
///
/// ```
/// tertulia::config cfg;
/// cfg.with_network(tertulia::tls_files::of("pki", "server"));
/// caf::actor_system system{cfg};
/// tertulia::runtime rt{system};
/// rt.publish(4711);
/// ```
///
/// @lifetime must outlive its actor system.
class config : public caf::actor_system_config {
public:
  config();

  /// Adds the network module; see `add_network_to`.
  config& with_network(const tls_files& files);
  config& with_network(transport choice);
};

} // namespace tertulia
