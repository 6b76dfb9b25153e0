// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/runtime.hpp>

#include <caf/all.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include <optional>

#include <gtest/gtest.h>

namespace tertulia::test {

/// A configuration whose actors run only when the test says so, on the test's
/// own thread, with a clock that the test moves.
class deterministic_config : public config {
public:
  deterministic_config() {
    set("scheduler.policy", caf::atom("testing"));
  }
};

/// A runtime without threads and without a clock of its own.
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
    // From here on nobody runs an actor, so there is none to wait for.
    system.await_actors_before_shutdown(false);
  }

  /// Runs all actors until none has anything to do.
  void run() {
    sched.run();
  }

  /// Moves the clock and runs what that wakes.
  void advance(caf::timespan by) {
    sched.advance_time(by);
    run();
  }

  void stop_runtime() {
    rt->stop();
    run();
    rt.reset();
    run();
  }

  /// Counts what runs by now as part of the idle runtime.
  void count_from_here() {
    baseline_ = system.registry().running();
  }

  /// Actors that are running beyond those of the idle runtime.
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
