// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/outbox.hpp>

#include <algorithm>
#include <chrono>

#include <time.h>

namespace tertulia::detail {

namespace {

/// Returns the time of the last tick of the kernel, which costs a quarter of
/// the exact one. A sum of many waits is right nevertheless.
std::chrono::steady_clock::time_point coarse_now() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return std::chrono::steady_clock::time_point{
    std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec}};
}

} // namespace

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

void outbox::wait_for_credit(credit_waiter& part) {
  if (waiters_.empty())
    waits_since_ = coarse_now();
  waiters_.push_back(&part);
  activity_->credit_waits.add();
}

void outbox::remove(const credit_waiter& part) noexcept {
  if (std::erase(waiters_, &part) > 0)
    count_wait();
}

void outbox::count_wait() const noexcept {
  if (waiters_.empty())
    activity_->credit_wait.add(static_cast<std::uint64_t>(
      std::chrono::nanoseconds{coarse_now() - waits_since_}.count()));
}

void outbox::hand_out_credit() {
  while (credit_ > 0 && !waiters_.empty()) {
    --credit_;
    auto* const next = waiters_.front();
    waiters_.erase(waiters_.begin());
    count_wait();
    next->on_credit();
  }
}

} // namespace tertulia::detail
