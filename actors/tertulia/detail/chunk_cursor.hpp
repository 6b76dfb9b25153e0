// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/chunks.hpp>
#include <tertulia/turn.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace tertulia::detail {

/// A reader's place in the batch that it reads.
///
/// @threads none of its own.
template <class T>
class chunk_cursor {
public:
  [[nodiscard]] bool empty() const noexcept {
    return at_ == batch_.size();
  }

  /// @pre `empty()`
  /// @errors throws `invalid_argument` if the chunks are of another shape.
  void load(chunk_batch x) {
    loaded_ = x.size;
    at_ = 0;
    batch_.clear();
    batch_ = std::move(x.items).template take<chunks<T>>();
  }

  /// @pre not `empty()`
  T take() {
    return std::move(batch_[at_++]);
  }

  /// @pre not `empty()`
  T& front() noexcept {
    return batch_[at_];
  }

  /// @pre not `empty()`
  void pop() noexcept {
    ++at_;
  }

  /// Forgets what was not read.
  void drop() noexcept {
    at_ = batch_.size();
  }

  /// Returns how many chunks were loaded since the last time: once they are all
  /// dealt with, this much credit can be returned.
  std::uint32_t release() noexcept {
    return std::exchange(loaded_, 0);
  }

private:
  chunks<T> batch_;
  std::size_t at_ = 0;
  std::uint32_t loaded_ = 0;
};

} // namespace tertulia::detail
