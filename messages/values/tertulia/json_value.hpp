// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/json_read.hpp>
#include <tertulia/detail/json_std.hpp>
#include <tertulia/detail/json_write.hpp>

#include <string>
#include <string_view>

// Conversion of values to JSON text and back. To work with documents include
// <tertulia/json.hpp>.

namespace tertulia {

// -- supported types ----------------------------------------------------------

/// A type with a JSON form that can be written and read:
///
/// | C++                                   | JSON                            |
/// | ------------------------------------- | ------------------------------- |
/// | `bool`, integers, `float`, `double`   | boolean, number                 |
/// | `std::string`                         | string                          |
/// | described enum                        | string: the enumerator's name   |
/// | described struct, including its bases | object                          |
/// | `std::optional`                       | the value, or `null`            |
/// | `std::vector`, `array`, `set`         | array                           |
/// | `std::pair`, `std::tuple`             | array of that length            |
/// | `std::map`, `std::unordered_map`      | object; keys: strings or enums  |
/// | `std::variant`                        | the value of the alternative    |
/// | `std::monostate`                      | `null`                          |
/// | `std::shared_ptr`, `std::unique_ptr`  | the value, or `null`            |
/// | `std::chrono` duration, of integers   | string, ISO 8601: `PT1M30S`     |
/// | `std::filesystem::path`               | string                          |
/// | `json`                                | itself                          |
/// | a type with a `json_codec`            | as the codec defines            |
///
/// Members are named in camelCase on the wire: `unit_price` is `unitPrice`, and
/// `default_` is `default`. A struct that is read needs a default constructor.
/// A struct may contain itself through a vector, map or pointer.
template <class T>
concept json_value = detail::supports<T, true>;

/// A type that can be written: a `json_value`, or a view of text.
template <class T>
concept json_writable = detail::supports<T, false>;

// -- writing ------------------------------------------------------------------

/// Appends the canonical form of `x` to `out`; on an error `out` is unchanged.
///
/// Values are compared, hashed and sent by their canonical form:
///
/// - It is compact UTF-8. Only `"`, `\` and control characters are escaped.
/// - Members are in the order of their description, those of bases first. Maps
///   are sorted by the bytes of their keys.
/// - Members that are an empty `std::optional`, or that are empty and in the
///   struct's `omitted_when_empty`, are left out.
/// - Integers are written in full.
/// - Floating-point numbers have the fewest digits that give the same value
///   back. They have no exponent from 1e-6 up to 1e21, and no point if they are
///   integral, all as in Go; negative zero is `-0.0`.
///
/// Parsing the text, typed or not, and writing it again gives the same text.
///
/// @errors  `invalid_argument` that names the path: for a NaN or an infinity, a
///          string that is not UTF-8, an enum value without a name, or nesting
///          deeper than `max_json_depth`.
/// @threads from any thread.
/// @design  docs/values.md#canonical-json.
template <json_writable T>
void append_json_text(std::string& out, const T& x) {
  const auto size = out.size();
  try {
    detail::write_value(out, x, json_path{});
  } catch (...) {
    out.resize(size);
    throw;
  }
}

/// Returns the canonical form of `x`; see `append_json_text`.
/// @errors as `append_json_text`.
template <json_writable T>
[[nodiscard]] std::string to_json_text(const T& x) {
  std::string result;
  append_json_text(result, x);
  return result;
}

// -- reading ------------------------------------------------------------------

/// Reads a `T` from a document.
///
/// - Unknown members are ignored, unless the struct
///   `refuses_unknown_members`.
/// - A missing member keeps its value from the struct's default constructor, as
///   Go keeps the zero value. Use an optional to detect a missing member.
/// - `null` is an empty `std::optional` or smart pointer; types without a
///   `null` form refuse it.
/// - An integer may be written as `3.0` or `3e0`, up to 2^53.
/// - A `std::variant` takes the first alternative, in the order of declaration,
///   that accepts the value. A struct accepts any object, so a struct whose
///   members are exactly those of the object is tried first. The wire form does
///   not name the alternative: choose types that differ in their JSON. `1.0` is
///   written as `1`, so put `double` before integers or leave one of them out.
/// - Elements that occur twice in a `std::set` are read as one.
///
/// @errors  `invalid_argument` for a value of another type, a number out of the
///          range of the member's type or an unknown enumerator. The message
///          names the path: `$.items[3].unitPrice: expected a number, found a
///          string`; the details are `{"expected":…,"path":…}`.
/// @threads from any thread.
template <json_value T>
[[nodiscard]] T from_json(const json& from) {
  detail::failed_reads failed;
  return detail::read_value<T>(from, json_path{failed});
}

/// Reads a `T` from untrusted text; otherwise as `from_json`. If an object has
/// several members of the same name, the last one counts.
/// @errors `invalid_argument` also for text that is not JSON, not UTF-8 or
///         nested deeper than `max_json_depth`.
template <json_value T>
[[nodiscard]] T parse_json(std::string_view text) {
  return from_json<T>(*detail::parse_shared_document(text));
}

} // namespace tertulia
