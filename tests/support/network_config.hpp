// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/config.hpp>

namespace tertulia::test {

/// For an actor system that other nodes reach, and that reaches them.
struct network_config : config {
  /// In plain text, where a test is of something else: that needs no
  /// certificates.
  network_config() {
    with_network(transport::plain_for_trusted_hosts);
  }

  explicit network_config(const tls_files& files) {
    with_network(files);
  }
};

} // namespace tertulia::test
