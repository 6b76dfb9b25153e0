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

void outbox::wait_for_credit(claimant& part) {
  if (claimants_.empty())
    waits_since_ = std::chrono::steady_clock::now();
  claimants_.push_back(&part);
  activity_->credit_waits.add();
}

void outbox::remove(const claimant& part) noexcept {
  if (std::erase(claimants_, &part) > 0)
    count_wait();
}

void outbox::count_wait() const noexcept {
  if (claimants_.empty())
    activity_->credit_wait.add(static_cast<std::uint64_t>(
      std::chrono::nanoseconds{std::chrono::steady_clock::now() - waits_since_}
        .count()));
}

void outbox::hand_out_credit() {
  while (credit_ > 0 && !claimants_.empty()) {
    --credit_;
    auto* const next = claimants_.front();
    claimants_.erase(claimants_.begin());
    count_wait();
    next->on_credit();
  }
}

} // namespace tertulia::detail
