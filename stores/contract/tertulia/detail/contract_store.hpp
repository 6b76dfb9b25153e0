// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/store_model.hpp>
#include <tertulia/protocol.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store.hpp>

#include <caf/actor_addr.hpp>
#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/exit_reason.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <chrono>
#include <functional>
#include <utility>
#include <vector>

namespace tertulia::detail {

/// Store that the contract tests, with an actor system of its own. Does not
/// depend on its factory, so that each request is compiled once.
class contract_store {
public:
  using opener = std::function<managed_store(caf::actor_system&)>;

  /// Time-out that ends a test that would otherwise hang.
  static constexpr auto patience = std::chrono::seconds{30};

  /// @param configure changes the configuration of the actor system.
  /// @param open      opens the store. It may be one without the requests of a
  ///                  managed store; the tests then send none of them.
  contract_store(void (*configure)(caf::actor_system_config&), opener open)
    : cfg_(configure), open_(std::move(open)), store_(open_(system_)) {}

  contract_store(const contract_store&) = delete;
  contract_store& operator=(const contract_store&) = delete;

  ~contract_store() {
    for (const auto& x : holders_)
      if (const auto holder = caf::actor_cast<lease_holder>(x))
        kill(holder);
    close();
  }

  template <class Verb>
  outcome<Verb> operator()(const Verb& x) {
    using answer = answer_to<Verb>;
    outcome<Verb> result{errc::unknown};
    self_->request(store_, patience, x)
      .receive([&](answer& y) { result = std::move(y); },
               [&](caf::error& y) {
                 auto status = to_status(y);
                 result = status.code();
                 error_ = status;
               });
    return result;
  }

  /// Returns the last error.
  [[nodiscard]] const status_error& error() const {
    return error_;
  }

  /// Ends the store and opens it again.
  void reopen() {
    close();
    store_ = open_(system_);
  }

  /// Starts a holder of leases. It releases them when it is cancelled.
  [[nodiscard]] lease_holder start_holder() {
    const lease_holder result = system_.spawn<caf::hidden>(
      [](lease_holder::pointer self,
         const managed_store& store) -> lease_holder::behavior_type {
        return {[self, store](cancel_atom, const caf::error&) {
          caf::anon_send(store, release_lease_request{lease_holder{self}});
        }};
      },
      store_);
    holders_.push_back(result.address());
    return result;
  }

  /// Ends a holder of leases, which releases nothing.
  void kill(const lease_holder& x) {
    self_->send_exit(x, caf::exit_reason::kill);
    self_->wait_for(x);
  }

private:
  struct config : caf::actor_system_config {
    explicit config(void (*configure)(caf::actor_system_config&)) {
      set("scheduler.max-threads", 2);
      configure(*this);
    }
  };

  void close() {
    self_->send_exit(store_, caf::exit_reason::user_shutdown);
    self_->wait_for(store_);
    store_ = nullptr;
  }

  config cfg_;
  opener open_;
  caf::actor_system system_{cfg_};
  caf::scoped_actor self_{system_};
  managed_store store_;
  status_error error_{errc::ok, ""};
  std::vector<caf::actor_addr> holders_;
};

} // namespace tertulia::detail
