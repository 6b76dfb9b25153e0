// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tertulia {

/// What the type of a state is called, and which version of it this program
/// has.
struct type_version {
  /// Stays the same over all versions, whatever the C++ type is called: up to
  /// `max_type_name` printable ASCII characters without blanks. Empty for a
  /// type that is not told from others. Must be a literal.
  std::string_view name{};
  /// 1 for the first. One more whenever older states have to be changed before
  /// the new type can read them, or mean something else by the same JSON.
  std::uint32_t version = 1;
};

/// The longest name of a type, in bytes.
inline constexpr std::size_t max_type_name = 128;

/// The version of a state's type, or of the custom value of a conversation: it
/// is stored with each state, and what is older is migrated when it is loaded
/// (`with_migration`). Specialise it before the first use of the type, at the
/// global namespace:
///
/// ```
/// template <>
/// inline constexpr tertulia::type_version tertulia::version_of<memo>{
///   "app.memo", 2};
/// ```
///
/// A type that says nothing has no name, and version 1.
///
/// @design README §5.16 "States that evolve".
template <class T>
inline constexpr type_version version_of{};

namespace detail {

/// Whether a type can be called so; no name at all will do, too.
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
