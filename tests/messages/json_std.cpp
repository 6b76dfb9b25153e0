// SPDX-License-Identifier: BSD-3-Clause

// Durations and paths: strings in JSON.

#include <tertulia/describe.hpp>
#include <tertulia/schema.hpp>
#include <tertulia/schema_check.hpp>

#include <caf/timespan.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "support/refusal.hpp"
#include <gtest/gtest.h>

using namespace std::literals;

namespace tertulia::test::json_std_tests {

namespace {

using days = std::chrono::duration<int, std::ratio<86'400>>;
using ticks = std::chrono::duration<std::int64_t, std::ratio<3, 250>>;

struct job {
  std::chrono::seconds every{0};
  std::optional<std::chrono::milliseconds> within;
  std::vector<std::filesystem::path> files;
};

BOOST_DESCRIBE_STRUCT(job, (), (every, within, files))

template <class T>
std::string round_trip(const T& x) {
  const auto text = to_json_text(x);
  EXPECT_EQ(parse_json<T>(text), x) << text;
  EXPECT_EQ(to_json_text(parse_json<T>(text)), text);
  check_schema(to_json(x), schema_of<T>());
  return text;
}

// Durations that would be ambiguous as numbers have no JSON.
static_assert(!json_value<std::chrono::duration<double>>);
static_assert(
  !json_value<std::chrono::duration<std::int64_t, std::ratio<1, 60>>>);

} // namespace

TEST(json_std, a_duration_is_a_string_with_its_unit) {
  EXPECT_EQ(round_trip(0s), R"("PT0S")");
  EXPECT_EQ(round_trip(90s), R"("PT1M30S")");
  EXPECT_EQ(round_trip(1h), R"("PT1H")");
  EXPECT_EQ(round_trip(-2s), R"("-PT2S")");
  EXPECT_EQ(round_trip(250ms), R"("PT0.25S")");
  EXPECT_EQ(round_trip(-1ns), R"("-PT0.000000001S")");
  EXPECT_EQ(round_trip(3'600'001ms), R"("PT1H0.001S")");
  EXPECT_EQ(round_trip(std::chrono::minutes{61}), R"("PT1H1M")");
  EXPECT_EQ(round_trip(days{2}), R"("PT48H")");
  EXPECT_EQ(round_trip(ticks{1}), R"("PT0.012S")");
  EXPECT_EQ(round_trip(caf::timespan{1'500'000'000}), R"("PT1.5S")");
}

TEST(json_std, durations_reach_to_the_limits_of_their_types) {
  using std::chrono::nanoseconds;
  EXPECT_EQ(round_trip(nanoseconds::max()), R"("PT2562047H47M16.854775807S")");
  EXPECT_EQ(round_trip(nanoseconds::min()), R"("-PT2562047H47M16.854775808S")");
  EXPECT_EQ(round_trip(std::chrono::seconds::min()),
            R"("-PT2562047788015215H30M8S")");
  round_trip(days::max());
  round_trip(days::min());
  EXPECT_EQ(refusal_to_write(std::chrono::hours{INT64_MAX}),
            "$: expected a duration of at most 2^64 seconds, found a longer "
            "one");
}

TEST(json_std, a_duration_is_read_however_iso_8601_writes_it) {
  using std::chrono::seconds;
  EXPECT_EQ(parse_json<seconds>(R"("PT90S")"), 90s);
  EXPECT_EQ(parse_json<seconds>(R"("P1D")"), 24h);
  EXPECT_EQ(parse_json<seconds>(R"("P1W")"), 168h);
  EXPECT_EQ(parse_json<seconds>(R"("P1DT1M")"), 24h + 1min);
  EXPECT_EQ(parse_json<seconds>(R"("PT2.000S")"), 2s);
  EXPECT_EQ(parse_json<std::chrono::milliseconds>(R"("PT0.0010000000000S")"),
            1ms);
  for (const auto* text : {"",
                           "P",
                           "PT",
                           "P1",
                           "PT1",
                           "1H",
                           "PTS",
                           "PT1S1M",
                           "P1Y",
                           "P1M",
                           "PT1D",
                           "P1DT",
                           "PT+1S",
                           "PT1.S",
                           "PT.5S",
                           "PT1.5M",
                           "PT1S ",
                           " PT1S",
                           "pt1s",
                           "PT1,5S",
                           "--PT1S",
                           "90",
                           "PT99999999999999999999S",
                           "PT0.0000000001S"}) {
    const auto told = refusal_to_read<seconds>('"' + std::string{text} + '"');
    EXPECT_EQ(told.find("$: expected a duration as PT1H30M or PT0.25S"), 0u)
      << told;
  }
}

TEST(json_std, a_duration_that_the_type_cannot_hold_is_refused) {
  EXPECT_EQ(refusal_to_read<std::chrono::seconds>(R"("PT1.5S")"),
            "$: expected a multiple of PT1S that the type has room for, found "
            R"("PT1.5S")");
  using small = std::chrono::duration<std::int8_t>;
  EXPECT_EQ(parse_json<small>(R"("-PT128S")"), small{-128});
  EXPECT_EQ(parse_json<small>(R"("PT127S")"), small{127});
  EXPECT_NE(refusal_to_read<small>(R"("PT128S")"), "nothing was refused");
  EXPECT_NE(refusal_to_read<small>(R"("-PT129S")"), "nothing was refused");
  EXPECT_EQ(refusal_to_read<std::chrono::seconds>("90"),
            "$: expected a string, found 90");
}

TEST(json_std, a_duration_keeps_its_meaning_when_its_unit_changes) {
  const auto stored = to_json_text(1000s);
  EXPECT_EQ(parse_json<std::chrono::milliseconds>(stored), 1'000'000ms);
}

TEST(json_std, a_path_is_a_string) {
  using std::filesystem::path;
  EXPECT_EQ(round_trip(path{"/tmp/a b/\u00fc"}), "\"/tmp/a b/\u00fc\"");
  EXPECT_EQ(round_trip(path{}), R"("")");
  EXPECT_EQ(refusal_to_read<path>(R"("a\u0000b")"),
            R"($: expected a path without NUL, found "a\u0000b")");
  EXPECT_NE(refusal_to_write(path{"\xff"}), "nothing was refused");
}

TEST(json_std, members_have_them_and_a_schema) {
  job x;
  x.every = 1h;
  x.within = 1500ms;
  x.files = {"a", "/b"};
  EXPECT_EQ(to_json_text(x),
            R"({"every":"PT1H","within":"PT1.5S","files":["a","/b"]})");
  const auto back = from_json<job>(to_json(x));
  EXPECT_EQ(back.every, x.every);
  EXPECT_EQ(back.within, x.within);
  EXPECT_EQ(back.files, x.files);
  const auto properties = schema_of<job>().at("properties");
  EXPECT_EQ(properties.at("every"),
            (json{{"type", "string"},
                  {"description", "ISO 8601 duration, such as PT90S"}}));
  EXPECT_EQ(properties.at("within"),
            (json{{"type", "string"},
                  {"description", "ISO 8601 duration, such as PT1.5S"}}));
  EXPECT_EQ(refusal_to_read<job>(R"({"every":"soon"})").find("$.every: "), 0u);
}

} // namespace tertulia::test::json_std_tests
