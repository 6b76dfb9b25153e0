// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json_value.hpp>

#include <chrono>
#include <string>
#include <string_view>

namespace tertulia {

/// Time of the calendar, to the nanosecond; the same type as `caf::timestamp`.
using timestamp = std::chrono::time_point<std::chrono::system_clock,
                                          std::chrono::nanoseconds>;

/// Returns the time as RFC 3339 in UTC. As in Go, the fraction of a second has
/// no trailing zeros: `2026-11-21T10:54:21.5Z`.
/// @threads any.
[[nodiscard]] std::string to_rfc3339(timestamp x);

/// Parses RFC 3339, with any offset, to the nanosecond.
/// @errors `invalid_argument`.
/// @threads any.
[[nodiscard]] timestamp parse_rfc3339(std::string_view text);

/// JSON of a time: a string, RFC 3339 in UTC.
template <>
struct json_codec<timestamp> {
  static void write(std::string& out, timestamp x, const json_path& path);
  static timestamp read(const json& from, const json_path& path);
  static json schema();
};

} // namespace tertulia
