// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <caf/timespan.hpp>
#include <caf/timestamp.hpp>

#include <cstdint>
#include <string>

// Sizes and times in the notation of people.

namespace tertulia::tool {

/// Returns a size such as `812 B`, `3.4 KiB` or `12 MiB`.
[[nodiscard]] std::string human_size(std::uint64_t bytes);

/// Returns the local time: `2026-11-21 19:04`.
[[nodiscard]] std::string local_time(caf::timestamp x);

/// Returns the local time with seconds and zone: `2026-11-21 19:04:21 +0100`.
[[nodiscard]] std::string exact_time(caf::timestamp x);

/// Parses `90s`, `15m`, `12h`, `30d` or `2w`.
/// @param   option name of the option, for the message.
/// @errors  throws a usage failure.
[[nodiscard]] caf::timespan parse_duration(const std::string& option,
                                           const std::string& text);

/// Parses RFC 3339, or a local `2026-11-21`, `2026-11-21 19:04` or `2026-11-21
/// 19:04:21`, or a duration before now, as in `parse_duration`.
/// @errors  throws a usage failure.
[[nodiscard]] caf::timestamp parse_time(const std::string& option,
                                        const std::string& text);

} // namespace tertulia::tool
