// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <utility>

#include <boost/describe/bases.hpp>
#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>
#include <boost/describe/enumerators.hpp>
#include <boost/describe/members.hpp>
#include <boost/mp11/algorithm.hpp>

// Reflection of described types by Boost.Describe, with their names on the
// wire.

namespace tertulia::detail {

template <class T>
concept described_struct
  = std::is_class_v<T> && boost::describe::has_describe_members<
    T>::value && boost::describe::has_describe_bases<T>::value;

template <class T>
concept described_enum
  = std::is_enum_v<T> && boost::describe::has_describe_enumerators<T>::value;

// -- names on the wire --------------------------------------------------------

/// Writes `name` in camelCase: `unit_price` is `unitPrice`, `default_` is
/// `default`. Leading underscores are kept.
/// @param to room for `name.size()` characters, or null to count only.
/// @returns the number of characters.
constexpr std::size_t camel_case(std::string_view name, char* to) {
  std::size_t size = 0;
  auto begun = false;
  auto raise = false;
  for (auto c : name) {
    if (c == '_' && begun) {
      raise = true;
      continue;
    }
    begun = begun || c != '_';
    if (raise && c >= 'a' && c <= 'z')
      c = static_cast<char>(c - 'a' + 'A');
    raise = false;
    if (to != nullptr)
      to[size] = c;
    ++size;
  }
  return size;
}

/// Name of a member or enumerator on the wire, computed by the compiler.
template <class Descriptor>
struct wire_name {
  static constexpr std::size_t size = camel_case(Descriptor::name, nullptr);

  static constexpr std::array<char, size + 3> text = [] {
    std::array<char, size + 3> result{};
    camel_case(Descriptor::name, result.data() + 1);
    result[0] = '"';
    result[size + 1] = '"';
    result[size + 2] = ':';
    return result;
  }();

  /// `unitPrice`
  static constexpr std::string_view plain{text.data() + 1, size};

  /// `"unitPrice"`
  static constexpr std::string_view quoted{text.data(), size + 2};

  /// `"unitPrice":`
  static constexpr std::string_view key{text.data(), size + 3};
};

template <class Descriptors>
struct distinct_names;

template <template <class...> class List, class... Descriptors>
struct distinct_names<List<Descriptors...>> {
  static constexpr bool value = [] {
    const std::array<std::string_view, sizeof...(Descriptors)> names{
      wire_name<Descriptors>::plain...};
    for (std::size_t i = 0; i < names.size(); ++i)
      for (std::size_t j = i + 1; j < names.size(); ++j)
        if (names[i] == names[j])
          return false;
    return true;
  }();
};

// -- members ------------------------------------------------------------------

/// Descriptors of all data members: those of described bases first, then those
/// of the type itself in the order of the description.
template <described_struct T>
using members_of
  = boost::describe::describe_members<T, boost::describe::mod_any_access
                                           | boost::describe::mod_inherited>;

template <class T, class Descriptor>
using member_of
  = std::remove_reference_t<decltype(std::declval<T&>().*Descriptor::pointer)>;

/// Calls `f(descriptor)` for each member of `T`.
template <described_struct T, class F>
constexpr void for_each_member(F&& f) {
  static_assert(distinct_names<members_of<T>>::value,
                "two members of this struct have the same name on the wire");
  boost::mp11::mp_for_each<members_of<T>>(f);
}

/// Returns whether each of these members of `x` equals that of `y`.
template <class T, template <class...> class List, class... Descriptors>
bool equal_members(const T& x, const T& y, List<Descriptors...>) {
  return ((x.*Descriptors::pointer == y.*Descriptors::pointer) && ...);
}

// -- enumerators --------------------------------------------------------------

/// Calls `f(descriptor)` for each enumerator of `T`.
template <described_enum T, class F>
constexpr void for_each_enumerator(F&& f) {
  using list = boost::describe::describe_enumerators<T>;
  static_assert(distinct_names<list>::value,
                "two enumerators have the same name on the wire");
  boost::mp11::mp_for_each<list>(f);
}

/// Returns the quoted name of `x`; empty if no enumerator has this value.
template <described_enum T>
constexpr std::string_view quoted_name(T x) {
  std::string_view result;
  for_each_enumerator<T>([&](auto d) {
    if (result.empty() && d.value == x)
      result = wire_name<decltype(d)>::quoted;
  });
  return result;
}

/// Finds the enumerator with this name on the wire.
/// @returns false, and leaves `to` unchanged, if there is none.
template <described_enum T>
constexpr bool find_enumerator(std::string_view name, T& to) {
  auto found = false;
  for_each_enumerator<T>([&](auto d) {
    if (!found && wire_name<decltype(d)>::plain == name) {
      found = true;
      to = d.value;
    }
  });
  return found;
}

// -- types --------------------------------------------------------------------

/// Returns the name of a type with its namespaces.
std::string type_name(std::type_index type);

/// Returns the name of a type without its namespaces.
std::string short_type_name(std::type_index type);

} // namespace tertulia::detail

namespace tertulia {

/// A struct described by `BOOST_DESCRIBE_STRUCT`, or a class described by
/// `BOOST_DESCRIBE_CLASS`. See <tertulia/describe.hpp>.
template <class T>
concept described = detail::described_struct<T>;

/// Members of a described struct that are left out of its JSON while they are
/// empty, as Go's `omitempty` does. Specialise it with a tuple of pointers to
/// members, before the first use of the struct.
///
/// ```
/// template <>
/// inline constexpr auto tertulia::omitted_when_empty<order>
///   = std::tuple{&order::notes, &order::items};
/// ```
///
/// The following values are empty: a string, list, set or map without elements,
/// a value whose type has a codec and whose `empty()` is true, a null `json`,
/// optional or smart pointer, `false`, zero, and a struct without members.
/// Other structs, enumerators and arrays are never empty, so that a class
/// template can list a member of any type. As in Go, a missing member keeps its
/// value from the default constructor, which should be empty, too. Members
/// listed for a base are also left out of derived structs.
///
/// @design docs/values.md#canonical-json; docs/genkit.md 003 §1.1 and 004 §1.1.
template <class T>
inline constexpr std::tuple<> omitted_when_empty{};

/// True if reading a described struct refuses unknown members instead of
/// ignoring them: specialise it with `true`. For structs that a client sends to
/// open or request something: a misspelt name of an optional member would
/// otherwise count as a missing member.
///
/// ```
/// template <>
/// inline constexpr bool tertulia::refuses_unknown_members<order> = true;
/// ```
///
/// The JSON Schema of the struct states this, too.
///
/// @design docs/values.md#canonical-json.
template <class T>
inline constexpr bool refuses_unknown_members = false;

namespace detail {

/// True if `Struct` itself lists this member to be left out.
template <class Struct, class Descriptor>
inline constexpr bool is_listed = std::apply(
  [](auto... listed) {
    [[maybe_unused]] const auto is_it = [](auto x) {
      if constexpr (std::is_same_v<
                      decltype(x),
                      std::remove_cv_t<decltype(Descriptor::pointer)>>)
        return x == Descriptor::pointer;
      else
        return false;
    };
    return (is_it(listed) || ...);
  },
  omitted_when_empty<Struct>);

template <class Member, class Struct>
std::type_identity<Struct> declarer(Member Struct::*);

/// Struct that declares a member: the described one, or a base of it.
template <class Descriptor>
using declarer_of = typename decltype(declarer(Descriptor::pointer))::type;

/// True if this member of `Struct`, or of a base, may be left out.
template <class Struct, class Descriptor>
inline constexpr bool is_omitted = [] {
  return is_listed<
           Struct,
           Descriptor> || is_listed<declarer_of<Descriptor>, Descriptor>;
}();

} // namespace detail

} // namespace tertulia
