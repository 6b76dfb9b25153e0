// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "row.hpp"

namespace tertulia::bench {

/// Distribution of the samples: half of them are between `lower` and `upper`.
struct distribution {
  double median = 0;
  double lower = 0; // quartiles
  double upper = 0;
};

/// Result of the samples of one row.
struct result {
  row of;
  int samples = 0;
  std::size_t operations = 0; // per sample
  distribution ours;
  distribution baseline;
  distribution ratio; // of each sample to its own baseline
  std::vector<fact> facts;
  std::string failure; // empty on success

  /// Returns whether the row meets its target; empty if it has none or failed.
  std::optional<bool> holds() const;
};

/// Measures the rows one after the other.
/// @param smoke only run a minimum, to show that everything works.
std::vector<result> measure(const std::vector<row>& rows, bool smoke);

} // namespace tertulia::bench
