// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/random_bytes.hpp>
#include <tertulia/detail/timer.hpp>
#include <tertulia/reconnect.hpp>

#include <caf/timespan.hpp>

#include <algorithm>
#include <chrono>
#include <optional>

namespace tertulia::detail {

/// Pauses between the attempts of one client to reach a node: each is twice as
/// long as the one before it, up to a longest one. Up to half of each is cut at
/// random, so that many clients do not come at once.
///
/// @threads a value.
class backoff {
public:
  using time_point = std::chrono::steady_clock::time_point;

  /// @param begin from which the patience of the policy counts.
  backoff(const reconnect_policy& policy, time_point begin)
    : pause_(policy.first_pause), longest_(policy.longest_pause),
      until_(later(begin, policy.patience)) {}

  /// Returns the next pause; empty if the patience ends before it.
  [[nodiscard]] std::optional<caf::timespan> next(time_point now) {
    if (pause_ > until_ - now)
      return std::nullopt;
    const auto per_cent = 50 + static_cast<int>(51 * random_fraction());
    const auto result = pause_ * per_cent / 100;
    pause_ = std::min(pause_ * 2, longest_);
    return result;
  }

private:
  caf::timespan pause_;
  caf::timespan longest_;
  time_point until_;
};

} // namespace tertulia::detail
