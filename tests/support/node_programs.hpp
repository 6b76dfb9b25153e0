// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/remote_runtime.hpp>
#include <tertulia/runtime.hpp>

#include <caf/actor_system.hpp>

#include <cstdint>
#include <iostream>
#include <optional>
#include <string>

#include "support/network_config.hpp"
#include <unistd.h>

// Common parts of the programs that are one of two nodes.

namespace tertulia::test {

[[noreturn]] inline void wait_to_be_killed() {
  for (;;)
    ::pause();
}

/// Offers the definitions of `define` on a port, which it prints, until it is
/// killed.
/// @param argv the port (default: a free one), and the folder of an authority
///        that has issued a certificate for `server` (default: plain text).
template <class Define>
[[noreturn]] void offer_to_nodes(int argc, char** argv, Define define) {
  const auto port = argc > 1 ? std::stoi(argv[1]) : 0;
  std::optional<network_config> cfg;
  if (argc > 2)
    cfg.emplace(tls_files::of(argv[2], "server"));
  else
    cfg.emplace();
  caf::actor_system system{*cfg};
  runtime_options options;
  options.expose.push_back("/snapshot-store/*");
  runtime rt{system, options};
  define(rt);
  std::cout << rt.publish(static_cast<std::uint16_t>(port)) << std::endl;
  wait_to_be_killed();
}

/// Remote runtime of another process on a port of this machine.
struct node_at_port {
  explicit node_at_port(const std::string& port)
    : system(cfg),
      there(system, "127.0.0.1", static_cast<std::uint16_t>(std::stoi(port))) {}

  network_config cfg;
  caf::actor_system system;
  remote_runtime there;
};

} // namespace tertulia::test
