// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/host.hpp>
#include <tertulia/protocol.hpp>

#include <utility>

namespace tertulia::detail {

/// Guard that ends the actor of a body when its connection no longer needs it.
class body_guard {
public:
  body_guard(host& owner, connection_actor body) noexcept
    : owner_(owner), body_(std::move(body)) {}

  body_guard(const body_guard&) = delete;
  body_guard& operator=(const body_guard&) = delete;

  /// Sends the kill behind all earlier messages, so that the body gets its
  /// cancel.
  ~body_guard();

  [[nodiscard]] const connection_actor& actor() const noexcept {
    return body_;
  }

private:
  host& owner_;
  connection_actor body_;
};

/// A wait that only a cancel ends.
class cancel_wait final : public wait {
public:
  cancel_wait() = default;
  cancel_wait(cancel_wait&&) noexcept = default;

  template <scoped_promise Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) {
    if (!begin(waiting))
      return false;
    suspend();
    return true;
  }

  void await_resume() const {
    check();
  }
};

} // namespace tertulia::detail
