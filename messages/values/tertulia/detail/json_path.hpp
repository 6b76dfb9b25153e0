// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/status_error.hpp>

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace tertulia {

/// A JSON value of any shape: objects are sorted by key. Defined in
/// <tertulia/json.hpp>.
using json = nlohmann::json;

/// Maximum nesting of arrays and objects. Deeper values are refused on reading
/// and on writing, so that every written value can be read, and untrusted text
/// cannot exhaust the stack.
inline constexpr std::size_t max_json_depth = 200;

namespace detail {

class failed_reads;

} // namespace detail

/// Position in a JSON document, in the form used by error messages:
/// `$.items[3].unitPrice`.
///
/// A chain of frames on the stack, rendered only for an error.
///
/// @threads  a value.
/// @lifetime refers to its parent and to its key: both must outlive it.
class json_path {
public:
  /// Makes the path of the whole document: `$`.
  constexpr json_path() noexcept = default;

  /// Makes the path of the whole document, with a cache for the reader of
  /// variants.
  explicit constexpr json_path(detail::failed_reads& failed) noexcept
    : failed_(&failed) {}

  /// Makes the path of a member of an object.
  constexpr json_path(const json_path& parent, std::string_view key) noexcept
    : parent_(&parent), key_(key), depth_(parent.depth_ + 1) {}

  /// Makes the path of an element of an array; the first index is 0.
  constexpr json_path(const json_path& parent, std::size_t index) noexcept
    : parent_(&parent), index_(index), depth_(parent.depth_ + 1) {}

  json_path(const json_path&) = delete;
  json_path& operator=(const json_path&) = delete;

  /// Returns the number of arrays and objects around this position.
  [[nodiscard]] constexpr std::size_t depth() const noexcept {
    return depth_;
  }

  /// Returns the cache of the root, null if it has none.
  [[nodiscard]] constexpr detail::failed_reads* failed() const noexcept {
    auto root = this;
    while (root->parent_ != nullptr)
      root = root->parent_;
    return root->failed_;
  }

  /// Returns the path as text. It is always valid UTF-8; long keys are cut.
  [[nodiscard]] std::string to_string() const;

private:
  static constexpr auto no_index = static_cast<std::size_t>(-1);

  const json_path* parent_ = nullptr;
  detail::failed_reads* failed_ = nullptr; // of a root
  std::string_view key_;
  std::size_t index_ = no_index;
  std::size_t depth_ = 0;
};

/// Refuses the value at `path`. For the codecs of users.
///
/// @param expected description of an accepted value: "a number".
/// @param found    description of the value: "a string".
/// @errors `invalid_argument`, always: the message is
///         `$.path: expected a number, found a string`, the details are
///         `{"expected":…,"path":…}`.
[[noreturn]] void raise_mismatch(const json_path& path,
                                 std::string_view expected,
                                 std::string_view found);

namespace detail {

/// Returns the error of `raise_mismatch` for a path as text.
status_error mismatch_error(std::string_view path, std::string_view expected,
                            std::string_view found);

/// Returns a description of a document in a few words: "an array", "1.5".
std::string in_words(const json& x);

} // namespace detail

/// Refuses `found` at `path`. The message names its kind, or shows a number.
/// @errors `invalid_argument`, always.
template <std::same_as<json> Json> // otherwise strings would convert to it
[[noreturn]] void raise_mismatch(const json_path& path,
                                 std::string_view expected, const Json& found) {
  raise_mismatch(path, expected, std::string_view{detail::in_words(found)});
}

} // namespace tertulia
