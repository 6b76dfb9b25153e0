// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tertulia {

/// Name and version of the type of a state in this program.
struct type_version {
  /// Stays the same over all versions, independent of the name of the C++ type:
  /// up to `max_type_name` printable ASCII characters without blanks. Empty for
  /// a type that is not distinguished from others. Must be a literal.
  std::string_view name{};
  /// 1 for the first version. Increase it by one if older states have to be
  /// changed before the new type can read them, or if the same JSON means
  /// something else in them.
  std::uint32_t version = 1;
};

/// Maximum length of the name of a type, in bytes.
inline constexpr std::size_t max_type_name = 128;

/// Version of the type of a state, or of the custom value of a conversation. It
/// is stored with each state, and older states are migrated when they are
/// loaded (`with_migration`). Specialise it before the first use of the type,
/// in the global namespace:
///
/// ```
/// template <>
/// inline constexpr tertulia::type_version tertulia::version_of<memo>{
///   "app.memo", 2};
/// ```
///
/// The default is an empty name and version 1.
///
/// @design docs/sessions.md#states-that-evolve.
template <class T>
inline constexpr type_version version_of{};

namespace detail {

/// Returns whether a type can have this name; an empty name is allowed.
constexpr bool is_type_name(std::string_view x) noexcept {
  if (x.size() > max_type_name)
    return false;
  for (const auto c : x)
    if (c <= ' ' || c > '~')
      return false;
  return true;
}

} // namespace detail

} // namespace tertulia
