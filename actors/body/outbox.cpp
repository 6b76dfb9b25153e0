// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/outbox.hpp>

#include <algorithm>
#include <utility>

namespace tertulia::detail {

void outbox::grant(std::uint32_t chunks) {
  const auto paid = std::min(debt_, chunks);
  debt_ -= paid;
  chunks -= paid;
  credit_ = std::min(credit_, max_window) + std::min(chunks, max_window);
  credit_ = std::min(credit_, max_window);
  wake_writers();
}

void outbox::release() {
  ++credit_;
  wake_writers();
}

void outbox::wait_for_credit(wait& part) {
  writers_.push_back({&part, [&part] { part.wake(); }});
}

void outbox::wait_for_credit(std::function<void()> then) {
  writers_.push_back({nullptr, std::move(then)});
}

bool outbox::remove(const wait& part) noexcept {
  return std::erase_if(writers_,
                       [&](const writer& x) { return x.part == &part; })
         > 0;
}

void outbox::wake_writers() {
  while (credit_ > 0 && !writers_.empty()) {
    --credit_;
    const auto next = std::move(writers_.front().resume);
    writers_.erase(writers_.begin());
    next();
  }
}

} // namespace tertulia::detail
