// SPDX-License-Identifier: BSD-3-Clause

// A SQLite store on another node fulfills the contract of every store.

#include <tertulia/remote_actor.hpp>
#include <tertulia/remote_store.hpp>
#include <tertulia/sqlite_store.hpp>
#include <tertulia/store_contract.hpp>

#include <caf/atom.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <filesystem>

#include "support/network_config.hpp"
#include "support/scratch.hpp"

namespace tertulia::test::remote_store_tests {

namespace {

/// Store in an actor system of its own, reached over a socket.
struct remote_store_factory : contract_factory {
  [[nodiscard]] bool is_durable() const override {
    return true;
  }

  void configure(caf::actor_system_config& x) override {
    add_messages_to(x);
    add_network_to(x, transport::plain_for_trusted_hosts);
  }

  managed_store open(caf::actor_system& system) override {
    const auto port = publish_actor(server, spawn_sqlite_store(server, file));
    return remote_actor<managed_store>(system, "127.0.0.1", port);
  }

  /// Configuration of the other node. Its threads wait for work, as those of
  /// the contract do.
  struct server_config : network_config {
    server_config() {
      set("scheduler.policy", caf::atom("sharing"));
    }
  };

  scratch folder;
  std::filesystem::path file = folder / "sessions.db";
  server_config cfg;
  caf::actor_system server{cfg};
};

/// The same through a handle that outlives the other node, and does not end its
/// store.
struct connected_store_factory : remote_store_factory {
  ~connected_store_factory() override {
    caf::anon_send_exit(far, caf::exit_reason::user_shutdown);
  }

  managed_store open(caf::actor_system& system) override {
    // A file has one store at a time.
    caf::scoped_actor self{server};
    if (far) {
      self->send_exit(far, caf::exit_reason::user_shutdown);
      self->wait_for(far);
    }
    far = spawn_sqlite_store(server, file);
    return connect_store(system, "127.0.0.1", publish_actor(server, far));
  }

  managed_store far;
};

} // namespace

INSTANTIATE_TEST_SUITE_P(
  remote, store_contract,
  ::testing::Values(store_kind::of<remote_store_factory>()));
INSTANTIATE_TEST_SUITE_P(
  connected, store_contract,
  ::testing::Values(store_kind::of<connected_store_factory>()));

} // namespace tertulia::test::remote_store_tests
