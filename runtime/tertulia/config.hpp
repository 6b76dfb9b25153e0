// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <caf/actor_system_config.hpp>

#include <string>

namespace tertulia {

/// The certificate of a node and that of the authority which it trusts, as PEM
/// files. `tertulia pki` makes them.
///
/// Nodes use TLS 1.3 and both sides show a certificate. A good one is any that
/// the authority has issued: names and addresses are not compared. Whoever
/// holds one can open whatever is registered, pose as any other node, and end
/// the process of a peer with malformed messages. So certificates are for nodes
/// and trusted programs, and the authority is one of your own.
///
/// @threads a value.
struct tls_files {
  /// Returns the files that `tertulia pki issue DIRECTORY NAME` has made.
  static tls_files of(const std::string& directory, const std::string& name);

  std::string certificate; ///< of this node
  std::string key;         ///< of this node; not encrypted
  std::string authority;   ///< issuer of the certificates of all nodes
};

/// Ways for nodes to talk to each other without certificates.
enum class transport {
  /// No encryption and no authentication. One header of 32 bytes kills the
  /// process, whoever sends it: any program that reaches the port, so on
  /// loopback any local user. A header that announces 4 GB has it allocate and
  /// zero 4 GB. Only where nobody else can reach the port, such as within a
  /// network namespace.
  plain_for_trusted_hosts,
};

/// Teaches an application's own configuration our messages and errors. Call it
/// before the actor system is made.
void add_messages_to(caf::actor_system_config& cfg);

namespace detail {

/// Refuses a system whose configuration never saw `add_messages_to`: its actors
/// could talk to each other, but not to another node, and errors of ours would
/// have no text.
/// @errors throws `failed_precondition`.
void check_messages_of(caf::actor_system& system);

} // namespace detail

/// Adds CAF's network module, with the heartbeats without which a frozen node
/// is never noticed, and TLS between the nodes. Every node must use it, or
/// none.
///
/// The files are read when a runtime is published and when another one is
/// connected to; what is wrong with them is `failed_precondition` there.
void add_network_to(caf::actor_system_config& cfg, const tls_files& files);

/// The same with another transport; read its description first.
void add_network_to(caf::actor_system_config& cfg, transport how);

/// The configuration of a program that has no other.
///
/// Reads no file and no command line: those belong to the program.
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
  config& with_network(transport how);
};

} // namespace tertulia
