// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace tertulia::detail {

/// Map from numbers to values. Copies share their common parts, and a change of
/// one copy does not affect the others.
///
/// A digital search tree: each node has an entry, and two bits of a key at a
/// time, starting with the lowest ones, select the child. Setting a value
/// copies the nodes on its path. These are about log4(n) if the low bits of the
/// keys differ, as those of indexes and of hashes do, and never more than 33.
///
/// @threads as a value; shared parts can be read by many threads at once.
template <class T>
class shared_map {
public:
  /// @returns null if the key has no entry. Valid until this map is changed.
  [[nodiscard]] const T* find(std::uint64_t key) const noexcept {
    const auto* at = root_.get();
    for (auto rest = key; at && at->key != key; rest >>= digit_bits)
      at = at->children[digit(rest)].get();
    return at ? &at->value : nullptr;
  }

  void set(std::uint64_t key, T value) {
    root_ = with(root_.get(), key, key, std::move(value));
  }

private:
  static constexpr int digit_bits = 2;

  struct node {
    std::uint64_t key;
    T value;
    std::array<std::shared_ptr<const node>, 1 << digit_bits> children;
  };

  static std::size_t digit(std::uint64_t rest) noexcept {
    return rest & ((1 << digit_bits) - 1);
  }

  /// @param rest the bits of the key that have not selected a child yet.
  static std::shared_ptr<const node> with(const node* at, std::uint64_t key,
                                          std::uint64_t rest, T value) {
    if (!at)
      return std::make_shared<node>(node{key, std::move(value), {}});
    auto result = std::make_shared<node>(*at);
    if (at->key == key) {
      result->value = std::move(value);
    } else {
      auto& child = result->children[digit(rest)];
      child = with(child.get(), key, rest >> digit_bits, std::move(value));
    }
    return result;
  }

  std::shared_ptr<const node> root_;
};

} // namespace tertulia::detail
