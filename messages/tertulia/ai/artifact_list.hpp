// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/artifact.hpp>
#include <tertulia/json.hpp>

#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tertulia::ai {

/// The artifacts of a conversation: a list that never changes and shares what
/// it has in common with the lists that it grew from.
///
/// Artifacts stand in blocks. A list with one more artifact copies one block of
/// pointers and the pointers to the other blocks, so adding the ten-thousandth
/// artifact costs little more than adding the first one.
///
/// An array in JSON.
///
/// @threads  a value; the shared parts can be read by many threads at once.
/// @lifetime artifacts live as long as a list that has them.
class artifact_list {
public:
  class iterator;

  using value_type = artifact;
  using const_iterator = iterator;

  /// No artifacts.
  artifact_list() = default;

  explicit artifact_list(std::vector<artifact> xs);

  [[nodiscard]] std::size_t size() const noexcept {
    return content_ ? content_->size : 0;
  }

  [[nodiscard]] bool empty() const noexcept {
    return !content_;
  }

  /// @pre `index` < size.
  [[nodiscard]] const artifact& operator[](std::size_t index) const noexcept {
    return *content_->blocks[index / block_size]->artifacts[index % block_size];
  }

  [[nodiscard]] iterator begin() const noexcept;
  [[nodiscard]] iterator end() const noexcept;

  /// Returns copies of all artifacts.
  [[nodiscard]] std::vector<artifact> to_vector() const;

  /// Returns this list with one more artifact, or with this one in place of the
  /// first one of the same name. An artifact without a name is always added.
  [[nodiscard]] artifact_list with(artifact x) const;

  /// Returns whether both are one and the same, not just equal, in O(1).
  [[nodiscard]] bool same_as(const artifact_list& x) const noexcept {
    return content_ == x.content_;
  }

  /// Compares the artifacts that are not shared.
  friend bool operator==(const artifact_list& x, const artifact_list& y);

private:
  static constexpr std::size_t block_size = 64;

  struct block {
    std::vector<std::shared_ptr<const artifact>> artifacts;
    /// Hashes of their names: a search looks at few artifacts.
    std::vector<std::size_t> names;
  };

  /// All blocks but the last one are full.
  struct content {
    std::vector<std::shared_ptr<const block>> blocks;
    std::size_t size = 0;
  };

  /// Returns the index of the first artifact of this name, or the size.
  [[nodiscard]] std::size_t find(std::string_view name) const noexcept;

  /// Null for none.
  std::shared_ptr<const content> content_;
};

/// A place in a list.
///
/// @threads  a value.
/// @lifetime the list outlives it.
class artifact_list::iterator {
public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = artifact;
  using difference_type = std::ptrdiff_t;
  using pointer = const artifact*;
  using reference = const artifact&;

  iterator() noexcept = default;

  iterator(const artifact_list& list, std::size_t index) noexcept
    : list_(&list), index_(index) {}

  [[nodiscard]] reference operator*() const noexcept {
    return (*list_)[index_];
  }

  [[nodiscard]] pointer operator->() const noexcept {
    return &**this;
  }

  iterator& operator++() noexcept {
    ++index_;
    return *this;
  }

  iterator operator++(int) noexcept {
    auto result = *this;
    ++*this;
    return result;
  }

  /// @pre both are places in the same list.
  friend bool operator==(const iterator& x, const iterator& y) noexcept {
    return x.index_ == y.index_;
  }

private:
  const artifact_list* list_ = nullptr;
  std::size_t index_ = 0;
};

inline artifact_list::iterator artifact_list::begin() const noexcept {
  return {*this, 0};
}

inline artifact_list::iterator artifact_list::end() const noexcept {
  return {*this, size()};
}

} // namespace tertulia::ai

namespace tertulia {

/// A list is an array of artifacts.
template <>
struct json_codec<ai::artifact_list> {
  static void write(std::string& out, const ai::artifact_list& x,
                    const json_path& at);
  static ai::artifact_list read(const json& from, const json_path& at);
  static json schema();
};

} // namespace tertulia
