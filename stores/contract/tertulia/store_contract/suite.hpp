// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/contract_store.hpp>
#include <tertulia/detail/store_requests.hpp>
#include <tertulia/store.hpp>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/detail/type_list.hpp>

#include <utility>

#include <gtest/gtest.h>

// Common parts of the cases of the store contract. The cases are split by topic
// and belong together: include tertulia/store_contract.hpp.

namespace tertulia {

/// Handle type of the stores that a factory opens.
template <class Factory>
using store_of
  = decltype(std::declval<Factory&>().open(std::declval<caf::actor_system&>()));

/// Factory whose stores can be managed. In CAF 0.17 each typed handle claims to
/// convert to each other one, so the signatures are compared.
template <class T>
concept makes_managed_stores
  = caf::detail::tl_subset_of<typename managed_store::signatures,
                              typename store_of<T>::signatures>::value;

/// Factory whose stores outlive their actors.
template <class T>
concept makes_durable_stores = requires {
  requires T::durable;
};

/// Factory whose stores need more than the default of the actor system, such as
/// a network.
template <class T>
concept configures_systems = requires(caf::actor_system_config& x) {
  T::configure(x);
};

/// Factory that can damage the stored data of a state.
template <class T>
concept corrupts_states = requires(T& x, const state_id& id) {
  x.corrupt(id);
};

/// Factory that can remove the stored data of a state.
template <class T>
concept loses_states = requires(T& x, const state_id& id) {
  x.lose(id);
};

namespace detail {

template <class Factory>
struct factory_member {
  Factory factory_;
};

/// Store with its factory. The factory outlives the actor system.
template <class Factory>
class made_store : factory_member<Factory>, public contract_store {
public:
  made_store()
    : contract_store(
      [](caf::actor_system_config& x) {
        if constexpr (configures_systems<Factory>)
          Factory::configure(x);
      },
      [this](caf::actor_system& system) {
        return caf::actor_cast<managed_store>(this->factory_.open(system));
      }) {}

  [[nodiscard]] Factory& factory() {
    return this->factory_;
  }
};

/// Base that is constructed before those that refer to the store.
template <class Store>
struct store_member {
  Store store;
};

} // namespace detail

/// Test suite of the contract. `Factory` is described in
/// tertulia/store_contract.hpp.
///
/// @threads each test has an actor system of its own.
/// @design  docs/sessions.md#records-and-states.
template <class Factory>
class store_contract : public detail::store_member<detail::made_store<Factory>>,
                       public detail::store_requests {
public:
  static constexpr bool managed = makes_managed_stores<Factory>;
  static constexpr bool durable = makes_durable_stores<Factory>;

  /// Store with an actor system of its own, and access to the store.
  using fixture = detail::made_store<Factory>;

  store_contract() : store_requests(this->store) {}
};

TYPED_TEST_SUITE_P(store_contract);

/// Skips a test unless the store is a managed one.
#define TERTULIA_NEEDS_MANAGED_STORE()                                         \
  if constexpr (!TestFixture::managed)                                         \
    GTEST_SKIP() << "the store is not a managed one";                          \
  else

} // namespace tertulia
