// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "row.hpp"

namespace tertulia::bench {

/// Where the samples lie: half of them between `lower` and `upper`.
struct distribution {
  double median = 0;
  double lower = 0; // quartiles
  double upper = 0;
};

/// What the samples of one row say.
struct result {
  row of;
  int samples = 0;
  std::size_t operations = 0; // a sample
  distribution ours;
  distribution baseline;
  distribution ratio; // of each sample to the baseline taken next to it
  std::vector<fact> facts;
  std::string failure; // empty if it was measured

  /// Whether the row keeps its promise; empty if it has none or failed.
  std::optional<bool> holds() const;
};

/// Measures the rows one after the other.
/// @param smoke do as little as shows that they run.
std::vector<result> measure(const std::vector<row>& rows, bool smoke);

} // namespace tertulia::bench
