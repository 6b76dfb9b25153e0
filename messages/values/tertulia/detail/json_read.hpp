// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/json_access.hpp>
#include <tertulia/detail/json_traits.hpp>
#include <tertulia/detail/json_variant.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

// Conversion of documents to values.

namespace tertulia::detail {

/// Parses untrusted text; see `parse_json`. Only this function and the
/// three below call the parser: text that is nested too deeply would end the
/// process when its document is copied or written.
json parse_document(std::string_view text);

/// Parses as `parse_document`, with the members of objects in the order of the
/// text.
nlohmann::ordered_json parse_ordered_document(std::string_view text);

/// Parses as `parse_document`, for a caller without the definition of `json`.
std::shared_ptr<const json> parse_shared_document(std::string_view text);

/// Parses as `parse_document`; returns null for text that it refuses.
json document_or_null(std::string_view text);

/// Refuses text that is nested too deeply for a document, whether it is JSON or
/// not.
/// @errors `invalid_argument` also for a zero byte, which does not end the
///         text.
void check_nesting(std::string_view text);

/// @param lowest,highest the range of the type to be read.
/// @errors `invalid_argument` if `from` is not an integer in the range. A
///         number with a point or an exponent is accepted if it is integral and
///         at most 2^53 in magnitude, where each integer is exact.
std::int64_t read_signed(const json& from, const json_path& path,
                         std::int64_t lowest, std::int64_t highest);

std::uint64_t read_unsigned(const json& from, const json_path& path,
                            std::uint64_t highest);

/// Returns `x` rounded to a float, an infinity if it is out of range.
float nearest_float(double x);

bool read_bool(const json& from, const json_path& path);

double read_double(const json& from, const json_path& path);

float read_float(const json& from, const json_path& path);

/// Each returns `from` if it has the required type, and refuses it otherwise.
const json& require_array(const json& from, const json_path& path);
const json& require_array(const json& from, const json_path& path,
                          std::size_t size);
const json& require_object(const json& from, const json_path& path);
const std::string& require_string(const json& from, const json_path& path);

/// Returns `text` in a form for error messages: quoted, escaped and cut.
std::string in_quotes(std::string_view text);

/// Refuses a name that is not an enumerator of `T`.
template <described_enum T>
[[noreturn]] void raise_no_name(const json_path& path, std::string_view found) {
  std::string expected;
  for_each_enumerator<T>([&](auto d) {
    expected += expected.empty() ? "one of " : ", ";
    expected += wire_name<decltype(d)>::quoted;
  });
  raise_mismatch(path, expected, in_quotes(found));
}

template <described_enum T>
T read_enum(const json& from, const json_path& path) {
  const auto& name = require_string(from, path);
  T result{};
  if (!find_enumerator(name, result))
    raise_no_name<T>(path, name);
  return result;
}

/// Refuses an object that has a member unknown to `T`.
template <described_struct T>
void check_members(const json& from, const json_path& path) {
  for_each_json_member(from, [&](const std::string& key, const json&) {
    std::string expected;
    auto known = false;
    for_each_member<T>([&](auto d) {
      using name = wire_name<decltype(d)>;
      expected += expected.empty() ? "one of " : ", ";
      expected += name::quoted;
      known = known || key == name::plain;
    });
    if (!known)
      raise_mismatch({path, key}, expected, in_quotes(key));
  });
}

template <described_struct T>
T read_struct(const json& from, const json_path& path) {
  require_object(from, path);
  T result{};
  std::size_t found = 0;
  for_each_member<T>([&](auto d) {
    using member = member_of<T, decltype(d)>;
    constexpr auto name = wire_name<decltype(d)>::plain;
    if (const auto* value = find_member(from, name)) {
      result.*d.pointer = read_value<member>(*value, {path, name});
      ++found;
    }
  });
  if constexpr (refuses_unknown_members<T>)
    if (found < size_of(from))
      check_members<T>(from, path);
  return result;
}

template <class Map>
Map read_map(const json& from, const json_path& path) {
  using key = typename Map::key_type;
  require_object(from, path);
  Map result;
  for_each_json_member(from, [&](const std::string& name, const json& member) {
    const json_path here{path, name};
    auto value = read_value<typename Map::mapped_type>(member, here);
    if constexpr (described_enum<key>) {
      key k{};
      if (!find_enumerator(name, k))
        raise_no_name<key>(here, name);
      result.emplace(k, std::move(value));
    } else {
      result.emplace(name, std::move(value));
    }
  });
  return result;
}

template <class Tuple>
Tuple read_tuple(const json& from, const json_path& path) {
  constexpr auto size = std::tuple_size_v<Tuple>;
  require_array(from, path, size);
  return [&]<std::size_t... Is>(std::index_sequence<Is...>) {
    return Tuple{read_value<std::tuple_element_t<Is, Tuple>>(
      element_at(from, Is), {path, Is})...};
  }
  (std::make_index_sequence<size>{});
}

template <json_array Array>
Array read_array(const json& from, const json_path& path) {
  Array result{};
  require_array(from, path, result.size());
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i]
      = read_value<typename Array::value_type>(element_at(from, i), {path, i});
  return result;
}

template <class List>
List read_list(const json& from, const json_path& path) {
  require_array(from, path);
  const auto size = size_of(from);
  List result;
  if constexpr (json_vector<List>)
    result.reserve(size);
  for (std::size_t i = 0; i < size; ++i) {
    auto x
      = read_value<typename List::value_type>(element_at(from, i), {path, i});
    if constexpr (json_vector<List>)
      result.push_back(std::move(x));
    else
      result.insert(std::move(x));
  }
  return result;
}

// -- values of any type -------------------------------------------------------

template <class T>
T read_value(const json& from, const json_path& path) {
  if constexpr (has_codec<T>) {
    return json_codec<T>::read(from, path);
  } else if constexpr (std::same_as<T, bool>) {
    return read_bool(from, path);
  } else if constexpr (json_integer<T> && std::is_signed_v<T>) {
    using limits = std::numeric_limits<T>;
    return static_cast<T>(
      read_signed(from, path, limits::min(), limits::max()));
  } else if constexpr (json_integer<T>) {
    return static_cast<T>(
      read_unsigned(from, path, std::numeric_limits<T>::max()));
  } else if constexpr (std::same_as<T, double>) {
    return read_double(from, path);
  } else if constexpr (std::same_as<T, float>) {
    return read_float(from, path);
  } else if constexpr (std::same_as<T, std::string>) {
    return require_string(from, path);
  } else if constexpr (described_enum<T>) {
    return read_enum<T>(from, path);
  } else if constexpr (std::same_as<T, json>) {
    return from;
  } else if constexpr (std::same_as<T, std::monostate>) {
    if (kind_of(from) != json_kind::null)
      raise_mismatch(path, "null", from);
    return {};
  } else if constexpr (described_struct<T>) {
    return read_struct<T>(from, path);
  } else if constexpr (json_map<T>) {
    return read_map<T>(from, path);
  } else if constexpr (json_vector<T> || json_set<T>) {
    return read_list<T>(from, path);
  } else if constexpr (json_array<T>) {
    return read_array<T>(from, path);
  } else if constexpr (json_tuple<T>) {
    return read_tuple<T>(from, path);
  } else if constexpr (json_variant<T>) {
    return variant_reader<T>{from, path}.read();
  } else { // std::optional or a smart pointer
    using value = pointee<T>;
    if (kind_of(from) == json_kind::null)
      return {};
    if constexpr (json_optional<T>)
      return T{std::in_place, read_value<value>(from, path)};
    else if constexpr (is_a<T, std::shared_ptr>)
      return std::make_shared<value>(read_value<value>(from, path));
    else
      return std::make_unique<value>(read_value<value>(from, path));
  }
}

} // namespace tertulia::detail
