// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json_value.hpp>

#include <type_traits>

// Compiler errors that name the part of a type without a JSON form. The concept
// `json_value` is only false for such a type; it does not name the member.

namespace tertulia::detail {

template <class T>
inline constexpr bool never = false;

// The compiler shows the template arguments of these types when it stops there.

template <class T>
struct type_without_json {
  static_assert(never<T>,
                "this type has no JSON form: describe a struct with "
                "BOOST_DESCRIBE_STRUCT, or specialise tertulia::json_codec");
};

template <class Struct>
struct struct_without_default_constructor {
  static_assert(never<Struct>,
                "a struct that is read from JSON needs a default "
                "constructor");
};

template <class Struct, class Member, auto Pointer>
struct member_without_json {
  static_assert(never<Struct>,
                "a member of this struct has no JSON form, or cannot be "
                "assigned: member_without_json<struct, type of the member, "
                "pointer to the member>");
};

template <class T>
struct element_of {
  using type = T;
};

template <class T>
requires(
  json_vector<
    T> || json_set<T> || json_optional<T> || json_array<T>) struct element_of<T>
  : element_of<typename T::value_type> {
};

template <json_owner T>
struct element_of<T> : element_of<pointee<T>> {};

template <json_map T>
requires json_key<typename T::key_type>
struct element_of<T> : element_of<typename T::mapped_type> {
};

/// Stops the compiler at the part of `T` that has no JSON form.
template <class T>
consteval void report_missing_json();

template <class Struct, class Descriptor>
consteval void name_member_without_json() {
  using member = member_of<Struct, Descriptor>;
  using element = typename element_of<std::remove_const_t<member>>::type;
  if constexpr (!check_member<member, true, Struct>()) {
    if constexpr (described_struct<element> && !supports<element, true, Struct>)
      report_missing_json<element>();
    else
      static_cast<void>(
        sizeof(member_without_json<Struct, member, Descriptor::pointer>));
  }
}

template <class T>
consteval void report_missing_json() {
  using element = typename element_of<T>::type;
  if constexpr (!described_struct<element>) {
    static_cast<void>(sizeof(type_without_json<element>));
  } else if constexpr (!std::is_default_constructible_v<element>) {
    static_cast<void>(sizeof(struct_without_default_constructor<element>));
  } else {
    []<template <class...> class List, class... Ds>(List<Ds...>*) {
      (name_member_without_json<element, Ds>(), ...);
    }(static_cast<members_of<element>*>(nullptr));
  }
}

/// Stops the compiler at the part of these types that has no JSON form.
/// @returns whether all of them have one.
template <class... Ts>
consteval bool check_json() {
  constexpr auto check = []<class T>(std::type_identity<T>) {
    if constexpr (!json_value<T>)
      report_missing_json<T>();
  };
  (check(std::type_identity<Ts>{}), ...);
  return (json_value<Ts> && ...);
}

} // namespace tertulia::detail
