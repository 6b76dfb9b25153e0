// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/open.hpp>

#include <caf/actor_system.hpp>
#include <caf/error.hpp>
#include <caf/timespan.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace tertulia::detail {

/// The front desk of another node, which is connected to again once it was
/// lost.
///
/// @threads  all members.
/// @lifetime within that of its actor system.
class remote_desk {
public:
  /// Connects.
  /// @param within longest wait for the desk, each time.
  /// @errors see `remote_runtime`.
  remote_desk(caf::actor_system& system, std::string host, std::uint16_t port,
              caf::timespan within);

  /// Returns the desk. Connects again if it was lost, and blocks then; several
  /// threads wait for the same attempt, and share its failure.
  /// @errors see `remote_runtime`.
  [[nodiscard]] front_desk_actor get();

  /// Returns whether the desk that was last connected to is known to be gone.
  /// Does not block.
  [[nodiscard]] bool is_lost() const;

  /// Returns the desk that was last connected to. Does not block.
  [[nodiscard]] front_desk_actor desk() const;

private:
  void connect(std::chrono::steady_clock::time_point until);
  void try_to_connect(std::chrono::steady_clock::time_point until);

  caf::actor_system& system_;
  const std::string host_;
  const std::uint16_t port_;
  const caf::timespan within_;
  std::mutex connecting_;                   // held for as long as that takes
  std::atomic<std::uint64_t> attempts_ = 0; // those that are over
  caf::error failure_; // of the last attempt; for who holds `connecting_`
  mutable std::mutex mutex_;
  front_desk_actor desk_;
};

} // namespace tertulia::detail
