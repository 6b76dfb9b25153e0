// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/openai_model.hpp>

#include <chrono>
#include <optional>
#include <string_view>

namespace tertulia::openai {

/// Returns whether a request that got this status may succeed on a retry.
bool is_worth_a_retry(unsigned status) noexcept;

/// Parses the header field `Retry-After`: seconds, or a date.
/// @returns the time to wait; empty if the text is invalid.
std::optional<caf::timespan>
parse_retry_after(std::string_view text,
                  std::chrono::system_clock::time_point now);

/// Returns the time to wait before a retry.
/// @param retry    0 for the first one.
/// @param asked    time that the server asks for.
/// @param fraction a random number in [0, 1).
/// @returns empty if there must not be a retry.
std::optional<caf::timespan>
pause_before(int retry, std::optional<caf::timespan> asked, double fraction,
             const ai::openai_options& options);

} // namespace tertulia::openai
