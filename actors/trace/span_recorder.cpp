// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/span_recorder.hpp>

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

namespace tertulia {

span_recorder::span_recorder(std::size_t capacity) : capacity_(capacity) {
  assert(capacity > 0);
  ring_.reserve(capacity); // so that on_end cannot run out of memory
}

std::vector<span_recorder::record> span_recorder::spans() const {
  std::vector<record> result;
  result.reserve(capacity_);
  std::lock_guard guard{mutex_};
  const auto middle = ring_.begin() + static_cast<std::ptrdiff_t>(oldest_);
  result.assign(middle, ring_.end());
  result.insert(result.end(), ring_.begin(), middle);
  return result;
}

span_recorder::record span_recorder::find(std::string_view name) const {
  const auto all = spans();
  const auto pos = std::find_if(all.rbegin(), all.rend(), [&](const record& x) {
    return x->name == name;
  });
  return pos == all.rend() ? nullptr : *pos;
}

std::vector<span_recorder::record>
span_recorder::children_of(span_id parent) const {
  auto result = spans();
  std::erase_if(result, [&](const record& x) { return x->parent != parent; });
  return result;
}

void span_recorder::clear() {
  std::vector<record> old; // destroyed after the mutex is released
  old.reserve(capacity_);
  std::lock_guard guard{mutex_};
  old.swap(ring_);
  oldest_ = 0;
}

void span_recorder::on_start(const span_data&) noexcept {
  // only ended spans are kept
}

void span_recorder::on_end(record x) noexcept {
  std::lock_guard guard{mutex_};
  if (ring_.size() < capacity_) {
    ring_.push_back(std::move(x));
    return;
  }
  // The replaced record is destroyed with `x`, after the mutex is released.
  ring_[oldest_].swap(x);
  oldest_ = (oldest_ + 1) % capacity_;
}

} // namespace tertulia
