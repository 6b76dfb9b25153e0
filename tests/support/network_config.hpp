// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/config.hpp>
#include <tertulia/tls.hpp>

namespace tertulia::test {

/// Configuration of an actor system that other nodes connect to, and that
/// connects to them.
struct network_config : config {
  /// Plain text, for tests of other features: it does not need certificates.
  network_config() {
    add_network_to(*this, transport::plain_for_trusted_hosts);
  }

  explicit network_config(const tls_files& files) {
    add_network_to(*this, files);
  }
};

} // namespace tertulia::test
