// SPDX-License-Identifier: BSD-3-Clause

#include "row.hpp"

#include <algorithm>
#include <utility>

namespace tertulia::bench {

namespace {

std::vector<row>& all() {
  static std::vector<row> rows;
  return rows;
}

} // namespace

std::vector<row> enrolled_rows() {
  auto result = all();
  std::sort(result.begin(), result.end(),
            [](const row& x, const row& y) { return x.name < y.name; });
  return result;
}

enrol::enrol(row x) {
  all().push_back(std::move(x));
}

} // namespace tertulia::bench
