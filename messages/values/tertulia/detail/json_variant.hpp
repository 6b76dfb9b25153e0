// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/json_access.hpp>
#include <tertulia/detail/json_traits.hpp>
#include <tertulia/status_error.hpp>

#include <map>
#include <optional>
#include <tuple>
#include <typeindex>
#include <utility>
#include <variant>

// Selection of the alternative of a variant, which the wire form does not name.

namespace tertulia::detail {

template <class T>
T read_value(const json& from, const json_path& path); // <…/json_read.hpp>

/// Required match between a value and an alternative, without nested values.
enum class fit {
  /// An object has all required members of the struct and no others.
  exact,
  /// The kind of value is right.
  loose,
};

template <described_struct T>
bool fits_struct(const json& from) {
  std::size_t known = 0;
  auto complete = true;
  for_each_member<T>([&](auto d) {
    if (find_member(from, wire_name<decltype(d)>::plain) != nullptr)
      ++known;
    else if (!is_optional_member<T, decltype(d)>)
      complete = false;
  });
  return complete && known == size_of(from);
}

template <class T>
bool fits(const json& from, fit mode) {
  const auto kind = kind_of(from);
  if constexpr (has_codec<T> || std::same_as<T, json>)
    return true;
  else if constexpr (std::same_as<T, std::monostate>)
    return kind == json_kind::null;
  else if constexpr (std::same_as<T, bool>)
    return kind == json_kind::boolean;
  else if constexpr (json_integer<T>)
    return kind == json_kind::integer
           || (mode == fit::loose && kind == json_kind::floating);
  else if constexpr (json_float<T>)
    return kind == json_kind::integer || kind == json_kind::floating;
  else if constexpr (std::same_as<T, std::string> || described_enum<T>)
    return kind == json_kind::string;
  else if constexpr (described_struct<T>)
    return kind == json_kind::object
           && (mode == fit::loose || fits_struct<T>(from));
  else if constexpr (json_map<T>)
    return kind == json_kind::object;
  else if constexpr (json_variant<T>)
    return true;
  else if constexpr (json_optional<T> || json_owner<T>)
    return kind == json_kind::null || fits<pointee<T>>(from, mode);
  else if constexpr (json_array<T> || json_tuple<T>)
    return kind == json_kind::array && size_of(from) == std::tuple_size_v<T>;
  else
    return kind == json_kind::array;
}

/// Cache of the alternatives that refused a value, with their errors. Without
/// it variants inside a variant would be read again for each outer alternative,
/// so that untrusted text with n levels could cause 2^n reads.
///
/// @lifetime the document must not change meanwhile.
class failed_reads {
public:
  failed_reads();

  failed_reads(const failed_reads&) = delete;
  failed_reads& operator=(const failed_reads&) = delete;

  ~failed_reads();

  [[nodiscard]] const status_error* find(const json& from,
                                         std::type_index type) const;

  void add(const json& from, std::type_index type, const status_error& error);

private:
  std::map<std::pair<const json*, std::type_index>, status_error> errors_;
};

/// Reads one variant.
template <class Variant>
class variant_reader {
public:
  variant_reader(const json& value, const json_path& path)
    : value_(value), path_(path),
      failed_(path.failed() ? *path.failed() : local_) {}

  /// Tries the alternatives in two rounds: a struct accepts any object, so one
  /// whose members match is tried first.
  Variant read() {
    constexpr auto size = std::variant_size_v<Variant>;
    try_all(fit::exact, std::make_index_sequence<size>{});
    fitting_ = 0;
    try_all(fit::loose, std::make_index_sequence<size>{});
    if (result_)
      return std::move(*result_);
    if (fitting_ == 1)
      throw status_error{*last_error_};
    raise_mismatch(path_, "one of the alternatives of a variant", value_);
  }

private:
  template <std::size_t... Is>
  void try_all(fit mode, std::index_sequence<Is...>) {
    (try_one<Is>(mode), ...);
  }

  template <std::size_t I>
  void try_one(fit mode) {
    using type = std::variant_alternative_t<I, Variant>;
    if (result_ || !fits<type>(value_, mode))
      return;
    ++fitting_;
    if (const auto error = failed_.find(value_, typeid(type))) {
      last_error_ = error;
      return;
    }
    try {
      result_.emplace(std::in_place_index<I>, read_value<type>(value_, path_));
    } catch (const status_error& error) {
      failed_.add(value_, typeid(type), error);
      last_error_ = failed_.find(value_, typeid(type));
    }
  }

  const json& value_;
  const json_path& path_;
  failed_reads local_; // for a root without a cache
  failed_reads& failed_;
  std::optional<Variant> result_;
  const status_error* last_error_ = nullptr;
  int fitting_ = 0;
};

} // namespace tertulia::detail
