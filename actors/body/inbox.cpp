// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/inbox.hpp>

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
  if (queue_.empty())
    return std::nullopt;
  ++taken_count_;
  if (window_ > 0)
    ++due_credit_;
  return queue_.pop_front();
}

} // namespace tertulia::detail
