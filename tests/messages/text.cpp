// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/text.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tertulia::test::text_tests {

TEST(text, it_is_cut_before_the_character_that_does_not_fit) {
  // 1, 2, 3 and 4 bytes
  const std::string all = "a\u00e9\u20ac\U0001f600";
  ASSERT_EQ(all.size(), 10u);
  const std::vector<std::size_t> ends{0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
  for (std::size_t limit = 0; limit < ends.size(); ++limit) {
    const auto found = detail::first_bytes(all, limit);
    EXPECT_EQ(found, all.substr(0, ends[limit])) << limit;
    EXPECT_TRUE(detail::is_utf8(found)) << limit;
  }
  EXPECT_EQ(detail::first_bytes("", 0), "");
  EXPECT_EQ(detail::first_bytes("", 5), "");
}

} // namespace tertulia::test::text_tests
