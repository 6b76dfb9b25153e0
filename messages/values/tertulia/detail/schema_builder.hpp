// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/json_traits.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>
#include <typeindex>
#include <typeinfo>
#include <utility>

namespace tertulia::detail {

/// Names of the enumerators of `T` on the wire.
template <described_enum T>
inline constexpr auto enumerator_names =
  []<template <class...> class List, class... Ds>(List<Ds...>*) {
    return std::array<std::string_view, sizeof...(Ds)>{wire_name<Ds>::plain...};
  }(static_cast<boost::describe::describe_enumerators<T>*>(nullptr));

/// Builder of one document: structs are inline; structs that contain themselves
/// are defined once under `$defs`.
///
/// A stack of schemas, which is compiled once: the templates only say which
/// parts a type has, and need no definition of `json`.
///
/// @threads a value.
class schema_builder {
public:
  schema_builder();

  schema_builder(const schema_builder&) = delete;
  schema_builder& operator=(const schema_builder&) = delete;

  ~schema_builder();

  /// Pushes the schema of `T`.
  template <class T>
  void add() {
    if constexpr (has_codec<T>)
      add_result(json_codec<T>::schema);
    else if constexpr (std::same_as<T, bool>)
      add_type("boolean");
    else if constexpr (json_integer<T>)
      add_integer(std::is_signed_v<T>, sizeof(T) * 8);
    else if constexpr (json_float<T>)
      add_type("number");
    else if constexpr (std::same_as<T, std::string>)
      add_type("string");
    else if constexpr (described_enum<T>)
      add_names<T>();
    else if constexpr (std::same_as<T, json>)
      add_any_value();
    else if constexpr (std::same_as<T, std::monostate>)
      add_type("null");
    else if constexpr (described_struct<T>)
      add_struct<T>();
    else if constexpr (json_map<T>)
      add_map<T>();
    else if constexpr (json_vector<T> || json_set<T> || json_array<T>)
      add_array<T>();
    else if constexpr (json_tuple<T>)
      make_tuple(add_parts(static_cast<T*>(nullptr)));
    else if constexpr (json_variant<T>)
      make_any(add_parts(static_cast<T*>(nullptr)));
    else { // std::optional or a smart pointer
      add<pointee<T>>();
      make_nullable();
    }
  }

  /// Returns the document around the schema that was pushed.
  json finish();

private:
  struct stack;

  // -- schemas ----------------------------------------------------------------

  /// Pushes `{"type":name}`.
  void add_type(const char* name);

  /// Pushes the schema of an integer of `bits` bits; with limits if it is
  /// narrower than 64 bits, unsigned with a minimum of 0.
  void add_integer(bool is_signed, int bits);

  /// Pushes `{}`.
  void add_any_value();

  /// Pushes the schema of one of these names.
  void add_names(const std::string_view* names, std::size_t size);

  /// Pushes the schema that a codec makes.
  void add_result(schema_function* make);

  // -- schemas of other schemas -----------------------------------------------

  // Each pops its parts, the last one first, and pushes the result.

  /// `{"anyOf":[…]}`
  void make_any(std::size_t count);

  /// Makes a schema that accepts `null` in addition.
  void make_nullable();

  /// Makes the schema of an array of exactly these elements.
  void make_tuple(std::size_t count);

  void make_list();
  void make_set();

  /// Makes the schema of an array of `size` elements of one type.
  void make_array(std::size_t size);

  void make_map();

  /// Makes the schema of a map from names, which are on top of the values.
  void make_map_of_names();

  // -- structs ----------------------------------------------------------------

  /// Pushes the schema of a struct without members. If the struct is being
  /// built, or is defined already because it refers to itself, pushes a
  /// reference instead.
  /// @returns whether the struct is to be built.
  bool begin_struct(std::type_index type);

  /// Pops a schema and makes it that of a member.
  void make_optional_member(std::string_view name);
  void make_required_member(std::string_view name);

  /// Makes the struct refuse members of other names.
  void refuse_other_members();

  /// Replaces the schema by a reference if it refers to itself.
  void end_struct(std::type_index type);

  // -- types ------------------------------------------------------------------

  template <template <class...> class Of, class... Ts>
  std::size_t add_parts(Of<Ts...>*) {
    (add<Ts>(), ...);
    return sizeof...(Ts);
  }

  template <class Enum>
  void add_names() {
    constexpr const auto& names = enumerator_names<Enum>;
    static_assert(
      distinct_names<boost::describe::describe_enumerators<Enum>>::value,
      "two enumerators have the same name on the wire");
    add_names(names.data(), names.size());
  }

  template <class Map>
  void add_map() {
    add<typename Map::mapped_type>();
    if constexpr (described_enum<typename Map::key_type>) {
      add_names<typename Map::key_type>();
      make_map_of_names();
    } else {
      make_map();
    }
  }

  template <class List>
  void add_array() {
    add<typename List::value_type>();
    if constexpr (json_set<List>)
      make_set();
    else if constexpr (json_array<List>)
      make_array(std::tuple_size_v<List>);
    else
      make_list();
  }

  template <class Struct>
  void add_struct() {
    if (!begin_struct(typeid(Struct)))
      return;
    for_each_member<Struct>([&](auto d) {
      using member = std::remove_const_t<member_of<Struct, decltype(d)>>;
      if constexpr (json_optional<member> && !has_codec<member>)
        add<typename member::value_type>();
      else
        add<member>();
      if constexpr (is_optional_member<Struct, decltype(d)>)
        make_optional_member(wire_name<decltype(d)>::plain);
      else
        make_required_member(wire_name<decltype(d)>::plain);
    });
    if constexpr (refuses_unknown_members<Struct>)
      refuse_other_members();
    end_struct(typeid(Struct));
  }

  std::unique_ptr<stack> stack_;
};

/// Pushes the schema of a type; for code that does not know the type.
using schema_source = void(schema_builder& to);

template <class T>
void add_schema(schema_builder& to) {
  to.add<T>();
}

} // namespace tertulia::detail
