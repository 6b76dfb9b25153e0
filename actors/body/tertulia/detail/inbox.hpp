// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/fifo.hpp>
#include <tertulia/detail/scope.hpp>
#include <tertulia/payload.hpp>

#include <cstdint>
#include <optional>
#include <utility>

namespace tertulia::detail {

/// Queue of the inputs of one connection, bounded by credit.
///
/// The client starts with `window` credits and spends one for each input. The
/// connection owes it a new one when the body has taken an input. With a window
/// of 0, it owes one when the body waits for an input: a rendezvous.
///
/// @threads only on the actor of its host.
class inbox {
public:
  void start(std::uint32_t window) noexcept {
    window_ = window;
    client_credit_ = window;
  }

  /// Returns the credit that the client knows of.
  [[nodiscard]] std::uint32_t client_credit() const noexcept {
    return client_credit_;
  }

  // -- the client's side ------------------------------------------------------

  /// Queues an input.
  /// @errors `resource_exhausted` if the client had no credit left,
  ///         `failed_precondition` after `close`.
  [[nodiscard]] caf::error accept(payload value);

  /// Queues an input that the client does not send: a session has it. It takes
  /// the place of one in the window.
  /// @pre before the first input of the client.
  void accept_again(payload value) {
    client_credit_ -= window_ > 0 ? 1 : 0;
    queue_.push_back(std::move(value));
  }

  /// Returns the number of inputs that were accepted.
  [[nodiscard]] std::uint64_t accepted_count() const noexcept {
    return taken_count_ + queue_.size();
  }

  /// Gives back the credit of an input that is not needed.
  void return_credit() noexcept {
    if (client_credit_ > 0) {
      --client_credit_;
      ++due_credit_;
    }
  }

  /// Gives all credit to another client, which takes the place of the one
  /// before.
  /// @returns the credit of the new client.
  std::uint32_t restart_client() noexcept {
    (void)take_credit();
    return client_credit_;
  }

  /// Closes the queue: no input follows those that were accepted. Idempotent.
  void close() {
    closed_ = true;
    wake_reader();
  }

  [[nodiscard]] bool closed() const noexcept {
    return closed_;
  }

  /// Takes the credit owed to the client, if it is worth a message of its own.
  /// @returns the credit to send, 0 for none.
  std::uint32_t credit_due() noexcept {
    return due_credit_ * 2 >= window_ ? take_credit() : 0;
  }

  /// Takes all credit owed to the client, for a message that is sent anyway.
  std::uint32_t take_credit() noexcept {
    client_credit_ += due_credit_;
    return std::exchange(due_credit_, 0);
  }

  // -- the body's side --------------------------------------------------------

  /// Returns whether `take` can return: an input is queued or none will follow.
  [[nodiscard]] bool is_ready() const noexcept {
    return !queue_.empty() || closed_;
  }

  /// Returns whether a wait is registered: it waits until `is_ready`, or was
  /// woken and has not taken its input yet. A second wait is not allowed.
  [[nodiscard]] bool has_reader() const noexcept {
    return reader_ != nullptr;
  }

  /// Registers the wait of the body until `is_ready`.
  /// @pre `!has_reader()`
  void wait_for_input(wait& reader) noexcept {
    reader_ = &reader;
    if (window_ == 0 && client_credit_ == 0)
      due_credit_ = 1;
  }

  /// Unregisters the wait: it has ended, or is about to take its input.
  void remove_reader(const wait& reader) noexcept {
    if (reader_ == &reader)
      reader_ = nullptr;
  }

  /// Takes the oldest input; empty if the queue is closed and all inputs are
  /// taken.
  /// @pre `is_ready()`
  std::optional<payload> take();

  /// Returns the number of inputs that the body took.
  [[nodiscard]] std::uint64_t taken_count() const noexcept {
    return taken_count_;
  }

private:
  /// Wakes the reader. It stays registered until it runs, so that no other wait
  /// takes its input.
  void wake_reader() {
    if (reader_ != nullptr && reader_->is_linked())
      reader_->wake();
  }

  std::uint32_t window_ = 0;
  std::uint32_t client_credit_ = 0; // credit that the client knows of
  std::uint32_t due_credit_ = 0;    // credit not yet sent to the client
  bool closed_ = false;
  std::uint64_t taken_count_ = 0;
  fifo<payload> queue_;
  wait* reader_ = nullptr;
};

} // namespace tertulia::detail
