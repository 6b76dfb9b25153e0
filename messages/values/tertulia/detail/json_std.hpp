// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/json_read.hpp>
#include <tertulia/detail/json_write.hpp>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

// Codecs for types of the standard library that are strings in JSON.

namespace tertulia::detail {

/// Part of a codec whose JSON is a string.
struct schema_of_strings {
  static json schema();
};

/// Unit of a duration: `num / den` seconds.
struct duration_unit {
  std::uint64_t num;
  std::uint64_t den;
};

/// @errors `invalid_argument` for more than 2^64 seconds.
void write_duration(std::string& out, std::int64_t count, duration_unit unit,
                    const json_path& path);

/// @errors `invalid_argument` for text that is not a duration, and for a
///         duration that is not a multiple of the unit from `lowest` to
///         `highest`.
std::int64_t read_duration(const json& from, const json_path& path,
                           duration_unit unit, std::int64_t lowest,
                           std::int64_t highest);

/// Part of the codec of a duration in whole seconds or longer units.
struct schema_of_seconds {
  static json schema();
};

/// Part of the codec of a duration in fractions of a second.
struct schema_of_fractions {
  static json schema();
};

/// A duration that is exact in decimals of a second: signed integers that count
/// nanoseconds or multiples of them.
template <class Rep, class Period>
concept exact_duration
  = json_integer<Rep> && std::is_signed_v<Rep> && 1'000'000'000 % Period::den
    == 0;

/// `std::filesystem::path`, recognised by its members: its header is large, and
/// few programs have paths in their values.
template <class T>
concept file_path = requires(const T& x) {
  { x.generic_string() } -> std::same_as<std::string>;
  { x.lexically_normal() } -> std::same_as<T>;
  T::auto_format;
};

/// Returns the text of a path.
/// @errors `invalid_argument` for text with a NUL.
const std::string& require_path(const json& from, const json_path& path);

} // namespace tertulia::detail

namespace tertulia {

/// JSON of a duration: a string, ISO 8601 in hours, minutes and seconds, such
/// as `PT1H30M`, `PT0.25S`, `-PT2S`. A number would lose the unit: if the unit
/// of a member changed to milliseconds, stored seconds would be misread. Weeks
/// and days, of 24 hours, are read, too.
template <class Rep, class Period>
requires detail::exact_duration<Rep, Period>
struct json_codec<std::chrono::duration<Rep, Period>>
  : std::conditional_t<Period::type::den == 1, detail::schema_of_seconds,
                       detail::schema_of_fractions> {
  using type = std::chrono::duration<Rep, Period>;

  static void write(std::string& out, type x, const json_path& path) {
    detail::write_duration(out, x.count(), unit, path);
  }

  static type read(const json& from, const json_path& path) {
    using limits = std::numeric_limits<Rep>;
    return type{static_cast<Rep>(
      detail::read_duration(from, path, unit, limits::min(), limits::max()))};
  }

private:
  static constexpr detail::duration_unit unit{Period::type::num,
                                              Period::type::den};
};

/// JSON of a `std::filesystem::path`: a string, with `/` between the parts of
/// the path.
template <detail::file_path Path>
struct json_codec<Path> : detail::schema_of_strings {
  /// @errors `invalid_argument` for a path that is not UTF-8.
  static void write(std::string& out, const Path& x,
                    const json_path& position) {
    detail::write_text(out, x.generic_string(), position);
  }

  /// @errors `invalid_argument` for text with a NUL, which would end the path
  ///         in system calls.
  static Path read(const json& from, const json_path& position) {
    return Path{detail::require_path(from, position)};
  }
};

} // namespace tertulia
