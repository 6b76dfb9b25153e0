// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/contract_factory.hpp>
#include <tertulia/detail/store_outcome.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store.hpp>

#include <caf/actor_addr.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scoped_actor.hpp>

#include <chrono>
#include <memory>
#include <vector>

namespace tertulia::detail {

/// Store that the contract tests, with an actor system of its own.
///
/// @threads one at a time.
class contract_store {
public:
  /// Time-out that ends a test that would otherwise hang.
  static constexpr auto patience = std::chrono::seconds{30};

  /// Opens a store.
  explicit contract_store(std::unique_ptr<contract_factory> factory);

  contract_store(const contract_store&) = delete;
  contract_store& operator=(const contract_store&) = delete;

  ~contract_store();

  /// Sends a request of the store protocol, and awaits the answer.
  template <class Verb>
  outcome<Verb> operator()(const Verb& x);

  /// Returns the last error.
  [[nodiscard]] const status_error& error() const {
    return error_;
  }

  [[nodiscard]] contract_factory& factory() {
    return *factory_;
  }

  /// Ends the store and opens it again.
  void reopen();

  /// Starts a holder of leases. It releases them when it is cancelled.
  [[nodiscard]] lease_holder start_holder();

  /// Ends a holder of leases, which releases nothing.
  void kill(const lease_holder& x);

private:
  struct config : caf::actor_system_config {
    explicit config(contract_factory& factory);
  };

  void close();

  std::unique_ptr<contract_factory> factory_;
  config cfg_;
  caf::actor_system system_;
  caf::scoped_actor self_;
  managed_store store_;
  status_error error_{errc::ok, ""};
  std::vector<caf::actor_addr> holders_;
};

} // namespace tertulia::detail
