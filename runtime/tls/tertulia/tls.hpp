// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <caf/fwd.hpp>

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

/// Adds CAF's network module as the other overload does, with TLS between the
/// nodes. All nodes must use it, or none.
///
/// The files are read when a runtime is published and when it connects to
/// another one; errors in them are reported there as `failed_precondition`.
void add_network_to(caf::actor_system_config& cfg, const tls_files& files);

} // namespace tertulia
