// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/store_supervisor.hpp>

#include <caf/stateful_actor.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <random>

#include "support/actor_links.hpp"
#include "support/deterministic.hpp"
#include "support/errands.hpp"
#include "support/failing_store.hpp"

namespace tertulia::test {

/// Fixture with two runtimes that share a store, and clients that find their
/// way to either of them.
class two_runtimes : public deterministic {
protected:
  /// Way to the desk of either runtime.
  struct way : detail::way_back {
    explicit way(two_runtimes& of) : of(of) {}

    caf::actor spawn_guide() override {
      return of.system.spawn(
        [this](caf::stateful_actor<guide_state>* self) -> caf::behavior {
          return self->state.make_behavior([this] { return of.any_desk(); });
        });
    }

    two_runtimes& of;
  };

  two_runtimes() : store(supervise_store(system, failing.factory())) {
    clerk = office.define_clerk(*rt, store);
    start_other();
  }

  ~two_runtimes() override {
    stop_other();
    caf::anon_send_exit(store, caf::exit_reason::user_shutdown);
    run();
  }

  void start_other() {
    other.emplace(system);
    (void)office.define_clerk(*other, store);
    run();
  }

  void stop_other() {
    const auto desk = caf::actor_cast<caf::actor>(other->front_desk());
    other->stop();
    while (!caf::actor_cast<caf::abstract_actor*>(desk)->getf(
      caf::abstract_actor::is_terminated_flag))
      advance(std::chrono::milliseconds{100});
    other.reset();
  }

  runtime& any_runtime() {
    return pick(2) == 0 ? *rt : *other;
  }

  /// Returns a desk that opens one connection over a new link.
  front_desk_actor any_desk() {
    link = system.spawn(
      [](link_actor* self, const front_desk_actor& desk) -> caf::behavior {
        return self->state.make_behavior(desk);
      },
      any_runtime().front_desk());
    return caf::actor_cast<front_desk_actor>(link);
  }

  int pick(int below) {
    return std::uniform_int_distribution<int>{0, below - 1}(random);
  }

  void run_some(int steps) {
    for (; steps > 0 && sched.try_run_once(); --steps)
      ;
  }

  template <class Client>
  static Client& state_of(const caf::actor& of) {
    return static_cast<caf::stateful_actor<Client>*>(
             caf::actor_cast<caf::abstract_actor*>(of))
      ->state;
  }

  template <class Client>
  caf::actor spawn_client() {
    auto result = system.spawn([](caf::stateful_actor<Client>* self) {
      return caf::behavior{self->state.handlers()};
    });
    run_some(1);
    return result;
  }

  errands office;
  failing_store failing{system};
  managed_store store;
  std::optional<runtime> other;
  std::optional<errands::clerk_type> clerk;
  std::shared_ptr<way> road = std::make_shared<way>(*this);
  std::mt19937 random;
  caf::actor link;
};

} // namespace tertulia::test
