// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/store.hpp>

#include <string>

namespace tertulia::tool {

/// Returns a position in a list of sessions as one word without quotes.
[[nodiscard]] std::string cursor_of(const session_ref& x);

/// Parses a result of `cursor_of`.
/// @errors throws a usage failure.
[[nodiscard]] session_ref session_of_cursor(const std::string& text);

} // namespace tertulia::tool
