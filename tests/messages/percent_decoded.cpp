// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/text.hpp>

#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tertulia::test::percent_decoded_tests {

using detail::percent_decoded;

TEST(percent_decoded, escapes_become_the_bytes_that_they_stand_for) {
  EXPECT_EQ(percent_decoded(""), "");
  EXPECT_EQ(percent_decoded("a+b c"), "a+b c");
  EXPECT_EQ(percent_decoded("%41%2f%2F%25"), "A//%");
  EXPECT_EQ(percent_decoded("x%00y"), (std::string{"x\0y", 3}));
  EXPECT_EQ(percent_decoded("%2541"), "%41") << "each byte is decoded once";
  EXPECT_EQ(percent_decoded("%ff"), "\xff") << "not only UTF-8";
}

TEST(percent_decoded, an_escape_needs_two_hexadecimal_digits) {
  for (const auto* x : {"%", "a%", "%4", "a%4", "%4g", "%g4", "%-1", "%+1",
                        "% 1", "%1 ", "%0x", "%%41", "%41%"})
    EXPECT_EQ(percent_decoded(x), std::nullopt) << x;
}

RC_GTEST_PROP(percent_decoded, any_bytes_survive_if_all_are_escaped,
              (const std::string& bytes)) {
  constexpr auto digits = "0123456789ABCDEF";
  std::string encoded;
  for (const unsigned char x : bytes)
    encoded.append({'%', digits[x >> 4U], digits[x & 15U]});
  RC_ASSERT(percent_decoded(encoded) == bytes);
}

} // namespace tertulia::test::percent_decoded_tests
