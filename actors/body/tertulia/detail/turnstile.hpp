// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/scope.hpp>

#include <algorithm>
#include <vector>

namespace tertulia::detail {

/// Lets one part of a body at a time through: the others wait in order of
/// arrival.
///
/// @threads  only on the actor of the body.
/// @lifetime outlives the parts that wait.
class turnstile {
public:
  /// Wait for the passage. Whoever has passed calls `leave`.
  class [[nodiscard]] passage final : public wait {
  public:
    explicit passage(turnstile& of) noexcept : owner_(&of) {}

    passage(passage&&) noexcept = default;

    ~passage() {
      if (is_linked())
        std::erase(owner_->queue_, this);
    }

    template <scoped_promise Promise>
    bool await_suspend(std::coroutine_handle<Promise> waiting) {
      if (!begin(waiting))
        return false;
      if (!std::exchange(owner_->is_taken_, true)) {
        has_passed_ = true;
        return false;
      }
      owner_->queue_.push_back(this);
      suspend();
      return true;
    }

    void abort(const caf::error& reason) override {
      std::erase(owner_->queue_, this);
      wait::abort(reason);
    }

    void await_resume() const {
      // Let through, but cancelled before it ran: others may pass.
      if (has_passed_ && cancelled())
        owner_->leave();
      check();
    }

  private:
    friend turnstile;

    turnstile* owner_;
    bool has_passed_ = false;
  };

  [[nodiscard]] passage pass() noexcept {
    return passage{*this};
  }

  void leave() {
    is_taken_ = !queue_.empty();
    if (!is_taken_)
      return;
    auto& next = *queue_.front();
    queue_.erase(queue_.begin());
    next.has_passed_ = true;
    next.wake();
  }

private:
  bool is_taken_ = false;
  std::vector<passage*> queue_;
};

} // namespace tertulia::detail
