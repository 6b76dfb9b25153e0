// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/artifact.hpp>
#include <tertulia/detail/shared_map.hpp>
#include <tertulia/json.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tertulia::ai {

/// Artifacts of a conversation: an immutable list that shares common parts with
/// the lists that it grew from.
///
/// Adding the ten-thousandth artifact, or finding one by its name, costs little
/// more than with the first one: O(log n).
///
/// An array in JSON.
///
/// @threads  a value; the shared parts can be read by many threads at once.
/// @lifetime an artifact lives as long as a list that contains it.
class artifact_list {
public:
  class iterator;

  using value_type = artifact;
  using const_iterator = iterator;

  /// Makes an empty list.
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
    return **content_->by_index.find(index);
  }

  [[nodiscard]] iterator begin() const noexcept;
  [[nodiscard]] iterator end() const noexcept;

  /// Returns copies of all artifacts.
  [[nodiscard]] std::vector<artifact> to_vector() const;

  /// Returns this list with one more artifact. If the list has an artifact of
  /// the same name, `x` replaces the first one in its place. An artifact
  /// without a name is always added.
  [[nodiscard]] artifact_list with(artifact x) const;

  /// Returns whether both are the same list, not just equal, in O(1).
  [[nodiscard]] bool same_as(const artifact_list& x) const noexcept {
    return content_ == x.content_;
  }

  /// Compares the artifacts that are not shared.
  friend bool operator==(const artifact_list& x, const artifact_list& y);

private:
  struct content {
    /// Result of a search for a name.
    struct place {
      std::uint64_t key; ///< of the name: its hash, or the next free number
      const std::uint64_t* index; ///< null if no artifact has this name
    };

    [[nodiscard]] place find(std::string_view name) const noexcept;

    void add(artifact x);

    detail::shared_map<std::shared_ptr<const artifact>> by_index;
    detail::shared_map<std::uint64_t> by_name; ///< index of the first of each
    std::size_t size = 0;
  };

  /// Null in an empty list. One pointer, because each state has a list.
  std::shared_ptr<const content> content_;
};

/// Position in a list.
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

  /// @pre both are positions in the same list.
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

/// JSON of a list: an array of artifacts.
template <>
struct json_codec<ai::artifact_list> {
  static void write(std::string& out, const ai::artifact_list& x,
                    const json_path& path);
  static ai::artifact_list read(const json& from, const json_path& path);
  static json schema();
};

} // namespace tertulia
