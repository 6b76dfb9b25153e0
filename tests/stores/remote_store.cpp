// SPDX-License-Identifier: BSD-3-Clause

// A SQLite store on another node fulfills the contract of every store.

#include <tertulia/sqlite_store.hpp>
#include <tertulia/store_contract.hpp>

#include <caf/io/all.hpp>

#include <cstdint>
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
    const auto store = spawn_sqlite_store(server, file);
    const auto port = server.middleman().publish(store, 0, "127.0.0.1");
    auto result = system.middleman().remote_actor<managed_store>(
      "127.0.0.1", port ? *port : 0);
    if (!result)
      throw status_error{errc::unavailable, system.render(result.error())};
    return *result;
  }

  scratch folder;
  std::filesystem::path file = folder / "sessions.db";
  network_config cfg;
  caf::actor_system server{cfg};
};

} // namespace

INSTANTIATE_TYPED_TEST_SUITE_P(remote, store_contract, remote_store_factory);

} // namespace tertulia::test::remote_store_tests
