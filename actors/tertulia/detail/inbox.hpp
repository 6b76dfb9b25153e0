// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/scope.hpp>
#include <tertulia/payload.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace tertulia::detail {

/// The inputs of one connection between their arrival and the body, with the
/// credit that keeps them few.
///
/// The client starts with `window` credits and spends one for each input; a
/// credit is owed to it again when the body has taken an input. A window of 0
/// owes one credit when the body waits for an input: a rendezvous.
///
/// @threads only on the actor of its host.
class inbox {
public:
  void start(std::uint32_t window) noexcept {
    window_ = window;
    granted_ = window;
  }

  [[nodiscard]] std::uint32_t window() const noexcept {
    return window_;
  }

  // -- the client's side ------------------------------------------------------

  /// Queues an input.
  /// @errors `resource_exhausted` if the client had no credit left,
  ///         `failed_precondition` after `close`.
  [[nodiscard]] caf::error accept(payload value);

  /// No input comes after those that were accepted; idempotent.
  void close() {
    closed_ = true;
    wake_reader();
  }

  [[nodiscard]] bool closed() const noexcept {
    return closed_;
  }

  /// Returns the credit that the client is owed and has not been told of, once
  /// it is worth a message of its own.
  std::uint32_t credit_due() noexcept {
    return owed_ * 2 >= window_ ? take_credit() : 0;
  }

  /// Returns all credit that the client is owed and has not been told of: for
  /// a message that goes out anyway.
  std::uint32_t take_credit() noexcept {
    granted_ += owed_;
    return std::exchange(owed_, 0);
  }

  // -- the body's side --------------------------------------------------------

  /// Whether `take` has an answer: an input, or that none will come.
  [[nodiscard]] bool ready() const noexcept {
    return head_ < queue_.size() || closed_;
  }

  /// Whether somebody waits until `ready`, or was woken and has not taken yet
  /// what it waited for; a second one may not.
  [[nodiscard]] bool has_reader() const noexcept {
    return reader_ != nullptr;
  }

  /// Notes that the body waits until `ready`.
  /// @pre `!has_reader()`
  void wait_for_input(wait& reader) noexcept {
    reader_ = &reader;
    if (window_ == 0 && granted_ == 0)
      owed_ = 1;
  }

  /// Notes that the body no longer waits, or is about to take.
  void forget(const wait& reader) noexcept {
    if (reader_ == &reader)
      reader_ = nullptr;
  }

  /// Takes the oldest input; nothing if none is there and none will come.
  /// @pre `ready()`
  std::optional<payload> take();

  /// How many inputs the body took.
  [[nodiscard]] std::uint64_t taken() const noexcept {
    return taken_;
  }

private:
  /// The reader stays ours until it runs, so that nobody takes its input.
  void wake_reader() {
    if (reader_ != nullptr && reader_->is_linked())
      reader_->wake();
  }

  std::uint32_t window_ = 0;
  std::uint32_t granted_ = 0; // what the client may still send, as it knows
  std::uint32_t owed_ = 0;    // what it may send besides, and does not know
  bool closed_ = false;
  std::uint64_t taken_ = 0;
  std::size_t head_ = 0; // the oldest input in queue_
  std::vector<payload> queue_;
  wait* reader_ = nullptr;
};

} // namespace tertulia::detail
