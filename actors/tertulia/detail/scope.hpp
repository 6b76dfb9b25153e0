// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/status.hpp>

#include <caf/error.hpp>

#include <concepts>
#include <coroutine>
#include <utility>

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

/// A promise that knows to which scope its coroutine belongs: every `task`.
template <class Promise>
concept scoped_promise = requires(Promise& x) {
  { x.scope() } -> std::same_as<scope&>;
};

/// One wait of a body: the base of everything that a body can `co_await`
/// except tasks. Lives in the frame of the waiting coroutine.
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
  /// once; a wait whose work cannot be left alone overrides this and wakes it
  /// when the work has ended.
  virtual void abort(const caf::error& reason) {
    failure_ = reason;
    wake();
  }

  /// Has the coroutine resumed by its host, before the actor takes its next
  /// message.
  void wake();

  /// A wait that is not ready is asked to suspend, never whether it is ready:
  /// only there can it see whether its scope was cancelled.
  static constexpr bool await_ready() noexcept {
    return false;
  }

protected:
  ~wait() = default;

  /// Takes note of who waits.
  /// @returns false if the scope was cancelled: the wait has failed.
  template <scoped_promise Promise>
  bool begin(std::coroutine_handle<Promise> waiting);

  /// Links the wait to its scope, so that a cancel reaches it.
  void suspend();

  /// Fails the wait without a cancel.
  void fail_with(caf::error reason) {
    failure_ = std::move(reason);
  }

  /// Throws if the wait failed or its scope was cancelled meanwhile. Whatever
  /// takes something out of a queue asks this first, so that a wait that lost
  /// a race takes nothing with it.
  void check() const;

  [[nodiscard]] bool failed() const noexcept {
    return static_cast<bool>(failure_);
  }

  /// Whether the scope was cancelled, be it after the wait had succeeded.
  [[nodiscard]] bool cancelled() const noexcept;

  [[nodiscard]] host& owner() const noexcept;

private:
  std::coroutine_handle<> waiting_;
  scope* scope_ = nullptr;
  caf::error failure_;
};

/// What is cancelled together: the waits of some coroutines of one body. Scopes
/// form a tree, and cancelling one cancels what is below it.
///
/// @threads only on the actor of its host.
class scope : public hook {
public:
  /// Makes the root scope of a body.
  /// @param next where the host looks for the coroutine to go on with.
  scope(host& owner, std::coroutine_handle<>& next) noexcept
    : owner_(owner), next_(next) {}

  /// Makes a scope below `parent`, which is not null; cancelled from the start
  /// if that is.
  explicit scope(scope* parent)
    : owner_(parent->owner_), next_(parent->next_), reason_(parent->reason_) {
    parent->children_.push_back(*this);
  }

  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;

  [[nodiscard]] host& owner() const noexcept {
    return owner_;
  }

  /// Has the host go on with another coroutine when the present one has
  /// suspended. It returns to the host for this rather than transfer control by
  /// itself: g++ makes that a call unless it optimises, and a loop over tasks
  /// would use up the stack.
  void go_on_with(std::coroutine_handle<> next) noexcept {
    next_ = next;
  }

  [[nodiscard]] bool cancelled() const noexcept {
    return static_cast<bool>(reason_);
  }

  /// Why the scope was cancelled; none if it was not.
  [[nodiscard]] const caf::error& reason() const noexcept {
    return reason_;
  }

  /// Makes every wait in and below this scope fail with `reason`, now and from
  /// now on. Only marks and wakes: nothing runs before the host resumes it.
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
  std::coroutine_handle<>& next_;
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
