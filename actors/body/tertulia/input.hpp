// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/access.hpp>
#include <tertulia/detail/host.hpp>
#include <tertulia/task.hpp>

#include <optional>

namespace tertulia {

namespace detail {

template <class T>
class [[nodiscard]] next_input final : public wait {
public:
  using value_type = std::optional<T>;

  explicit next_input(inbox& from) noexcept : queue_(&from) {}

  next_input(next_input&&) noexcept = default;

  ~next_input() {
    queue_->remove_reader(*this);
  }

  template <scoped_promise Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) {
    if (!begin(waiting))
      return false;
    if (queue_->has_reader()) {
      fail_with(fail(errc::failed_precondition,
                     "another part of the body waits for an input already"));
      return false;
    }
    if (queue_->is_ready())
      return false;
    queue_->wait_for_input(*this);
    suspend();
    return true;
  }

  void abort(const caf::error& reason) override {
    queue_->remove_reader(*this);
    wait::abort(reason);
  }

  std::optional<T> await_resume() {
    queue_->remove_reader(*this);
    check();
    auto value = queue_->take();
    if (!value)
      return std::nullopt;
    return std::move(*value).template take<T>();
  }

private:
  inbox* queue_;
};

} // namespace detail

/// Input stream of a body.
///
/// @threads  only on the actor of its body.
/// @lifetime a light handle; valid while the body runs.
/// @design   docs/engine.md#coroutines; docs/genkit.md 001 §1.1 (`inCh`).
template <class T>
class input {
public:
  using value_type = T;

  /// Waits for the next input.
  ///
  /// Inputs come in the order in which they were accepted, including those that
  /// were accepted before the client closed. Only one part of a body may wait
  /// at a time.
  ///
  /// @returns the input; empty once the client has closed and all inputs were
  ///          read.
  /// @errors  `cancelled` or another error that ends the connection;
  ///          `failed_precondition` if another part of the body waits already.
  [[nodiscard]] auto next() const noexcept {
    return detail::next_input<T>{*queue_};
  }

  /// Returns whether the client has closed its input; some inputs may still be
  /// unread.
  [[nodiscard]] bool closed() const noexcept {
    return queue_->closed();
  }

private:
  friend detail::access;

  explicit input(detail::host& owner) noexcept : queue_(&owner.in) {}

  detail::inbox* queue_;
};

} // namespace tertulia
