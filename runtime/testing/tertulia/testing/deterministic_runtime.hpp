// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/config.hpp>
#include <tertulia/runtime.hpp>
#include <tertulia/testing/recording_client.hpp>
#include <tertulia/testing/run_until_idle.hpp>

#include <caf/actor_system.hpp>
#include <caf/exit_reason.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/send.hpp>
#include <caf/timespan.hpp>

#include <chrono>
#include <cstddef>
#include <optional>

namespace tertulia::testing {

/// Configuration of an actor system whose actors run only when they are told
/// to, on the thread that tells them, with a clock that stands still.
///
/// @threads  as `config`.
/// @lifetime as `config`.
class deterministic_config : public config {
public:
  deterministic_config() {
    set("scheduler.policy", caf::atom("testing"));
  }
};

/// Runtime without threads and without a clock of its own, for tests that do
/// not wait and always take the same course. Base of a fixture of any test
/// framework.
///
/// ```
/// struct waiter_test : ::testing::Test,
/// tertulia::testing::deterministic_runtime {};
///
/// TEST_F(waiter_test, greets) {
///   auto guest = open(define_waiter(*rt));
///   guest.say("Hello!");
///   EXPECT_EQ(guest.text(), "Welcome!");
/// }
/// ```
///
/// Calls that block (`stream_bidi`, `run_text`) would block for ever: clients
/// are `open`ed. Blocking work (`context::run_blocking`) and detached actors
/// have threads of their own and are not deterministic.
///
/// @threads  only the thread that made it.
/// @lifetime outlives the clients that it has opened.
/// @design   docs/testing.md#deterministic-time.
class deterministic_runtime {
public:
  using scheduler_type = caf::scheduler::test_coordinator;

  explicit deterministic_runtime(runtime_options options = {})
    : system(cfg), sched(dynamic_cast<scheduler_type&>(system.scheduler())),
      rt(std::in_place, system, std::move(options)) {
    run();
    count_from_here();
  }

  deterministic_runtime(const deterministic_runtime&) = delete;
  deterministic_runtime& operator=(const deterministic_runtime&) = delete;

  ~deterministic_runtime() {
    if (rt)
      stop_runtime();
    // From here on actors do not run, so the system must not wait for them.
    system.await_actors_before_shutdown(false);
  }

  /// Runs all actors until they are idle, and nothing is due at this time.
  void run() {
    run_until_idle(sched);
  }

  /// Advances the clock and runs the actors that this wakes.
  void advance(caf::timespan by) {
    sched.advance_time(by);
    run();
  }

  /// Opens a connection for a client that records what it receives, and runs
  /// all actors until they are idle.
  /// @param options as for `stream_bidi` of the flow.
  template <class Flow, class... Options>
  [[nodiscard]] auto open(const Flow& flow, const Options&... options) {
    static_assert(
      requires { typename Flow::stream_type; },
      "open takes a handle, such as bidi_flow<...>");
    return recording_client<typename Flow::in_type, typename Flow::out_type,
                            typename Flow::stream_type>{
      system, rt->front_desk(), flow, options...};
  }

  /// Kills an actor, as if its process had died, and runs the others.
  template <class Handle>
  void kill(const Handle& who) {
    caf::anon_send_exit(who, caf::exit_reason::kill);
    run();
  }

  void stop_runtime() {
    rt->stop();
    run();
    // What waits for a store that does not answer gives up in that time.
    advance(std::chrono::seconds{10});
    rt.reset();
    run();
  }

  /// Counts all running actors as part of the idle runtime.
  void count_from_here() {
    baseline_ = system.registry().running();
  }

  /// Returns the number of running actors beyond those of the idle runtime: the
  /// clients, once every conversation has ended.
  [[nodiscard]] std::size_t extra_actors() {
    return system.registry().running() - baseline_;
  }

  deterministic_config cfg;
  caf::actor_system system;
  scheduler_type& sched;
  /// Empty after `stop_runtime`.
  std::optional<runtime> rt;

private:
  std::size_t baseline_ = 0;
};

} // namespace tertulia::testing
