// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <iosfwd>
#include <vector>

#include "measure.hpp"
#include <nlohmann/json.hpp>

namespace tertulia::bench {

/// Writes a line per row, then those without a promise.
/// @param judge whether to say which promises hold.
void print_table(std::ostream& out, const std::vector<result>& results,
                 bool judge);

/// The same as JSON: `machine`, `smoke`, `rows`, and as `info` what else was
/// found with them. A row without a promise has no target.
nlohmann::ordered_json to_document(const std::vector<result>& results,
                                   nlohmann::ordered_json machine, bool judge);

} // namespace tertulia::bench
