// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <iosfwd>
#include <vector>

#include "measure.hpp"
#include <nlohmann/json.hpp>

namespace tertulia::bench {

/// Writes a line per row: first rows with a target, then rows without one.
/// @param judge whether to report which targets are met.
void print_table(std::ostream& out, const std::vector<result>& results,
                 bool judge);

/// Returns the results as JSON: `machine`, `smoke`, `rows`, and `info` for
/// additional facts. A row without a promise has a null target.
nlohmann::ordered_json to_document(const std::vector<result>& results,
                                   nlohmann::ordered_json machine, bool judge);

} // namespace tertulia::bench
