// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/config.hpp>

namespace tertulia::test {

/// For an actor system that other nodes reach, and that reaches them.
struct network_config : config {
  network_config() {
    with_network();
  }
};

} // namespace tertulia::test
