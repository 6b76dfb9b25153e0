// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/http_options.hpp>

#include <optional>

namespace tertulia::http {

/// Returns whether a request that got this status may succeed on a retry.
bool is_worth_a_retry(unsigned status) noexcept;

/// Returns the time to wait before a retry.
/// @param retry    0 for the first one.
/// @param asked    time that the server asks for.
/// @param fraction a random number in [0, 1).
/// @returns empty if there must not be a retry.
std::optional<caf::timespan> pause_before(int retry, caf::timespan asked,
                                          double fraction,
                                          const http_options& options);

} // namespace tertulia::http
