// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/activity.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace tertulia::detail {

/// Number that many actors add to. It orders nothing.
///
/// @threads all members.
class counter {
public:
  void add(std::uint64_t x = 1) noexcept {
    value_.fetch_add(x, std::memory_order_relaxed);
  }

  [[nodiscard]] std::uint64_t value() const noexcept {
    return value_.load(std::memory_order_relaxed);
  }

private:
  std::atomic<std::uint64_t> value_{0};
};

/// Durations to which many actors add.
///
/// @threads all members.
class duration_counter {
public:
  using clock = std::chrono::steady_clock;

  /// Adds the time since `begin`.
  void add_since(clock::time_point begin) noexcept {
    const auto took = clock::now() - begin;
    const auto seconds = std::chrono::duration<double>{took}.count();
    const auto& bounds = duration_counts::bounds;
    const auto* found = std::lower_bound(bounds.begin(), bounds.end(), seconds);
    counts_[static_cast<std::size_t>(found - bounds.begin())].add();
    total_.add(static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(took).count()));
  }

  [[nodiscard]] duration_counts read() const noexcept {
    duration_counts result;
    for (std::size_t i = 0; i < counts_.size(); ++i)
      result.counts[i] = counts_[i].value();
    result.total = std::chrono::nanoseconds{total_.value()};
    return result;
  }

private:
  std::array<counter, duration_counts::bounds.size() + 1> counts_;
  counter total_;
};

/// Numbers of one action while its connections add to them.
///
/// @threads all members.
struct activity {
  counter opened;
  counter ended;
  counter credit_waits;
  counter credit_wait; // nanoseconds
  std::array<counter, 3> snapshots;
  counter failed_saves;
  duration_counter session_openings;
  duration_counter saves;

  [[nodiscard]] action_activity read(std::string key) const {
    action_activity result;
    result.key = std::move(key);
    // In this order, so that no more connections have ended than were opened.
    result.ended = ended.value();
    result.opened = opened.value();
    result.credit_waits = credit_waits.value();
    result.credit_wait = std::chrono::nanoseconds{credit_wait.value()};
    for (std::size_t i = 0; i < snapshots.size(); ++i)
      result.snapshots[i] = snapshots[i].value();
    result.failed_saves = failed_saves.value();
    result.session_openings = session_openings.read();
    result.saves = saves.read();
    return result;
  }
};

} // namespace tertulia::detail
