// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/inbox.hpp>

#include <iterator>

namespace tertulia::detail {

caf::error inbox::accept(payload value) {
  if (closed_)
    return fail(errc::failed_precondition, "the input is closed");
  if (client_credit_ == 0)
    return fail(errc::resource_exhausted,
                "an input was sent without credit for it");
  --client_credit_;
  queue_.push_back(std::move(value));
  wake_reader();
  return caf::none;
}

std::optional<payload> inbox::take() {
  if (head_ == queue_.size())
    return std::nullopt;
  auto result = std::move(queue_[head_++]);
  if (head_ == queue_.size()) {
    queue_.clear();
    head_ = 0;
  } else if (head_ >= 64 && head_ * 2 >= queue_.size()) {
    // The queue may never become empty: erase the taken inputs once they make
    // up half of it.
    queue_.erase(queue_.begin(), std::next(queue_.begin(), //
                                           static_cast<std::ptrdiff_t>(head_)));
    head_ = 0;
  }
  ++taken_count_;
  if (window_ > 0)
    ++due_credit_;
  return result;
}

} // namespace tertulia::detail
