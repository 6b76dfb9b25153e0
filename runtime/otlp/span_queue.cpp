// SPDX-License-Identifier: BSD-3-Clause

#include "span_queue.hpp"

#include <algorithm>
#include <utility>

namespace tertulia::otlp {

void span_queue::on_end(std::shared_ptr<const span_data> x) noexcept {
  if (!x->context.sampled)
    return;
  const std::lock_guard guard{mutex_};
  if (waiting_.size() >= max_size_ || has_ended_) {
    ++counts_.dropped;
    return;
  }
  try {
    waiting_.push_back(std::move(x));
    ++accepted_;
    if (waiting_.size() >= max_batch_)
      wake();
  } catch (...) { // no memory
    ++counts_.dropped;
  }
}

void span_queue::wake() {
  if (wake_up_ && !std::exchange(is_woken_, true))
    wake_up_();
}

void span_queue::set_wake_up(std::function<void()> wake_up) {
  const std::lock_guard guard{mutex_};
  wake_up_ = std::move(wake_up);
  if (is_closed_ || waiting_.size() >= max_batch_)
    wake();
}

span_queue::batch span_queue::take() {
  const std::lock_guard guard{mutex_};
  is_woken_ = false;
  const auto size = std::min(waiting_.size(), max_batch_);
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(size);
  batch result{std::make_move_iterator(waiting_.begin()),
               std::make_move_iterator(end)};
  waiting_.erase(waiting_.begin(), end);
  under_way_ = size;
  return result;
}

void span_queue::count_batch(std::size_t size, std::size_t lost,
                             std::string failure) {
  const std::lock_guard guard{mutex_};
  under_way_ = 0;
  counts_.sent += size - lost;
  counts_.lost += lost;
  if (lost > 0)
    failure_ = std::move(failure);
  count_change_.notify_all();
}

void span_queue::end() {
  const std::lock_guard guard{mutex_};
  has_ended_ = true;
  wake_up_ = nullptr;
  counts_.lost += under_way_ + waiting_.size();
  under_way_ = 0;
  waiting_.clear();
  count_change_.notify_all();
}

void span_queue::close() {
  const std::lock_guard guard{mutex_};
  is_closed_ = true;
  wake();
}

bool span_queue::is_closed() const {
  const std::lock_guard guard{mutex_};
  return is_closed_;
}

bool span_queue::flush(caf::timespan within) {
  std::unique_lock guard{mutex_};
  wake();
  return count_change_.wait_for(guard, within, [this, wanted = accepted_] {
    return counts_.sent + counts_.lost >= wanted;
  });
}

otlp_exporter::counts span_queue::count() const {
  const std::lock_guard guard{mutex_};
  return counts_;
}

std::string span_queue::last_failure() const {
  const std::lock_guard guard{mutex_};
  return failure_;
}

} // namespace tertulia::otlp
