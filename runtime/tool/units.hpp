// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <caf/timespan.hpp>
#include <caf/timestamp.hpp>

#include <cstdint>
#include <string>

// Sizes and times as people write and read them.

namespace tertulia::tool {

/// Returns `812 B`, `3.4 KiB`, `12 MiB`.
[[nodiscard]] std::string human_size(std::uint64_t bytes);

/// Returns the time on the clock on the wall: `2026-11-21 19:04`.
[[nodiscard]] std::string local_time(caf::timestamp x);

/// The same with seconds and zone: `2026-11-21 19:04:21 +0100`.
[[nodiscard]] std::string exact_time(caf::timestamp x);

/// Reads `90s`, `15m`, `12h`, `30d` or `2w`.
/// @param   option which one it is from, for the message.
/// @errors  throws a failure of usage.
[[nodiscard]] caf::timespan parse_duration(const std::string& option,
                                           const std::string& text);

/// Reads RFC 3339, or a local `2026-11-21`, `2026-11-21 19:04` or
/// `2026-11-21 19:04:21`, or how long ago it is, as `parse_duration` does.
/// @errors  throws a failure of usage.
[[nodiscard]] caf::timestamp parse_time(const std::string& option,
                                        const std::string& text);

} // namespace tertulia::tool
