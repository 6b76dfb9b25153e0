// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/status.hpp>

#include <caf/error.hpp>

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <utility>
#include <vector>

#include <boost/assert.hpp>
#include <boost/intrusive/list.hpp>

namespace tertulia::detail {

class host;
class scope;

using hook = boost::intrusive::list_base_hook<
  boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

template <class T>
using intrusive_list
  = boost::intrusive::list<T, boost::intrusive::constant_time_size<false>>;

/// The coroutines of one body that can go on, in the order in which they were
/// scheduled. No part of a body runs inside another part.
///
/// @threads only on the actor of the body.
class ready_queue {
public:
  void schedule(std::coroutine_handle<> x) {
    queue_.push_back(x);
  }

  /// Makes `run` resume another coroutine when the current one has suspended.
  /// Control returns to `run` instead of passing by symmetric transfer: g++
  /// makes that a call unless it optimises, and a loop over tasks would use up
  /// the stack.
  void set_next(std::coroutine_handle<> next) noexcept {
    next_ = next;
  }

  [[nodiscard]] bool empty() const noexcept {
    return queue_.empty();
  }

  /// Resumes all coroutines, also those that are scheduled meanwhile.
  void run() {
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      next_ = queue_[i];
      while (next_)
        std::exchange(next_, {}).resume();
    }
    queue_.clear();
  }

private:
  std::vector<std::coroutine_handle<>> queue_;
  std::coroutine_handle<> next_; // resumed when the current one suspends
};

/// A promise that knows the scope of its coroutine, as that of every `task`.
template <class Promise>
concept scoped_promise = requires(Promise& x) {
  { x.scope() } -> std::same_as<scope&>;
};

/// One wait of a body: the base of everything that a body can `co_await` except
/// tasks. Lives in the frame of the waiting coroutine.
///
/// A wait can be moved until it is awaited, not after.
class wait : public hook {
public:
  wait() = default;

  wait(wait&& other) noexcept : hook(), failure_(std::move(other.failure_)) {
    BOOST_ASSERT_MSG(!other.is_linked(), "a wait that is awaited cannot move");
  }

  wait& operator=(wait&&) = delete;

  /// Makes the wait fail with `reason`. The default wakes the coroutine at
  /// once. A wait whose work must not be abandoned overrides this and wakes the
  /// coroutine when the work has ended.
  virtual void abort(const caf::error& reason) {
    failure_ = reason;
    wake();
  }

  /// Schedules the coroutine: its host resumes it before the actor takes its
  /// next message.
  inline void wake();

  /// Always false: only `await_suspend` can see whether the scope was
  /// cancelled.
  static constexpr bool await_ready() noexcept {
    return false;
  }

protected:
  ~wait() = default;

  /// Stores the waiting coroutine and its scope.
  /// @returns false if the scope was cancelled: the wait has failed.
  template <scoped_promise Promise>
  bool begin(std::coroutine_handle<Promise> waiting);

  /// Links the wait to its scope, so that a cancel reaches it.
  void suspend();

  /// Fails the wait without a cancel.
  void fail_with(caf::error reason) {
    failure_ = std::move(reason);
  }

  /// Throws if the wait failed or its scope was cancelled meanwhile. A wait
  /// that takes something out of a queue checks this first, so that a wait that
  /// lost a race takes nothing.
  void check() const;

  [[nodiscard]] bool failed() const noexcept {
    return static_cast<bool>(failure_);
  }

  /// Returns whether the scope was cancelled, even after the wait had
  /// succeeded.
  [[nodiscard]] bool cancelled() const noexcept;

  [[nodiscard]] host& owner() const noexcept;

private:
  std::coroutine_handle<> waiting_;
  scope* scope_ = nullptr;
  caf::error failure_;
};

/// A group of waits that are cancelled together: those of some coroutines of
/// one body. Scopes form a tree, and cancelling a scope cancels all below it.
///
/// @threads only on the actor of its host.
class scope : public hook {
public:
  /// Makes the root scope of a body.
  /// @param ready the coroutines of the body that its host resumes.
  scope(host& owner, ready_queue& ready) noexcept
    : owner_(owner), ready_(ready) {}

  /// Makes a scope below `parent`, which is not null. The new scope is
  /// cancelled from the start if `parent` is.
  explicit scope(scope* parent)
    : owner_(parent->owner_), ready_(parent->ready_), reason_(parent->reason_) {
    parent->children_.push_back(*this);
  }

  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;

  [[nodiscard]] host& owner() const noexcept {
    return owner_;
  }

  [[nodiscard]] ready_queue& ready() const noexcept {
    return ready_;
  }

  [[nodiscard]] bool cancelled() const noexcept {
    return static_cast<bool>(reason_);
  }

  /// Returns why the scope was cancelled; none if it was not.
  [[nodiscard]] const caf::error& reason() const noexcept {
    return reason_;
  }

  /// Makes every present and future wait in and below this scope fail with
  /// `reason`. Only marks and wakes: nothing runs before the host resumes it.
  void cancel(const caf::error& reason) {
    if (cancelled())
      return;
    reason_ = reason;
    for (auto& child : children_)
      child.cancel(reason);
    while (!waits_.empty()) {
      auto& next = waits_.front();
      waits_.pop_front();
      next.abort(reason);
    }
  }

private:
  friend class wait;

  host& owner_;
  ready_queue& ready_;
  caf::error reason_;
  intrusive_list<wait> waits_;
  intrusive_list<scope> children_;
};

template <scoped_promise Promise>
bool wait::begin(std::coroutine_handle<Promise> waiting) {
  waiting_ = waiting;
  scope_ = &waiting.promise().scope();
  if (scope_->cancelled())
    failure_ = scope_->reason();
  return !failure_;
}

inline void wait::wake() {
  unlink();
  scope_->ready_.schedule(waiting_);
}

inline void wait::suspend() {
  scope_->waits_.push_back(*this);
}

inline void wait::check() const {
  if (failure_)
    raise(failure_);
  if (scope_->cancelled())
    raise(scope_->reason());
}

inline bool wait::cancelled() const noexcept {
  return scope_->cancelled();
}

inline host& wait::owner() const noexcept {
  return scope_->owner();
}

} // namespace tertulia::detail
