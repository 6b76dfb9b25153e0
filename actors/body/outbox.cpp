// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/outbox.hpp>

#include <algorithm>

namespace tertulia::detail {

void outbox::grant(std::uint32_t chunks) {
  // Neither summand is above `max_window`, so the sum does not overflow.
  credit_ = std::min(credit_ + std::min(chunks, max_window), max_window);
  hand_out_credit();
}

void outbox::release() {
  ++credit_;
  hand_out_credit();
}

void outbox::hand_out_credit() {
  while (credit_ > 0 && !claimants_.empty()) {
    --credit_;
    auto* const next = claimants_.front();
    claimants_.erase(claimants_.begin());
    next->on_credit();
  }
}

} // namespace tertulia::detail
