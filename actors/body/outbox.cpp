// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/outbox.hpp>

#include <algorithm>

namespace tertulia::detail {

void outbox::grant(std::uint32_t chunks) {
  const auto added
    = std::min<std::int64_t>(chunks, std::int64_t{max_window} - credit_);
  granted_ += added;
  credit_ += added;
  hand_out_credit();
}

void outbox::set_room(std::int64_t room) {
  const auto spent = static_cast<std::int64_t>(sent_) + size_;
  const auto reserved = granted_ - credit_ - spent;
  const auto added = room - reserved - size_ - credit_;
  granted_ += added;
  credit_ += added;
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
