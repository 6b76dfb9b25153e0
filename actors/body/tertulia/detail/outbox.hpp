// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/chunks.hpp>
#include <tertulia/detail/scope.hpp>
#include <tertulia/open.hpp>
#include <tertulia/payload.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace tertulia::detail {

/// Queue of the outgoing chunks of one connection, with the credit that the
/// client granted.
///
/// Chunks gather until the body waits or the batch is full, with half a window
/// but at most `max_batch` chunks. They are then sent as one message, so that
/// body and client work at the same time and many chunks share its cost.
///
/// @threads only on the actor of its host.
class outbox {
public:
  void start(std::uint32_t window) noexcept {
    credit_ = window;
    batch_limit_ = std::clamp(window / 2, 1u, max_batch);
  }

  // -- the client's side ------------------------------------------------------

  /// Adds credit, up to `max_window` in all: with more, a client could make
  /// this node queue without a bound.
  void grant(std::uint32_t chunks);

  /// Spends credit for chunks that were sent beside those of the body: from the
  /// present credit or from the next grant. So the window can be overdrawn by
  /// one chunk for each end of a turn and one for the end of the invocation:
  /// the notices of their snapshots.
  void spend(std::uint32_t chunks) noexcept {
    const auto paid = std::min(credit_, chunks);
    credit_ -= paid;
    debt_ += chunks - paid;
  }

  // -- the body's side --------------------------------------------------------

  /// Takes one credit, to be spent by `push` or `end_turn`.
  /// @returns false if no credit is left: the body must wait.
  bool reserve() noexcept {
    if (credit_ == 0)
      return false;
    --credit_;
    return true;
  }

  /// Gives back a credit that was reserved and not spent.
  void release();

  /// Queues a wait of the body for credit. It is woken in order of arrival,
  /// with one credit reserved for it.
  void wait_for_credit(wait& part);

  /// Queues a callback for credit. It is called in order of arrival, with one
  /// credit reserved for it.
  void wait_for_credit(std::function<void()> then);

  /// Removes a wait of the body from the queue.
  /// @returns false if it was not queued: a credit is reserved for it.
  bool remove(const wait& part) noexcept;

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
  /// @pre a credit was reserved for it.
  std::uint64_t end_turn() noexcept {
    return turns_++;
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

  /// Returns the number of chunks sent, which is the number of the next one.
  [[nodiscard]] std::uint64_t sent() const noexcept {
    return sent_;
  }

private:
  struct writer {
    const wait* part; // null if it does not belong to the body
    std::function<void()> resume;
  };

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
      batch.reserve(std::min(credit_ + 2, batch_limit_));
    return batch;
  }

  void wake_writers();

  std::uint32_t credit_ = 0;
  std::uint32_t debt_ = 0; // credit that was spent before it was granted
  std::uint32_t batch_limit_ = 1;
  std::uint32_t size_ = 0; // chunks in pending_
  std::uint64_t sent_ = 0;
  std::uint64_t turns_ = 0;
  caf::intrusive_ptr<boxed> pending_;
  std::vector<writer> writers_; // in order of arrival; empty if credit_ > 0
};

} // namespace tertulia::detail
