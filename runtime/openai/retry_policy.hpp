// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/openai_model.hpp>

#include <chrono>
#include <optional>
#include <string_view>

namespace tertulia::openai {

/// Whether an answer with such a status may be another one next time.
bool is_worth_a_retry(unsigned status) noexcept;

/// Reads the header field `Retry-After`: seconds, or a date.
/// @returns how long to wait; empty if it cannot be read.
std::optional<caf::timespan>
parse_retry_after(std::string_view text,
                  std::chrono::system_clock::time_point now);

/// Returns how long to wait before a retry.
/// @param retry    0 for the first one.
/// @param asked    what the server asks for.
/// @param fraction a random number in [0, 1).
/// @returns empty if there is to be none.
std::optional<caf::timespan>
pause_before(int retry, std::optional<caf::timespan> asked, double fraction,
             const ai::openai_options& options);

} // namespace tertulia::openai
