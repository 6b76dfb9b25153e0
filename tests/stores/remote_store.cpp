// SPDX-License-Identifier: BSD-3-Clause

// A SQLite store on another node fulfills the contract of every store.

#include <tertulia/remote_actor.hpp>
#include <tertulia/sqlite_store.hpp>
#include <tertulia/store_contract.hpp>

#include <filesystem>
#include <memory>

#include "support/network_config.hpp"
#include "support/scratch.hpp"

namespace tertulia::test::remote_store_tests {

namespace {

/// Store in an actor system of its own, reached over a socket.
struct remote_store_factory {
  static constexpr bool durable = true;

  static void configure(caf::actor_system_config& cfg) {
    add_messages_to(cfg);
    add_network_to(cfg, transport::plain_for_trusted_hosts);
  }

  managed_store open(caf::actor_system& system) {
    const auto port = publish_actor(server, spawn_sqlite_store(server, file));
    return remote_actor<managed_store>(system, "127.0.0.1", port);
  }

  scratch folder;
  std::filesystem::path file = folder / "sessions.db";
  network_config cfg;
  caf::actor_system server{cfg};
};

} // namespace

INSTANTIATE_TYPED_TEST_SUITE_P(remote, store_contract, remote_store_factory);

} // namespace tertulia::test::remote_store_tests
