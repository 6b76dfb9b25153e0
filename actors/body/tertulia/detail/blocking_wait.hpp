// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/blocking_pool.hpp>
#include <tertulia/detail/host.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace tertulia::detail {

template <class Fn>
decltype(auto) call_blocking(Fn& fn, std::stop_token stop) {
  if constexpr (std::is_invocable_v<Fn&, std::stop_token>)
    return std::invoke(fn, std::move(stop));
  else
    return std::invoke(fn);
}

/// Blocking work and its result.
template <class Fn>
class blocking_call final : public blocking_job {
public:
  using result_type = std::remove_cvref_t<decltype(call_blocking(
    std::declval<Fn&>(), std::stop_token{}))>;

  explicit blocking_call(Fn fn) : fn_(std::move(fn)) {}

  result_type result() {
    if (failure_)
      std::rethrow_exception(failure_);
    if constexpr (!std::is_void_v<result_type>)
      return std::move(*value_);
  }

private:
  void work(std::stop_token stop) noexcept override {
    try {
      if constexpr (std::is_void_v<result_type>)
        call_blocking(*fn_, std::move(stop));
      else
        value_.emplace(call_blocking(*fn_, std::move(stop)));
    } catch (...) {
      failure_ = std::current_exception();
    }
    drop();
  }

  void drop() noexcept override {
    fn_.reset();
  }

  std::optional<Fn> fn_;
  std::optional<
    std::conditional_t<std::is_void_v<result_type>, bool, result_type>>
    value_;
  std::exception_ptr failure_;
};

/// Wait for blocking work.
class blocking_wait_base : public wait {
public:
  /// Work that has begun may refer to the frame, so the wait continues until
  /// the work has ended; `await_resume` then throws.
  void abort(const caf::error& reason) override;

protected:
  explicit blocking_wait_base(std::shared_ptr<blocking_job> job) noexcept
    : job_(std::move(job)) {}

  blocking_wait_base(blocking_wait_base&&) noexcept = default;

  /// Blocks if the work still runs: the actor was killed rather than cancelled,
  /// and the frame must outlive the work that refers to it.
  ~blocking_wait_base();

  /// Submits the work.
  /// @returns false if the work was refused.
  bool submit();

private:
  std::shared_ptr<blocking_job> job_;
  std::uint64_t id_ = 0;
};

template <class Fn>
class [[nodiscard]] blocking_wait final : public blocking_wait_base {
public:
  explicit blocking_wait(Fn fn)
    : blocking_wait(std::make_shared<blocking_call<Fn>>(std::move(fn))) {}

  blocking_wait(blocking_wait&&) noexcept = default;

  template <scoped_promise Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) {
    return begin(waiting) && submit();
  }

  auto await_resume() {
    check();
    return call_->result();
  }

private:
  explicit blocking_wait(std::shared_ptr<blocking_call<Fn>> call)
    : blocking_wait_base(call), call_(std::move(call)) {}

  std::shared_ptr<blocking_call<Fn>> call_;
};

} // namespace tertulia::detail
