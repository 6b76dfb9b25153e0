// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/host.hpp>

#include <caf/timespan.hpp>

#include <cstdint>

namespace tertulia::detail {

/// Wait for a delay to pass.
class [[nodiscard]] sleep_wait final : public wait {
public:
  explicit sleep_wait(caf::timespan delay) noexcept : delay_(delay) {}

  sleep_wait(sleep_wait&&) noexcept = default;

  ~sleep_wait() {
    if (is_linked())
      stop();
  }

  template <scoped_promise Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) {
    if (!begin(waiting) || delay_.count() <= 0)
      return false;
    id_ = owner().register_wait(*this);
    owner().limits.arm(id_, delay_);
    suspend();
    return true;
  }

  void abort(const caf::error& reason) override {
    stop();
    wait::abort(reason);
  }

  void await_resume() const {
    check();
  }

private:
  void stop() {
    owner().take_wait(id_);
    owner().limits.disarm(id_);
  }

  caf::timespan delay_;
  std::uint64_t id_ = 0;
};

} // namespace tertulia::detail
