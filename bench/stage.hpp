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

/// Where the main thread waits until its actors have done their work.
///
/// @threads all members.
class finish_line {
public:
  /// Starts the clock for so many runners. Who starts may then tell them to
  /// run.
  void start(std::size_t runners);

  /// One runner has arrived; the last one stops the clock.
  void arrive();

  /// A runner cannot go on: `wait` will throw.
  void fail(std::string why);

  /// Waits for all runners, a minute at most.
  /// @returns the microseconds from `start` to the last arrival.
  /// @errors throws `std::runtime_error` if they failed or got lost.
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

/// What every question needs: an actor system as an application has it, with a
/// runtime in it.
///
/// @lifetime declared before everything that runs in it.
class stage {
public:
  stage() : system(cfg), rt(system) {}

  tertulia::config cfg;
  caf::actor_system system;
  finish_line line; // actors tell it until `rt` and `system` have ended
  tertulia::runtime rt;
};

/// Has the actors do so many operations among them and waits for them.
/// @returns the microseconds that one operation took.
template <class Handle>
double time_each(stage& at, const std::vector<Handle>& actors,
                 std::size_t operations) {
  const auto share = static_cast<std::uint64_t>(operations / actors.size());
  at.line.start(actors.size());
  for (const auto& x : actors)
    caf::anon_send(x, caf::ping_atom_v, share);
  return at.line.wait() / static_cast<double>(share * actors.size());
}

} // namespace tertulia::bench
