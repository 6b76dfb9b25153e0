// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/host.hpp>
#include <tertulia/session_protocol.hpp>

#include <coroutine>
#include <cstdint>
#include <optional>
#include <utility>

namespace tertulia::detail {

/// Wait for the snapshot of an event, in the conversation of the body or of the
/// body that has called it.
///
/// A wait that is dropped is withdrawn. A snapshot that was requested by then
/// is made nevertheless, and the client gets its notice.
class [[nodiscard]] snapshot_wait final : public wait {
public:
  explicit snapshot_wait(snapshot_event event) noexcept : event(event) {}

  snapshot_wait(snapshot_wait&&) noexcept = default;

  ~snapshot_wait() {
    if (is_linked())
      owner().withdraw(*this);
  }

  template <scoped_promise Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) {
    if (!begin(waiting))
      return false;
    suspend();
    owner().request_snapshot(*this);
    return true;
  }

  void abort(const caf::error& reason) override {
    owner().withdraw(*this);
    wait::abort(reason);
  }

  snapshot_outcome await_resume() {
    check();
    return std::move(*outcome_);
  }

  void succeed(snapshot_outcome x) {
    outcome_.emplace(std::move(x));
    wake();
  }

  void fail(caf::error reason) {
    fail_with(std::move(reason));
    wake();
  }

  const snapshot_event event;
  std::uint64_t number = 0; ///< Number of the wait at its host, if it has one.

private:
  std::optional<snapshot_outcome> outcome_;
};

} // namespace tertulia::detail
