// SPDX-License-Identifier: BSD-3-Clause

#include "units.hpp"

#include <tertulia/status.hpp>
#include <tertulia/timestamp.hpp>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <optional>

#include "tool_failure.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

namespace {

using namespace std::chrono;

std::string formatted(caf::timestamp x, const char* format) {
  const auto when = floor<seconds>(x).time_since_epoch().count();
  const auto seconds = static_cast<std::time_t>(when);
  std::tm parts{};
  if (::localtime_r(&seconds, &parts) == nullptr)
    return to_rfc3339(x);
  std::array<char, 64> text{};
  const auto size = std::strftime(text.data(), text.size(), format, &parts);
  return {text.data(), size};
}

std::optional<caf::timespan> duration_of(const std::string& text) {
  std::int64_t n = 0;
  const auto* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, n);
  if (error != std::errc{} || n < 0 || at + 1 != end)
    return std::nullopt;
  std::int64_t unit = 0;
  switch (*at) {
    case 's': unit = 1; break;
    case 'm': unit = 60; break;
    case 'h': unit = 3'600; break;
    case 'd': unit = 86'400; break;
    case 'w': unit = 604'800; break;
    default: return std::nullopt;
  }
  // A hundred years: longer durations will not fit into nanoseconds some day.
  constexpr std::int64_t longest = std::int64_t{36'525} * 86'400;
  if (n > longest / unit)
    return std::nullopt;
  return caf::timespan{seconds{n * unit}};
}

std::optional<caf::timestamp> local_of(const std::string& text) {
  for (const auto* format : {"%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M",
                             "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S"}) {
    std::tm parts{};
    const auto* end = ::strptime(text.c_str(), format, &parts);
    if (end == nullptr || *end != '\0')
      continue;
    const auto given = parts;
    parts.tm_isdst = -1;
    const auto when = std::mktime(&parts);
    if (when == -1 || parts.tm_mday != given.tm_mday // the 31st of June
        || parts.tm_year < -222 || parts.tm_year > 361)
      return std::nullopt;
    return caf::timestamp{seconds{when}};
  }
  return std::nullopt;
}

} // namespace

std::string human_size(std::uint64_t bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  // 1023.5 would be written as 1024.
  for (; value >= 1023.5 && unit + 1 < units.size(); ++unit)
    value /= 1024;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(),
                unit > 0 && value < 9.95 ? "%.1f %s" : "%.0f %s", value,
                units[unit]);
  return text.data();
}

std::string local_time(caf::timestamp x) {
  return formatted(x, "%Y-%m-%d %H:%M");
}

std::string exact_time(caf::timestamp x) {
  return formatted(x, "%Y-%m-%d %H:%M:%S %z");
}

caf::timespan parse_duration(const std::string& option,
                             const std::string& text) {
  if (const auto result = duration_of(text))
    return *result;
  reject_usage(fmt::format("{}: \"{}\" is not a duration", option, text),
               "Write it as 90s, 15m, 12h, 30d or 2w.");
}

caf::timestamp parse_time(const std::string& option, const std::string& text) {
  if (const auto ago = duration_of(text))
    return caf::make_timestamp() - *ago;
  if (const auto result = local_of(text))
    return *result;
  try {
    return parse_rfc3339(text);
  } catch (const status_error&) {
    reject_usage(fmt::format("{}: \"{}\" is not a time", option, text),
                 "Write it as 2026-11-21, \"2026-11-21 19:04\", "
                 "2026-11-21T18:04:00Z, or 30d for 30 days ago.");
  }
}

} // namespace tertulia::tool
