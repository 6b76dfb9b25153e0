// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace tertulia::detail {

/// Queue that takes 32 bytes and no allocation until it is used: most
/// connections have several that never hold anything. An empty one keeps little
/// memory, however many elements it has held.
///
/// @threads  a value.
/// @lifetime one that was moved from can be assigned or destroyed.
template <class T>
class fifo {
public:
  [[nodiscard]] bool empty() const noexcept {
    return first_ == items_.size();
  }

  [[nodiscard]] std::size_t size() const noexcept {
    return items_.size() - first_;
  }

  [[nodiscard]] auto begin() const noexcept {
    return std::next(items_.begin(), static_cast<std::ptrdiff_t>(first_));
  }

  [[nodiscard]] auto end() const noexcept {
    return items_.end();
  }

  /// Returns the element at an index; 0 is the oldest one.
  /// @pre `index < size()`
  [[nodiscard]] const T& operator[](std::size_t index) const noexcept {
    return items_[first_ + index];
  }

  /// @pre `!empty()`
  [[nodiscard]] const T& front() const noexcept {
    return items_[first_];
  }

  /// @pre `!empty()`
  [[nodiscard]] const T& back() const noexcept {
    return items_.back();
  }

  void push_back(T x) {
    items_.push_back(std::move(x));
  }

  /// Removes and returns the oldest element.
  /// @pre `!empty()`
  T pop_front() {
    auto result = std::move(items_[first_++]);
    if (empty())
      clear();
    else if (first_ >= min_gap && first_ * 2 >= items_.size())
      close_gap();
    return result;
  }

  /// Removes the newest element.
  /// @pre `!empty()`
  void pop_back() {
    items_.pop_back();
    if (empty())
      clear();
  }

  void clear() noexcept {
    if (items_.capacity() * sizeof(T) > kept_bytes)
      std::vector<T>{}.swap(items_);
    else
      items_.clear();
    first_ = 0;
  }

private:
  static constexpr std::size_t kept_bytes = 512;
  static constexpr std::size_t min_gap = 64;

  /// Erases the moved-from elements before the oldest one. Otherwise a queue
  /// that never becomes empty would grow for ever.
  void close_gap() {
    items_.erase(items_.begin(), begin());
    first_ = 0;
  }

  std::vector<T> items_;
  std::size_t first_ = 0; // index of the oldest element
};

} // namespace tertulia::detail
