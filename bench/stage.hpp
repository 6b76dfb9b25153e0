// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/runtime.hpp>

#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace tertulia::bench {

/// Lets the main thread wait until its actors have finished their work.
///
/// @threads all members are thread-safe.
class finish_line {
public:
  /// Starts the clock for the given number of runners. Must be called before
  /// the runners are started.
  void start(std::size_t runners);

  /// Records the arrival of one runner; the last one stops the clock.
  void arrive();

  /// Reports that a runner cannot continue: `wait` throws.
  void fail(std::string reason);

  /// Waits for all runners, a minute at most.
  /// @returns the microseconds from `start` to the last arrival.
  /// @errors throws `std::runtime_error` if a runner failed or did not arrive.
  double wait();

private:
  using clock = std::chrono::steady_clock;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t running_ = 0;
  std::string failure_;
  clock::time_point begin_;
  clock::time_point end_;
};

/// Environment of a question: an actor system configured as in an application,
/// with a runtime in it.
///
/// @lifetime must be declared before everything that runs in it.
class stage {
public:
  stage() : system(cfg), rt(system) {}

  tertulia::config cfg;
  caf::actor_system system;
  finish_line line; // actors use it until `rt` and `system` have ended
  tertulia::runtime rt;
};

/// Distributes the operations among the actors and waits for them.
/// @returns the duration of one operation in microseconds.
template <class Handle>
double time_each(stage& bench_stage, const std::vector<Handle>& actors,
                 std::size_t operations) {
  const auto share = static_cast<std::uint64_t>(operations / actors.size());
  bench_stage.line.start(actors.size());
  for (const auto& x : actors)
    caf::anon_send(x, caf::ping_atom_v, share);
  return bench_stage.line.wait() / static_cast<double>(share * actors.size());
}

} // namespace tertulia::bench
