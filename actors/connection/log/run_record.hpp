// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/scope.hpp>
#include <tertulia/store.hpp>

#include <caf/error.hpp>
#include <caf/timespan.hpp>

#include <chrono>
#include <cstdint>
#include <utility>

namespace tertulia::detail {

class connection_state;

/// The record of a kept run in the store of its conversation. It has a
/// heartbeat, from which the run learns that it was aborted in the store. As a
/// wait it limits the time until the next heartbeat.
///
/// A store that fails is asked again with the next heartbeat, and so is one
/// that has not answered for as many of them as a run may miss. If it stays
/// away, the run goes on and reads as expired. The end of a run is sent until
/// the store has it, for as long as the run may miss heartbeats. Only then do
/// its clients hear it: they and the store agree on the status.
///
/// @threads only on the actor of its connection.
/// @design  docs/runs.md#runs-in-the-store.
class run_record final : public wait {
public:
  /// Begins the run in the store.
  run_record(connection_state& of, stored_run run, snapshot_store store,
             caf::timespan retention);

  run_record(const run_record&) = delete;
  run_record& operator=(const run_record&) = delete;

  /// Ends the run in the store, unless it has ended.
  /// @param can_wait whether the actor can wait for the reply; it quits when
  ///                 `is_finished`. Otherwise the last word, which replaces an
  ///                 end that the store may not have.
  void end(run_status status, const caf::error& reason, bool can_wait);

  /// Returns whether nothing more is sent: the store has the end, or has not
  /// answered in time.
  [[nodiscard]] bool is_finished() const noexcept {
    return is_finished_;
  }

  /// Returns whether the store has answered the end with an abort that came
  /// before it.
  [[nodiscard]] bool was_aborted() const noexcept {
    return was_aborted_;
  }

  /// Sets the last snapshot of the run, which is stored later.
  void set_snapshot(snapshot_id last) {
    run_.snapshot = std::move(last);
  }

  /// Stops the heartbeat: the actor ends.
  void stop() noexcept;

  void abort(const caf::error& reason) override;

private:
  /// Longest time between two attempts to end a run.
  static constexpr caf::timespan max_pause = std::chrono::seconds{1};

  void beat();
  void ask();
  void finish();

  connection_state& owner_;
  stored_run run_;
  snapshot_store store_;
  caf::timespan retention_;
  std::uint64_t timer_ = 0; ///< number of the wait; 0 while it is not one
  int unanswered_ = 0;      ///< heartbeats since the last question
  bool is_finished_ = false;
  bool was_aborted_ = false;
  caf::timespan left_{0}; ///< time for the end
};

} // namespace tertulia::detail
