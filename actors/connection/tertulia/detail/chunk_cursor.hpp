// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/chunks.hpp>
#include <tertulia/turn.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace tertulia::detail {

/// @errors throws `data_loss`, always.
[[noreturn]] void raise_wrong_size(std::size_t expected, std::size_t found);

/// Read position in the current batch of chunks.
///
/// @threads not thread-safe: the owner serialises.
template <class T>
class chunk_cursor {
public:
  [[nodiscard]] bool empty() const noexcept {
    return !batch_ || position_ == batch_->size();
  }

  /// @pre `empty()`
  /// @errors throws `invalid_argument` if the chunks are of another shape, and
  ///         `data_loss` if their number differs from that of the batch.
  void load(chunk_batch x) {
    batch_.reset();
    position_ = 0;
    loaded_ = x.size;
    auto items = std::move(x).template take<T>();
    if (items.size() != loaded_)
      raise_wrong_size(loaded_, items.size());
    batch_.emplace(std::move(items));
  }

  /// @pre not `empty()`
  T take() {
    return std::move((*batch_)[position_++]);
  }

  /// @pre not `empty()`
  T& front() noexcept {
    return (*batch_)[position_];
  }

  /// @pre not `empty()`
  void pop() noexcept {
    ++position_;
  }

  /// Returns the number of unread chunks.
  [[nodiscard]] std::size_t size() const noexcept {
    return batch_ ? batch_->size() - position_ : 0;
  }

  /// Skips the unread chunks.
  void drop() noexcept {
    position_ = batch_ ? batch_->size() : 0;
  }

  /// Returns the number of chunks loaded since the last call. Once all of them
  /// are processed, this much credit can be returned.
  std::uint32_t release() noexcept {
    return std::exchange(loaded_, 0);
  }

private:
  std::optional<chunks<T>> batch_;
  std::size_t position_ = 0;
  std::uint32_t loaded_ = 0;
};

} // namespace tertulia::detail
