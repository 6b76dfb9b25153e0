// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/access.hpp>
#include <tertulia/detail/scope.hpp>

#include <caf/expected.hpp>

#include <concepts>
#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

namespace tertulia {

template <class T>
class task;

namespace detail {

/// Listener for the end of a task without an awaiting coroutine.
class task_listener {
public:
  /// Called while the task's frame is still suspended at its end: the listener
  /// must not destroy it from here.
  virtual void on_task_end() noexcept = 0;

protected:
  ~task_listener() = default;
};

class task_promise_base {
public:
  [[nodiscard]] std::suspend_always initial_suspend() const noexcept {
    return {};
  }

  [[nodiscard]] auto final_suspend() const noexcept {
    struct handover {
      const task_promise_base& promise;

      [[nodiscard]] bool await_ready() const noexcept {
        return false;
      }

      void await_suspend(std::coroutine_handle<>) const noexcept {
        if (promise.listener_ != nullptr)
          promise.listener_->on_task_end();
        if (promise.continuation_)
          promise.scope_->ready().set_next(promise.continuation_);
      }

      void await_resume() const noexcept {}
    };
    return handover{*this};
  }

  void unhandled_exception() noexcept {
    failure_ = std::current_exception();
  }

  [[nodiscard]] detail::scope& scope() const noexcept {
    return *scope_;
  }

  void continue_with(std::coroutine_handle<> next, detail::scope& scope) {
    continuation_ = next;
    scope_ = &scope;
  }

  [[nodiscard]] bool failed() const noexcept {
    return failure_ != nullptr;
  }

  void report_to(task_listener& listener, detail::scope& scope) {
    listener_ = &listener;
    scope_ = &scope;
  }

protected:
  void rethrow_failure() const {
    if (failure_)
      std::rethrow_exception(failure_);
  }

private:
  std::coroutine_handle<> continuation_;
  task_listener* listener_ = nullptr;
  detail::scope* scope_ = nullptr;
  std::exception_ptr failure_;
};

template <class T>
class task_promise : public task_promise_base {
public:
  task<T> get_return_object() noexcept;

  template <class U>
  requires std::convertible_to<U, T>
  void return_value(U&& value) {
    value_.emplace(std::forward<U>(value));
  }

  T result() {
    rethrow_failure();
    return std::move(*value_);
  }

private:
  std::optional<T> value_;
};

template <>
class task_promise<void> : public task_promise_base {
public:
  task<void> get_return_object() noexcept;

  void return_void() const noexcept {}

  void result() const {
    rethrow_failure();
  }
};

} // namespace detail

/// A lazy computation of a body: starts when it is awaited, on the actor that
/// awaits it, and passes its value or exception to the awaiting coroutine.
///
/// ```
/// tertulia::task<int> twice(tertulia::input<int> in) {
///   auto x = co_await in.next();
///   co_return x ? *x * 2 : 0;
/// }
/// ```
///
/// Arguments live in the frame: take them by value. A lambda that is a
/// coroutine must not capture anything unless it outlives its task (a defined
/// action's does).
///
/// @threads  only on the actor of its body.
/// @lifetime move-only; await it exactly once; its owner destroys the frame,
///           and with it everything that the computation still holds.
/// @design   docs/engine.md#coroutines.
template <class T = void>
class [[nodiscard]] task {
public:
  using promise_type = detail::task_promise<T>;
  using value_type = T;

  task(task&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}

  task& operator=(task&& other) noexcept {
    if (this != &other) {
      reset();
      frame_ = std::exchange(other.frame_, {});
    }
    return *this;
  }

  ~task() {
    reset();
  }

  /// Runs the task; the awaiting coroutine resumes when it has ended.
  auto operator co_await() && noexcept {
    return awaiter{frame_};
  }

private:
  friend promise_type;
  friend detail::access;

  /// Prepares the task to run without an awaiting
  /// coroutine. The caller resumes the returned handle and, once the listener
  /// was called, gets the `result`.
  std::coroutine_handle<> start_for(detail::task_listener& listener,
                                    detail::scope& scope) {
    frame_.promise().report_to(listener, scope);
    return frame_;
  }

  /// Returns whether an ended task has failed.
  [[nodiscard]] bool failed() const noexcept {
    return frame_.promise().failed();
  }

  /// Returns the value of an ended task, or throws its
  /// exception.
  [[nodiscard]] T result() const {
    return frame_.promise().result();
  }

  struct awaiter {
    std::coroutine_handle<promise_type> frame;

    [[nodiscard]] bool await_ready() const noexcept {
      return false;
    }

    template <detail::scoped_promise Promise>
    void await_suspend(std::coroutine_handle<Promise> waiting) const noexcept {
      auto& within = waiting.promise().scope();
      frame.promise().continue_with(waiting, within);
      within.ready().set_next(frame);
    }

    // Not const: clang-tidy would then require `[[nodiscard]]`, and the value
    // of a wait may be ignored.
    T await_resume() {
      return frame.promise().result();
    }
  };

  explicit task(std::coroutine_handle<promise_type> frame) noexcept
    : frame_(frame) {}

  void reset() noexcept {
    if (frame_)
      std::exchange(frame_, {}).destroy();
  }

  std::coroutine_handle<promise_type> frame_;
};

namespace detail {

template <class T>
task<T> task_promise<T>::get_return_object() noexcept {
  return task<T>{std::coroutine_handle<task_promise<T>>::from_promise(*this)};
}

inline task<void> task_promise<void>::get_return_object() noexcept {
  return task<void>{
    std::coroutine_handle<task_promise<void>>::from_promise(*this)};
}

template <class Awaitable>
auto awaiter_of(Awaitable&& x) {
  if constexpr (requires { std::forward<Awaitable>(x).operator co_await(); })
    return std::forward<Awaitable>(x).operator co_await();
  else
    return std::forward<Awaitable>(x);
}

/// A type that a body can `co_await`.
template <class A>
concept awaitable = requires(A& x) {
  { x.await_ready() } -> std::convertible_to<bool>;
}
|| requires(A&& x) {
  std::move(x).operator co_await();
};

/// Result type of awaiting an `A`.
template <awaitable A>
using awaited_t = decltype(awaiter_of(std::declval<A>()).await_resume());

/// Adapter of a wait that yields its error as a value.
template <class Awaitable>
class [[nodiscard]] expected_wait {
public:
  using awaiter_type = decltype(awaiter_of(std::declval<Awaitable>()));
  using value_type = decltype(std::declval<awaiter_type&>().await_resume());
  using result_type = caf::expected<value_type>;

  explicit expected_wait(Awaitable&& x)
    : awaited_(std::move(x)), awaiter_(awaiter_of(std::move(awaited_))) {}

  bool await_ready() {
    return awaiter_.await_ready();
  }

  template <scoped_promise Promise>
  auto await_suspend(std::coroutine_handle<Promise> waiting) {
    return awaiter_.await_suspend(waiting);
  }

  result_type await_resume() {
    try {
      if constexpr (std::is_void_v<value_type>) {
        awaiter_.await_resume();
        return result_type{caf::unit};
      } else {
        return result_type{awaiter_.await_resume()};
      }
    } catch (...) {
      return result_type{current_exception_to_error()};
    }
  }

private:
  Awaitable awaited_; // a task's awaiter refers to its task
  awaiter_type awaiter_;
};

} // namespace detail

/// Awaits `x` and yields `caf::expected<T>` instead of throwing.
///
/// ```
/// auto reply = co_await as_expected(ctx.ask<int>(adder, 1s, 1, 2));
/// if (!reply)
///   co_await out.send("no answer: " + to_string(reply.error()));
/// ```
///
/// An exception that is not a `status_error` becomes `internal` with its text.
template <class Awaitable>
requires(!std::is_lvalue_reference_v<Awaitable>)
  [[nodiscard]] auto as_expected(Awaitable&& x) {
  return detail::expected_wait<std::remove_cvref_t<Awaitable>>{
    std::forward<Awaitable>(x)};
}

} // namespace tertulia
