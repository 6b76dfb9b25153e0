// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/status.hpp>
#include <tertulia/timestamp.hpp>

#include <chrono>

#include "support/refusal.hpp"
#include <gtest/gtest.h>

using namespace std::literals;

namespace tertulia::test::timestamp_tests {

namespace {

caf::timestamp at(std::int64_t nanoseconds) {
  return caf::timestamp{std::chrono::nanoseconds{nanoseconds}};
}

constexpr std::int64_t second = 1'000'000'000;

} // namespace

TEST(timestamp, is_written_with_the_digits_that_it_needs) {
  EXPECT_EQ(to_rfc3339(at(0)), "1970-01-01T00:00:00Z");
  EXPECT_EQ(to_rfc3339(at(1)), "1970-01-01T00:00:00.000000001Z");
  EXPECT_EQ(to_rfc3339(at(second / 2)), "1970-01-01T00:00:00.5Z");
  EXPECT_EQ(to_rfc3339(at(951'782'400 * second)), "2000-02-29T00:00:00Z");
  EXPECT_EQ(to_rfc3339(at(-1)), "1969-12-31T23:59:59.999999999Z");
  EXPECT_EQ(to_rfc3339(at(-second)), "1969-12-31T23:59:59Z");
}

TEST(timestamp, is_read_with_any_offset_and_fraction) {
  for (const auto* text :
       {"2000-02-29T00:00:00Z", "2000-02-29t00:00:00z", "2000-02-29 00:00:00Z",
        "2000-02-29T01:30:00+01:30", "2000-02-28T16:00:00-08:00",
        "2000-02-29T00:00:00.000Z", "2000-02-28T23:59:60Z"})
    EXPECT_EQ(parse_rfc3339(text), at(951'782'400 * second)) << text;
  EXPECT_EQ(parse_rfc3339("1970-01-01T00:00:00.1234567899Z"), at(123'456'789))
    << "what is finer than a nanosecond is cut";
}

TEST(timestamp, is_the_same_when_it_is_read_again) {
  for (const auto x : {std::int64_t{0}, std::int64_t{-1},
                       std::int64_t{1'234'567'891}, -951'782'400 * second - 5,
                       9'000'000'000 * second, -9'000'000'000 * second + 1})
    EXPECT_EQ(parse_rfc3339(to_rfc3339(at(x))), at(x)) << x;
}

TEST(timestamp, that_is_none_is_refused) {
  for (const auto* text : {"",
                           "2000-02-29",
                           "2000-02-29T00:00Z",
                           "2000-02-29T00:00:00",
                           "2001-02-29T00:00:00Z",
                           "2000-13-01T00:00:00Z",
                           "2000-00-01T00:00:00Z",
                           "2000-01-32T00:00:00Z",
                           "2000-01-01T24:00:00Z",
                           "2000-01-01T00:60:00Z",
                           "2000-01-01T00:00:61Z",
                           "2000-01-01T00:00:00.Z",
                           "2000-01-01T00:00:00+24:00",
                           "2000-01-01T00:00:00+01:60",
                           "2000-01-01T00:00:00Z ",
                           " 2000-01-01T00:00:00Z",
                           "-200-01-01T00:00:00Z",
                           "2000-1-01T00:00:00Z",
                           "1677-12-31T00:00:00Z",
                           "2262-01-01T00:00:00Z",
                           "2000-01-01T-1:00:00Z"})
    EXPECT_EQ(code_from([&] { (void)parse_rfc3339(text); }),
              errc::invalid_argument)
      << text;
}

TEST(timestamp, is_a_string_in_json) {
  EXPECT_EQ(to_json_text(at(second)), R"("1970-01-01T00:00:01Z")");
  EXPECT_EQ(from_json<caf::timestamp>(json("1970-01-01T00:00:01Z")),
            at(second));
  EXPECT_EQ(code_from([] { (void)from_json<caf::timestamp>(json(1)); }),
            errc::invalid_argument);
}

} // namespace tertulia::test::timestamp_tests
