// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/return_path.hpp>
#include <tertulia/open.hpp>
#include <tertulia/reconnect.hpp>

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>
#include <caf/error.hpp>
#include <caf/timespan.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace tertulia::detail {

/// Front desk of another node, which is reconnected after it was lost.
///
/// @threads  all members.
/// @lifetime must not outlive its actor system.
class remote_desk final : public way_back,
                          public std::enable_shared_from_this<remote_desk> {
public:
  /// Connects to the desk at the first of these addresses that answers.
  /// @param within longest wait for the desk, for each attempt.
  /// @errors see `remote_runtime`.
  remote_desk(caf::actor_system& system, std::vector<endpoint> endpoints,
              reconnect_policy policy, caf::timespan within);

  /// Returns the desk. Reconnects if it was lost, and blocks meanwhile, for as
  /// long as the patience of the policy allows.
  /// @errors see `remote_runtime`.
  [[nodiscard]] front_desk_actor get();

  /// Returns the desk. Reconnects if it was lost, with one attempt, and blocks
  /// meanwhile; several threads wait for the same attempt and share its
  /// failure.
  /// @errors see `remote_runtime`.
  [[nodiscard]] front_desk_actor reconnect();

  /// Returns whether the desk of the last connection is known to be lost. Does
  /// not block.
  [[nodiscard]] bool is_lost() const;

  /// Returns the desk of the last connection. Does not block.
  [[nodiscard]] front_desk_actor desk() const;

  /// Returns an actor that passes one `open_request` on to the desk, for a
  /// client that must not block. If the desk was lost, it looks for it as
  /// `spawn_guide` does; it answers `unavailable` if it is lost meanwhile.
  [[nodiscard]] static front_desk_actor
  spawn_relay(std::shared_ptr<remote_desk> to);

  [[nodiscard]] caf::actor spawn_guide() override;

  [[nodiscard]] const reconnect_policy& policy() const noexcept {
    return policy_;
  }

  [[nodiscard]] caf::timespan within() const noexcept {
    return within_;
  }

  /// Returns the system of the clients.
  [[nodiscard]] caf::actor_system& system() const noexcept {
    return system_;
  }

private:
  void connect(std::chrono::steady_clock::time_point until);
  void try_to_connect(std::chrono::steady_clock::time_point until);

  caf::actor_system& system_;
  const std::vector<endpoint> endpoints_;
  const reconnect_policy policy_;
  const caf::timespan within_;
  std::mutex connecting_;                   // held during an attempt
  std::atomic<std::uint64_t> attempts_ = 0; // completed ones
  caf::error failure_; // of the last attempt; protected by `connecting_`
  mutable std::mutex mutex_;
  front_desk_actor desk_;
};

} // namespace tertulia::detail
