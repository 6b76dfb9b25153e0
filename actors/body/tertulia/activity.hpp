// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

namespace tertulia {

/// Durations of one kind of work, counted by length.
struct duration_counts {
  /// Upper bounds of the buckets in seconds; the last bucket has none.
  static constexpr std::array<double, 14> bounds{0.0001, 0.00025, 0.0005, 0.001,
                                                 0.0025, 0.005,   0.01,   0.025,
                                                 0.05,   0.1,     0.25,   1,
                                                 5,      30};

  std::array<std::uint64_t, bounds.size() + 1> counts{};
  std::chrono::nanoseconds total{0};
};

/// Numbers of what the connections of one action have done since it was
/// defined.
struct action_activity {
  std::string key; ///< of the action

  std::uint64_t opened = 0; ///< connections
  std::uint64_t ended = 0;

  /// How often a part of a body waited for credit of its client, and for how
  /// long a connection had such a part.
  std::uint64_t credit_waits = 0;
  std::chrono::nanoseconds credit_wait{0};

  /// Snapshots that were stored, by `snapshot_event`.
  std::array<std::uint64_t, 3> snapshots{};
  std::uint64_t failed_saves = 0; ///< requests to the store that failed

  /// Time for which the store took to open a session, with its lease. Openings
  /// that wait in a queue are among them.
  duration_counts session_openings;
  /// Time for which the store took to save a state or a snapshot.
  duration_counts saves;
};

/// Numbers of an actor that many conversations share, or the sum of those of
/// one kind.
struct shared_actor_activity {
  std::string name;          ///< `front_desk` or `store`
  std::uint64_t waiting = 0; ///< messages that wait in the mailbox
  /// Transactions that a store has committed. With SQLite each waits once for
  /// the disk (`fdatasync` of the log).
  std::uint64_t commits = 0;
};

} // namespace tertulia
