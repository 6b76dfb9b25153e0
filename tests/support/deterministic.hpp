// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/runtime.hpp>

#include <caf/all.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include <optional>

#include <gtest/gtest.h>

namespace tertulia::test {

/// Configuration whose actors run only when the test runs them, on its own
/// thread, and with a clock that the test advances.
class deterministic_config : public config {
public:
  deterministic_config() {
    set("scheduler.policy", caf::atom("testing"));
  }
};

/// Fixture with a runtime without threads and without a clock of its own.
class deterministic : public ::testing::Test {
protected:
  using scheduler_type = caf::scheduler::test_coordinator;

  deterministic()
    : system(cfg), sched(dynamic_cast<scheduler_type&>(system.scheduler())),
      rt(std::in_place, system) {
    run();
    count_from_here();
  }

  ~deterministic() override {
    if (rt)
      stop_runtime();
    // From here on actors do not run, so the system must not wait for them.
    system.await_actors_before_shutdown(false);
  }

  /// Runs all actors until they are idle.
  void run() {
    sched.run();
  }

  /// Advances the clock and runs the actors that this wakes.
  void advance(caf::timespan by) {
    sched.advance_time(by);
    run();
  }

  /// Kills an actor and runs the others.
  template <class Handle>
  void kill(const Handle& who) {
    caf::anon_send_exit(who, caf::exit_reason::kill);
    run();
  }

  void stop_runtime() {
    rt->stop();
    run();
    rt.reset();
    run();
  }

  /// Counts all running actors as part of the idle runtime.
  void count_from_here() {
    baseline_ = system.registry().running();
  }

  /// Returns the number of running actors beyond those of the idle runtime.
  std::size_t extra_actors() {
    return system.registry().running() - baseline_;
  }

  deterministic_config cfg;
  caf::actor_system system;
  scheduler_type& sched;
  std::optional<runtime> rt;

private:
  std::size_t baseline_ = 0;
};

} // namespace tertulia::test
