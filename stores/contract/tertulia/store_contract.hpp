// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/contract_factory.hpp>
#include <tertulia/detail/store_requests.hpp>

#include <memory>
#include <ostream>

#include <gtest/gtest.h>

namespace tertulia {

/// Kind of store that the contract is instantiated for.
///
/// @threads a value.
class store_kind {
public:
  /// Returns the kind of the stores of a factory.
  template <class Factory>
  static store_kind of() {
    return store_kind{[]() -> std::unique_ptr<contract_factory> {
      return std::make_unique<Factory>();
    }};
  }

  [[nodiscard]] std::unique_ptr<contract_factory> make_factory() const {
    return make_();
  }

  /// Prints the parameter of a test.
  friend void PrintTo(const store_kind&, std::ostream* out) {
    *out << "store";
  }

private:
  using maker = std::unique_ptr<contract_factory> (*)();

  explicit store_kind(maker make) : make_(make) {}

  maker make_;
};

/// Test suite for authors of stores: the contract of every store. It uses only
/// the store protocol. The test of a store looks like this:
///
///     #include <tertulia/store_contract.hpp>
///
///     struct my_store_factory : tertulia::contract_factory {
///       tertulia::managed_store open(caf::actor_system& system) override {
///         return spawn_my_store(system);
///       }
///     };
///
///     using tertulia::store_contract;
///     INSTANTIATE_TEST_SUITE_P(
///       my_store, store_contract,
///       testing::Values(tertulia::store_kind::of<my_store_factory>()));
///
/// The cases are compiled once, into tertulia::store_contract.
///
/// @threads each test has an actor system of its own.
/// @design  docs/stores.md#the-contract.
class store_contract : public detail::store_requests,
                       public ::testing::WithParamInterface<store_kind> {
public:
  store_contract() : store_requests(GetParam().make_factory()) {}
};

/// Fixture with the values and requests of the contract, for further tests of
/// one kind of store (`TEST_F`).
///
/// @threads each test has an actor system of its own.
template <class Factory>
class store_test : public detail::store_requests {
public:
  store_test() : store_requests(std::make_unique<Factory>()) {}

  [[nodiscard]] Factory& factory() {
    return static_cast<Factory&>(store.factory());
  }
};

} // namespace tertulia
