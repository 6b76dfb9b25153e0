// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/json_traits.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Conversion of values to canonical text, without an intermediate document: a
// hot path.

namespace tertulia::detail {

/// Appends `text` in quotes.
/// @errors `invalid_argument` if it is not UTF-8.
void write_text(std::string& out, std::string_view text, const json_path& path);

/// @errors `invalid_argument` for NaN and infinities.
void write_float(std::string& out, double x, const json_path& path);

/// Writes `x` as the other overload does, with as many digits as a `float`
/// needs.
void write_float(std::string& out, float x, const json_path& path);

void write_json(std::string& out, const json& x, const json_path& path);

bool is_null_json(const json& x) noexcept;

[[noreturn]] void raise_too_deep(const json_path& path);

[[noreturn]] void raise_no_enumerator(const json_path& path, long long value);

/// Checks that one more array or object may begin at `path`.
inline void check_depth(const json_path& path) {
  if (path.depth() >= max_json_depth)
    raise_too_deep(path);
}

/// Returns whether `x` is written as `null`. An optional member is then left
/// out, because a reader cannot distinguish the two.
template <class T>
bool is_null(const T& x) {
  if constexpr (has_codec<T>)
    return false;
  else if constexpr (std::same_as<T, json>)
    return is_null_json(x);
  else if constexpr (std::same_as<T, std::monostate>)
    return true;
  else if constexpr (json_optional<T> || json_owner<T>)
    return !x || is_null(*x);
  else if constexpr (json_variant<T>)
    return std::visit([](const auto& y) { return is_null(y); }, x);
  else
    return false;
}

/// Returns whether `omitted_when_empty` leaves `x` out.
template <class T>
bool is_empty(const T& x) {
  if constexpr (!can_be_empty<T> || (described_struct<T> && !has_codec<T>))
    return can_be_empty<T>;
  else if constexpr (std::same_as<T, json>) // an empty array is a value
    return is_null_json(x);
  else if constexpr (json_float<T>) // a reader would lose the sign of -0.0
    return std::bit_cast<std::array<char, sizeof(T)>>(x)
           == std::array<char, sizeof(T)>{};
  else if constexpr (std::is_arithmetic_v<T>)
    return x == T{};
  else if constexpr (requires { x.empty(); })
    return x.empty();
  else
    return is_null(x);
}

/// Returns whether this member is left out of the text of a `Struct`.
template <class Struct, class Descriptor, class Member>
bool is_left_out(const Member& x) {
  if constexpr (!is_optional_member<Struct, Descriptor>)
    return false;
  else if constexpr (json_optional<Member> && !has_codec<Member>)
    return is_null(x);
  else
    return is_empty(x);
}

template <class T>
void write_value(std::string& out, const T& x, const json_path& path);

template <json_integer T>
void write_integer(std::string& out, T x) {
  char digits[24];
  const auto end = std::to_chars(digits, std::end(digits), x).ptr;
  out.append(digits, end);
}

template <described_struct T>
void write_struct(std::string& out, const T& x, const json_path& path) {
  check_depth(path);
  out += '{';
  for_each_member<T>([&](auto d) {
    using name = wire_name<decltype(d)>;
    using member = std::remove_const_t<member_of<T, decltype(d)>>;
    const auto& y = x.*d.pointer;
    if (is_left_out<T, decltype(d)>(y))
      return;
    if (out.back() != '{')
      out += ',';
    out += name::key;
    write_value<member>(out, y, {path, name::plain});
  });
  out += '}';
}

/// Writes elements in the order of iteration.
template <class Range>
void write_array(std::string& out, const Range& xs, const json_path& path) {
  check_depth(path);
  out += '[';
  std::size_t index = 0;
  for (auto i = xs.begin(); i != xs.end(); ++i, ++index) {
    if (index > 0)
      out += ',';
    // explicit type: elements of vector<bool> are proxies
    write_value<typename Range::value_type>(out, *i, {path, index});
  }
  out += ']';
}

template <class Tuple>
void write_tuple(std::string& out, const Tuple& xs, const json_path& path) {
  check_depth(path);
  out += '[';
  [&]<std::size_t... Is>(std::index_sequence<Is...>) {
    ((out.append(Is == 0 ? 0 : 1, ','),
      write_value<std::tuple_element_t<Is, Tuple>>(out, std::get<Is>(xs),
                                                   {path, Is})),
     ...);
  }
  (std::make_index_sequence<std::tuple_size_v<Tuple>>{});
  out += ']';
}

template <class Value>
void write_entry(std::string& out, std::string_view key, const Value& x,
                 const json_path& path) {
  if (out.back() != '{')
    out += ',';
  const json_path here{path, key};
  write_text(out, key, here);
  out += ':';
  write_value(out, x, here);
}

template <described_enum T>
std::string_view plain_name(T x, const json_path& path) {
  const auto quoted = quoted_name(x);
  if (quoted.empty())
    raise_no_enumerator(path, static_cast<long long>(x));
  return quoted.substr(1, quoted.size() - 2);
}

template <json_map Map>
void write_map(std::string& out, const Map& xs, const json_path& path) {
  using key = typename Map::key_type;
  check_depth(path);
  out += '{';
  if constexpr (std::same_as<
                  Map,
                  std::map<key,
                           typename Map::
                             mapped_type>> && std::same_as<key, std::string>) {
    for (const auto& [k, v] : xs)
      write_entry(out, k, v, path);
  } else { // other maps are not sorted by the bytes of the keys
    using entry = std::pair<std::string_view, const typename Map::mapped_type*>;
    std::vector<entry> entries;
    entries.reserve(xs.size());
    for (const auto& [k, v] : xs)
      if constexpr (described_enum<key>)
        entries.emplace_back(plain_name(k, path), &v);
      else
        entries.emplace_back(k, &v);
    std::sort(entries.begin(), entries.end(),
              [](const entry& a, const entry& b) { return a.first < b.first; });
    for (const auto& [k, v] : entries)
      write_entry(out, k, *v, path);
  }
  out += '}';
}

template <class T>
void write_value(std::string& out, const T& x, const json_path& path) {
  if constexpr (has_codec<T>)
    json_codec<T>::write(out, x, path);
  else if constexpr (std::same_as<T, bool>)
    out += x ? "true" : "false";
  else if constexpr (json_integer<T>)
    write_integer(out, x);
  else if constexpr (json_float<T>)
    write_float(out, x, path);
  else if constexpr (std::is_array_v<T>) // of char: up to the first zero
    write_text(out, {x, std::find(std::begin(x), std::end(x), '\0')}, path);
  else if constexpr (std::same_as<T, std::string> || json_view<T>)
    write_text(out, x, path);
  else if constexpr (described_enum<T>)
    out.append(1, '"').append(plain_name(x, path)).append(1, '"');
  else if constexpr (std::same_as<T, json>)
    write_json(out, x, path);
  else if constexpr (std::same_as<T, std::monostate>)
    out += "null";
  else if constexpr (described_struct<T>)
    write_struct(out, x, path);
  else if constexpr (json_map<T>)
    write_map(out, x, path);
  else if constexpr (json_vector<T> || json_set<T> || json_array<T>)
    write_array(out, x, path);
  else if constexpr (json_tuple<T>)
    write_tuple(out, x, path);
  else if constexpr (json_variant<T>)
    std::visit([&](const auto& y) { write_value(out, y, path); }, x);
  else if (!x) // std::optional or a smart pointer
    out += "null";
  else
    write_value(out, *x, path);
}

} // namespace tertulia::detail
