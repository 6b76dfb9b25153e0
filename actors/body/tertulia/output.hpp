// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/access.hpp>
#include <tertulia/detail/build.hpp>
#include <tertulia/detail/host.hpp>
#include <tertulia/task.hpp>

#include <cstdint>
#include <utility>

namespace tertulia {

namespace detail {

/// Wait for credit to send a message to the client.
class credit_wait : public wait, private outbox::credit_waiter {
public:
  explicit credit_wait(host& owner) noexcept : owner_(&owner) {}

  credit_wait(credit_wait&&) noexcept = default;

  void on_credit() final {
    wake();
  }

  template <scoped_promise Promise>
  bool await_suspend(std::coroutine_handle<Promise> waiting) {
    if (!begin(waiting) || owner_->out.reserve())
      return false;
    owner_->out.wait_for_credit(*this);
    suspend();
    return true;
  }

  void abort(const caf::error& reason) override {
    owner_->out.remove(*this);
    wait::abort(reason);
  }

protected:
  ~credit_wait() {
    if (is_linked())
      owner_->out.remove(*this);
  }

  /// Throws if the wait failed; otherwise the caller owns one credit.
  void take_credit() const {
    // Woken with a credit, but cancelled before it ran: others may use it.
    if (!failed() && cancelled())
      owner_->out.release();
    check();
  }

  host* owner_;
};

template <class T>
class [[nodiscard]] send_chunk final : public credit_wait {
public:
  template <class... Ts>
  explicit send_chunk(host& owner, Ts&&... xs)
    : credit_wait(owner), chunk_(build<T>(std::forward<Ts>(xs)...)) {}

  send_chunk(send_chunk&&) noexcept = default;

  void await_resume() {
    take_credit();
    if (owner_->out.push(std::move(chunk_)))
      owner_->flush();
  }

private:
  T chunk_;
};

/// Sends a chunk that is built in its batch, for chunks that are large to move.
template <class T, class Fill>
class [[nodiscard]] send_built final : public credit_wait {
public:
  send_built(host& owner, Fill fill)
    : credit_wait(owner), fill_(std::move(fill)) {}

  // NOLINTNEXTLINE(bugprone-exception-escape): moving JSON asserts
  send_built(send_built&&) noexcept = default;

  void await_resume() {
    take_credit();
    if (owner_->out.template push_built<T>(fill_))
      owner_->flush();
  }

private:
  Fill fill_; // builds the chunk
};

class [[nodiscard]] end_turn final : public credit_wait {
public:
  /// @param snapshot of the end of the turn; null without one.
  explicit end_turn(host& owner, const snapshot_id* snapshot = nullptr) noexcept
    : credit_wait(owner), snapshot_(snapshot) {}

  void await_resume() {
    take_credit();
    owner_->end_turn(snapshot_ != nullptr ? *snapshot_ : snapshot_id{});
  }

private:
  const snapshot_id* snapshot_;
};

} // namespace detail

/// Output stream of a body.
///
/// Chunks are sent in batches: when the body waits, or when half a window or
/// 512 chunks have gathered, whichever is less. A body that computes for long
/// between two chunks should call `flush`.
///
/// @threads  only on the actor of its body.
/// @lifetime a light handle; valid while the body runs.
/// @design   docs/engine.md#coroutines; docs/genkit.md 001 §1.1, §1.4: `outCh`.
template <class T>
class output {
public:
  using value_type = T;

  /// Sends one chunk; waits while the client lags by a whole window.
  ///
  /// Takes a chunk or the arguments to build one. An aggregate must have a
  /// name: g++ 12 miscompiles `co_await out.send(progress{"x", 1})`, so this
  /// does not compile there; `co_await out.send("x", 1)` is fine.
  ///
  /// @errors `cancelled` or another error that ends the connection.
  template <class... Ts>
  requires detail::buildable_from<T, Ts...>
  [[nodiscard]] auto send(Ts&&... xs) const {
    detail::check_awaited_arguments<Ts...>();
    return detail::send_chunk<T>{*owner_, std::forward<Ts>(xs)...};
  }

  /// Ends the turn: the answer to the current input is complete, and the
  /// client's `responses()` ends here. Costs one credit, as a chunk does.
  ///
  /// @errors `cancelled` or another error that ends the connection.
  [[nodiscard]] auto end_turn() const noexcept {
    return detail::end_turn{*owner_};
  }

  /// Sends the gathered chunks now. Never waits.
  void flush() const {
    owner_->flush();
  }

private:
  friend detail::access;

  explicit output(detail::host& owner) noexcept : owner_(&owner) {}

  detail::host* owner_;
};

} // namespace tertulia
