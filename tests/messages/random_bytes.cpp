// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/random_bytes.hpp>

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace tertulia::test::random_bytes_tests {

TEST(random_bytes, a_fraction_is_less_than_one) {
  std::vector<double> all(1'000);
  std::generate(all.begin(), all.end(), detail::random_fraction);
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  EXPECT_GE(*least, 0.0);
  EXPECT_LT(*least, 0.1);
  EXPECT_GT(*most, 0.9);
  EXPECT_LT(*most, 1.0);
}

} // namespace tertulia::test::random_bytes_tests
