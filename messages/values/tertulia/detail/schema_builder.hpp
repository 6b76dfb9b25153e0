// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/json_traits.hpp>

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <typeindex>
#include <typeinfo>
#include <utility>
#include <vector>

namespace tertulia::detail {

// -- pieces of a schema -------------------------------------------------------

/// `{"type":name}`
json schema_of_type(const char* name);

/// Returns the schema of an integer of `bits` bits; with limits if it is
/// narrower than 64 bits, unsigned with a minimum of 0.
json schema_of_integer(bool is_signed, int bits);

/// `{"anyOf":[…]}`
json schema_of_any(std::vector<json> alternatives);

/// Returns a schema that accepts `null` in addition.
json schema_or_null(json schema);

/// Returns the schema of an array of exactly these elements.
json schema_of_tuple(std::vector<json> elements);

json schema_of_names(std::vector<std::string> names);

/// Builder of one document: structs are inline; structs that contain themselves
/// are defined once under `$defs`.
///
/// @threads a value.
class schema_builder {
public:
  /// Returns the document around the schema of `T`.
  template <class T>
  json document() {
    return finish(schema<T>());
  }

private:
  template <class T>
  json schema() {
    if constexpr (has_codec<T>) {
      return json_codec<T>::schema();
    } else if constexpr (std::same_as<T, bool>) {
      return schema_of_type("boolean");
    } else if constexpr (json_integer<T>) {
      return schema_of_integer(std::is_signed_v<T>, sizeof(T) * 8);
    } else if constexpr (json_float<T>) {
      return schema_of_type("number");
    } else if constexpr (std::same_as<T, std::string>) {
      return schema_of_type("string");
    } else if constexpr (described_enum<T>) {
      return names<T>();
    } else if constexpr (std::same_as<T, json>) {
      return json::object();
    } else if constexpr (std::same_as<T, std::monostate>) {
      return schema_of_type("null");
    } else if constexpr (described_struct<T>) {
      return structure<T>();
    } else if constexpr (json_map<T>) {
      return map<T>();
    } else if constexpr (json_vector<T> || json_set<T> || json_array<T>) {
      return array<T>();
    } else if constexpr (json_tuple<T>) {
      return schema_of_tuple(parts(static_cast<T*>(nullptr)));
    } else if constexpr (json_variant<T>) {
      return schema_of_any(parts(static_cast<T*>(nullptr)));
    } else { // std::optional or a smart pointer
      return schema_or_null(schema<pointee<T>>());
    }
  }

  template <template <class...> class Of, class... Ts>
  std::vector<json> parts(Of<Ts...>*) {
    std::vector<json> result;
    result.reserve(sizeof...(Ts));
    (result.push_back(schema<Ts>()), ...);
    return result;
  }

  template <class Enum>
  static json names() {
    std::vector<std::string> result;
    for_each_enumerator<Enum>(
      [&](auto d) { result.emplace_back(wire_name<decltype(d)>::plain); });
    return schema_of_names(std::move(result));
  }

  template <class Map>
  json map() {
    auto result = schema_of_type("object");
    result["additionalProperties"] = schema<typename Map::mapped_type>();
    if constexpr (described_enum<typename Map::key_type>)
      result["propertyNames"] = names<typename Map::key_type>();
    return result;
  }

  template <class List>
  json array() {
    auto result = schema_of_type("array");
    result["items"] = schema<typename List::value_type>();
    if constexpr (json_set<List>)
      result["uniqueItems"] = true;
    if constexpr (json_array<List>)
      result["minItems"] = result["maxItems"] = std::tuple_size_v<List>;
    return result;
  }

  template <class Struct>
  json structure() {
    const std::type_index type{typeid(Struct)};
    if (auto reference = begin(type))
      return std::move(*reference);
    auto result = schema_of_type("object");
    auto& properties = result["properties"] = json::object();
    for_each_member<Struct>([&](auto d) {
      using member = std::remove_const_t<member_of<Struct, decltype(d)>>;
      const std::string name{wire_name<decltype(d)>::plain};
      if constexpr (json_optional<member> && !has_codec<member>)
        properties[name] = schema<typename member::value_type>();
      else
        properties[name] = schema<member>();
      if constexpr (!is_optional_member<Struct, decltype(d)>)
        result["required"].push_back(name);
    });
    if constexpr (refuses_unknown_members<Struct>)
      result["additionalProperties"] = false;
    return end(type, std::move(result));
  }

  /// Returns a reference if the struct is being built, or is defined already
  /// because it refers to itself. Otherwise records that it is being built.
  std::optional<json> begin(std::type_index type);

  /// Returns the schema, or a reference to it if it refers to itself.
  json end(std::type_index type, json schema);

  json finish(json root);

  /// Structs that are being built or are defined; a name is empty until the
  /// first reference to its struct.
  std::map<std::type_index, std::string> names_;

  json definitions_ = json::object();
};

} // namespace tertulia::detail
