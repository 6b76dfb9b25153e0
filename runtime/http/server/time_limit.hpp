// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "message/channel.hpp"

namespace tertulia::web {

/// Time limit of what a connection does.
///
/// A limit is set for each read and each write, and nearly none passes. So the
/// timer is not moved each time: when it fires too early, it waits for the
/// rest.
///
/// @threads  those of its executor.
/// @lifetime nothing is called after its end.
class time_limit {
public:
  /// @param on_expiry called when the limit has passed.
  time_limit(const net::any_io_executor& executor,
             std::function<void()> on_expiry)
    : timer_(std::make_shared<timer>(executor, std::move(on_expiry))) {}

  time_limit(const time_limit&) = delete;
  time_limit& operator=(const time_limit&) = delete;

  ~time_limit() {
    timer_->on_expiry = nullptr;
    timer_->alarm.cancel();
  }

  void set(std::chrono::nanoseconds within) {
    timer_->due = clock::now() + within;
    if (timer_->due < timer_->armed_until)
      arm(timer_);
  }

  /// Removes the limit.
  void clear() noexcept {
    timer_->due = clock::time_point::max();
  }

private:
  struct timer {
    timer(const net::any_io_executor& executor, std::function<void()> call)
      : alarm(executor), on_expiry(std::move(call)) {}

    net::steady_timer alarm;
    std::function<void()> on_expiry;
    clock::time_point due = clock::time_point::max();
    clock::time_point armed_until = clock::time_point::max();
  };

  static void arm(const std::shared_ptr<timer>& x) {
    x->armed_until = x->due;
    x->alarm.expires_at(x->due); // cancels a wait for a later time
    x->alarm.async_wait(
      [weak = std::weak_ptr{x}](const boost::system::error_code& cancelled) {
        const auto self = weak.lock();
        if (!self || cancelled)
          return;
        self->armed_until = clock::time_point::max();
        if (self->due > clock::now()) {
          if (self->due < clock::time_point::max())
            arm(self);
        } else if (self->on_expiry) {
          self->on_expiry();
        }
      });
  }

  std::shared_ptr<timer> timer_;
};

} // namespace tertulia::web
