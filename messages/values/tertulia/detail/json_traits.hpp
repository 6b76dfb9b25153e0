// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/json_path.hpp>
#include <tertulia/detail/reflect.hpp>

#include <array>
#include <concepts>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace tertulia {

/// Conversion of a type that is not described to and from JSON: specialise it.
///
/// The three functions must be consistent. A codec takes precedence over all
/// other conversions, including a description.
///
/// ```
/// template <>
/// struct tertulia::json_codec<colour> {
///   // Appends the canonical text of one JSON value.
///   static void write(std::string& out, const colour& x, const json_path& at);
///   // Reads it back; refuses with raise_mismatch.
///   static colour read(const json& from, const json_path& at);
///   // The JSON Schema, without "$schema".
///   static json schema();
/// };
/// ```
template <class T>
struct json_codec;

} // namespace tertulia

namespace tertulia::detail {

/// Type of the function `schema` of a codec. Its address can be taken without
/// the definition of `json`.
using schema_function = json();

template <class T>
concept has_codec = requires(std::string& out, const T& x, const json& from,
                             const json_path& path) {
  json_codec<T>::write(out, x, path);
  { json_codec<T>::read(from, path) } -> std::convertible_to<T>;
  static_cast<schema_function*>(json_codec<T>::schema);
};

/// True if `T` is `bool` or a character type: integral, but not a number.
template <class T>
inline constexpr bool is_character = boost::mp11::mp_contains<
  boost::mp11::mp_list<bool, char, wchar_t, char8_t, char16_t, char32_t>,
  T>::value;

template <class T>
concept json_integer = std::integral<T> && !is_character<T>;

template <class T>
concept json_float = std::same_as<T, float> || std::same_as<T, double>;

template <class T>
concept json_number = json_integer<T> || json_float<T>;

template <class T, template <class...> class Template>
inline constexpr bool is_a = false;

template <template <class...> class Template, class... Ts>
inline constexpr bool is_a<Template<Ts...>, Template> = true;

template <class T>
concept json_optional = is_a<T, std::optional>;

/// True for a container with the interface of a vector, whose JSON is an array.
template <class T>
inline constexpr bool is_vector = is_a<T, std::vector>;

template <class T>
concept json_vector = is_vector<T>;

template <class T>
concept json_set = is_a<T, std::set>;

template <class T>
concept json_map = is_a<T, std::map> || is_a<T, std::unordered_map>;

template <class T>
concept json_variant = is_a<T, std::variant>;

template <class T>
concept json_tuple = is_a<T, std::tuple> || is_a<T, std::pair>;

template <class T>
inline constexpr bool is_std_array = false;

template <class T, std::size_t N>
inline constexpr bool is_std_array<std::array<T, N>> = true;

template <class T>
concept json_array = is_std_array<T>;

template <class T>
inline constexpr bool is_owner = false;

template <class T>
inline constexpr bool
  is_owner<std::shared_ptr<T>> = !std::is_array_v<T> && !std::is_void_v<T>;

template <class T>
inline constexpr bool
  is_owner<std::unique_ptr<T>> = !std::is_array_v<T> && !std::is_void_v<T>;

/// A smart pointer to at most one value, which it owns.
template <class T>
concept json_owner = is_owner<T>;

template <class T>
using pointee = std::remove_const_t<
  std::remove_reference_t<decltype(*std::declval<const T&>())>>;

template <class T>
concept json_key = std::same_as<T, std::string> || described_enum<T>;

template <class T>
inline constexpr bool is_plain = false;

template <>
inline constexpr bool is_plain<bool> = true;

template <>
inline constexpr bool is_plain<std::string> = true;

template <>
inline constexpr bool is_plain<std::monostate> = true;

template <>
inline constexpr bool is_plain<json> = true;

/// A type that is supported without a check of its parts.
template <class T>
concept json_leaf
  = is_plain<T> || json_number<T> || described_enum<T> || has_codec<T>;

template <class T>
inline constexpr bool is_view = std::is_same_v<T, std::string_view>;

template <std::size_t N>
inline constexpr bool is_view<char[N]> = true;

/// Text that can be written but not read, because it does not own its bytes.
template <class T>
concept json_view = is_view<T>;

// -- optional members ---------------------------------------------------------

/// True if a type has a value that counts as empty: see `omitted_when_empty`.
template <class T>
inline constexpr bool can_be_empty = [] {
  if constexpr (has_codec<T>)
    return requires(const T& x) {
      { x.empty() } -> std::convertible_to<bool>;
    };
  else if constexpr (described_struct<T>)
    return std::is_empty_v<T>;
  else
    return !described_enum<T> && !json_array<T> && !json_tuple<T>;
}();

/// True if this member may be missing from a `Struct`.
template <class Struct, class Descriptor>
inline constexpr bool is_optional_member = [] {
  using member = std::remove_const_t<member_of<Struct, Descriptor>>;
  if constexpr (json_optional<member> && !has_codec<member>)
    return true;
  else
    return is_omitted<Struct, Descriptor> && can_be_empty<member>;
}();

// -- recursive check: are all parts of a type supported? ----------------------

/// Returns whether `T` can be written and, with `Read`, also read. `Seen` are
/// the enclosing structs: a struct that contains itself is supported if the
/// rest of it is.
template <class T, bool Read, class... Seen>
consteval bool check_support();

template <class T, bool Read, class... Seen>
inline constexpr bool supports = check_support<T, Read, Seen...>();

template <class Member, bool Read, class... Seen>
consteval bool check_member() {
  if (Read && !std::is_move_assignable_v<Member>)
    return false;
  return supports<std::remove_const_t<Member>, Read, Seen...>;
}

template <class T, bool Read, class... Seen>
struct members_support {
  template <class... Ds>
  using check = std::bool_constant<(
    check_member<member_of<T, Ds>, Read, Seen...>() && ...)>;

  static constexpr bool value
    = boost::mp11::mp_apply<check, members_of<T>>::value;
};

template <class T, bool Read, class... Seen>
struct parts_support;

template <template <class...> class Of, class... Ts, bool Read, class... Seen>
struct parts_support<Of<Ts...>, Read, Seen...> {
  static constexpr bool value = (supports<Ts, Read, Seen...> && ...);
};

template <class T, bool Read, class... Seen>
consteval bool check_support() {
  if constexpr ((std::same_as<T, Seen> || ...) || json_leaf<T>) {
    return true;
  } else if constexpr (json_view<T>) {
    return !Read;
  } else if constexpr (described_struct<T>) {
    if (Read && !std::is_default_constructible_v<T>)
      return false;
    return members_support<T, Read, Seen..., T>::value;
  } else if constexpr (json_map<T>) {
    if (!json_key<typename T::key_type>)
      return false;
    return supports<typename T::mapped_type, Read, Seen...>;
  } else if constexpr (json_owner<T>) {
    return supports<pointee<T>, Read, Seen...>;
  } else if constexpr (json_tuple<T> || json_variant<T>) {
    return parts_support<T, Read, Seen...>::value;
  } else if constexpr (json_array<T>) {
    if (Read && !std::is_default_constructible_v<T>)
      return false;
    return supports<typename T::value_type, Read, Seen...>;
  } else if constexpr (json_vector<T> || json_set<T> || json_optional<T>) {
    return supports<typename T::value_type, Read, Seen...>;
  } else {
    return false;
  }
}

} // namespace tertulia::detail
