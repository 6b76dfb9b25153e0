// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/fifo.hpp>
#include <tertulia/open.hpp>
#include <tertulia/turn.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tertulia::detail {

/// Numbered inputs that a client has sent. The last inputs of a kept run are
/// held, to be sent again if the run has lost them.
///
/// @threads not thread-safe: the owner serialises.
class sent_inputs {
public:
  /// Returns the number of inputs that were sent, which is the number of the
  /// next one.
  [[nodiscard]] std::uint64_t count() const noexcept {
    return count_;
  }

  /// Sets the number of inputs that were sent. Those that are not held were
  /// sent by another client.
  void set_count(std::uint64_t x) noexcept {
    count_ = x;
  }

  /// Returns the number of the first input that is held.
  [[nodiscard]] std::uint64_t first_held() const noexcept {
    return count_ - held_.size();
  }

  /// Counts an input.
  /// @returns its number.
  std::uint64_t add() noexcept {
    return count_++;
  }

  /// Holds the input that was counted last. The oldest one is dropped if more
  /// than `max_window` are held.
  void hold(const payload& x) {
    held_.push_back(x);
    if (held_.size() > max_window)
      held_.pop_front();
  }

  /// Holds inputs that are counted when their opening is answered.
  void hold(const std::vector<payload>& xs) {
    held_.clear();
    for (const auto& x : xs)
      held_.push_back(x);
  }

  /// Drops the oldest inputs that are held.
  void drop(std::uint64_t count) {
    for (; count > 0 && !held_.empty(); --count)
      held_.pop_front();
    // A run may acknowledge what was not sent again.
    unsent_ = std::min(unsent_, held_.size());
  }

  /// Drops the inputs before a number.
  void drop_until(std::uint64_t number) {
    if (number > first_held())
      drop(number - first_held());
  }

  void drop_all() {
    drop(held_.size());
  }

  // -- sending again ----------------------------------------------------------

  /// Begins to send the held inputs from a number on again.
  void rewind(std::uint64_t number) noexcept {
    unsent_ = static_cast<std::size_t>(
      std::min<std::uint64_t>(count_ - number, held_.size()));
  }

  [[nodiscard]] bool has_unsent() const noexcept {
    return unsent_ > 0;
  }

  /// Takes the next input to send again.
  /// @pre `has_unsent()`
  [[nodiscard]] turn_input take_unsent(std::uint32_t reader) {
    turn_input result{held_[held_.size() - unsent_], 0, count_ - unsent_,
                      reader};
    --unsent_;
    return result;
  }

private:
  std::uint64_t count_ = 0;
  fifo<payload> held_;     // the last ones
  std::size_t unsent_ = 0; // the last of them
};

} // namespace tertulia::detail
