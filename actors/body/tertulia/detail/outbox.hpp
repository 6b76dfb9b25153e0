// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/chunks.hpp>
#include <tertulia/detail/activity_counters.hpp>
#include <tertulia/open.hpp>
#include <tertulia/payload.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

namespace tertulia::detail {

/// Queue of the outgoing chunks and ends of turns of one connection, numbered
/// in one sequence, with the credit that the client granted.
///
/// Chunks gather until the body waits or the batch is full, with half a window
/// but at most `max_batch` chunks. They are then sent as one message, so that
/// body and client work at the same time and many chunks share its cost.
///
/// @threads only on the actor of its host.
class outbox {
public:
  /// @param counts of the action; outlives the outbox.
  void start(std::uint32_t window, activity& counts) noexcept {
    activity_ = &counts;
    granted_ = credit_ = window;
    batch_limit_ = std::clamp(window / 2, 1u, max_batch);
  }

  // -- the client's side ------------------------------------------------------

  /// Adds credit, up to `max_window` in all: with more, a client could make
  /// this node queue without a bound.
  void grant(std::uint32_t chunks);

  /// Sets the room for chunks that have not left, when another client takes the
  /// place of the one that granted the credit, or when nobody does. Credit that
  /// parts of the body hold already counts.
  /// @param room may be negative: as many chunks wait for the client's credit.
  void set_room(std::int64_t room);

  // -- the body's side --------------------------------------------------------

  /// Part of a connection that waits for credit.
  class credit_waiter {
  public:
    /// Called in order of arrival, with one credit reserved for this part.
    virtual void on_credit() = 0;

  protected:
    ~credit_waiter() = default;
  };

  /// Takes one credit, to be spent by `push`, `push_batch` or `end_turn`.
  /// @returns false if no credit is left: the part must wait.
  bool reserve() noexcept {
    if (credit_ <= 0)
      return false;
    --credit_;
    return true;
  }

  /// Gives back a credit that was reserved and not spent.
  void release();

  /// Queues a part for credit.
  void wait_for_credit(credit_waiter& part);

  /// Removes a part from the queue.
  void remove(const credit_waiter& part) noexcept;

  /// Returns whether a part of the connection waits for credit.
  [[nodiscard]] bool is_awaited() const noexcept {
    return !waiters_.empty();
  }

  /// Adds a chunk.
  /// @returns whether the batch is full and should be sent now.
  /// @pre a credit was reserved for it.
  template <class T>
  bool push(T&& chunk) {
    batch_of<std::remove_cvref_t<T>>().push_back(std::forward<T>(chunk));
    return ++size_ >= batch_limit_;
  }

  /// Adds a chunk that is built in place.
  /// @param fill takes a `T&` that was default-constructed.
  /// @returns whether the batch is full and should be sent now.
  /// @pre a credit was reserved for it.
  template <class T, class Fill>
  bool push_built(Fill&& fill) {
    auto& batch = batch_of<T>();
    fill(batch.emplace_back());
    return ++size_ >= batch_limit_;
  }

  /// Counts the end of a turn and returns the turn's index.
  /// @pre a credit was reserved for it, and no chunk is gathered.
  std::uint64_t end_turn() noexcept {
    ++sent_;
    return turns_++;
  }

  /// Returns the index of the turn under way, which is the number of turns that
  /// have ended.
  [[nodiscard]] std::uint64_t turn() const noexcept {
    return turns_;
  }

  // -- sending ----------------------------------------------------------------

  [[nodiscard]] std::uint32_t size() const noexcept {
    return size_;
  }

  /// Takes the gathered chunks; `sent()` is then the number of the next one.
  payload take_batch() {
    sent_ += std::exchange(size_, 0);
    return access::make<payload>(std::move(pending_));
  }

  /// Adds a chunk as a batch of one.
  /// @param x not shared, and held as the type of the other chunks.
  /// @pre a credit was reserved for it, and no chunk is gathered.
  void push_batch(payload x) {
    pending_ = access::content(std::move(x));
    size_ = 1;
  }

  /// Returns the number of chunks and ends of turns sent, which is the number
  /// of the next one.
  [[nodiscard]] std::uint64_t sent() const noexcept {
    return sent_;
  }

private:
  /// Bounds the latency and the size of one message, for every window.
  static constexpr std::uint32_t max_batch = 512;

  /// Returns the batch that takes the next chunk.
  template <class T>
  chunks<T>& batch_of() {
    using values = box<chunks<T>>;
    if (size_ == 0)
      pending_ = caf::make_counted<values>();
    auto& batch = static_cast<values&>(*pending_).value;
    if (size_ == 1) // for two chunks, and those there is credit for
      batch.reserve(static_cast<std::size_t>(
        std::clamp<std::int64_t>(credit_ + 2, 2, batch_limit_)));
    return batch;
  }

  void hand_out_credit();

  /// Counts the time since a part began to wait, unless another one does.
  void count_wait() const noexcept;

  activity* activity_ = nullptr;
  std::int64_t credit_ = 0;  // negative: a client with less took over
  std::int64_t granted_ = 0; // spent, reserved or left
  std::uint32_t batch_limit_ = 1;
  std::uint32_t size_ = 0; // chunks in pending_
  std::uint64_t sent_ = 0;
  std::uint64_t turns_ = 0;
  caf::intrusive_ptr<boxed> pending_;
  std::vector<credit_waiter*>
    waiters_; // in order of arrival; empty if credit_ > 0
  std::chrono::steady_clock::time_point waits_since_;
};

} // namespace tertulia::detail
