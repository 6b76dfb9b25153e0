// SPDX-License-Identifier: BSD-3-Clause

// Identity of traces and spans, and the header that carries it.

#include <tertulia/trace.hpp>

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

using namespace std::literals;

namespace tertulia::test::trace_ids_tests {

namespace {

constexpr auto vector_00
  = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"sv;

} // namespace

TEST(trace_ids, ids_are_distinct_within_and_across_threads) {
  constexpr std::size_t each = 5'000;
  std::vector<std::vector<trace_id>> drawn(4);
  std::vector<std::thread> threads;
  for (auto& ids : drawn)
    threads.emplace_back([&ids] {
      for (std::size_t i = 0; i < each; ++i)
        ids.push_back(trace_id::random());
    });
  for (auto& x : threads)
    x.join();
  std::set<std::array<std::uint8_t, 16>> distinct;
  for (const auto& ids : drawn)
    for (const auto& id : ids)
      distinct.insert(id.bytes());
  EXPECT_EQ(distinct.size(), 4 * each);
}

TEST(trace_ids, an_id_is_read_back_from_its_text) {
  const auto id = span_id::random();
  EXPECT_EQ(to_string(id).size(), 16u);
  EXPECT_EQ(span_id::parse(to_string(id)), id);
  EXPECT_EQ(to_string(*span_id::parse("00f067aa0ba902b7")), "00f067aa0ba902b7");
}

TEST(trace_ids, no_id_is_zero_too_short_or_upper_case) {
  EXPECT_FALSE(span_id::parse("0000000000000000"));
  EXPECT_FALSE(span_id::parse("00f067aa0ba902b"));
  EXPECT_FALSE(span_id::parse("00F067AA0BA902B7"));
  EXPECT_FALSE(span_id::parse(""));
}

TEST(trace_ids, a_traceparent_is_read_and_written_as_w3c_says) {
  const auto x = parse_traceparent(vector_00);
  ASSERT_TRUE(x);
  EXPECT_EQ(to_string(x->trace), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(to_string(x->span), "00f067aa0ba902b7");
  EXPECT_TRUE(x->sampled);
  EXPECT_EQ(x->to_traceparent(), vector_00);
}

TEST(trace_ids, only_the_sampled_flag_of_a_traceparent_survives) {
  const auto with_flags = [](std::string_view flags) {
    return std::string{vector_00.substr(0, 53)} + std::string{flags};
  };
  for (auto flags : {"00", "02", "fe"}) {
    const auto x = parse_traceparent(with_flags(flags));
    ASSERT_TRUE(x) << flags;
    EXPECT_FALSE(x->sampled) << flags;
    EXPECT_EQ(x->to_traceparent(), with_flags("00"));
  }
  for (auto flags : {"03", "ff"}) {
    const auto x = parse_traceparent(with_flags(flags));
    ASSERT_TRUE(x) << flags;
    EXPECT_EQ(x->to_traceparent(), vector_00);
  }
}

TEST(trace_ids, a_later_traceparent_version_is_read_by_its_prefix) {
  const auto rest = std::string{vector_00.substr(2)};
  EXPECT_EQ(parse_traceparent("01" + rest), parse_traceparent(vector_00));
  EXPECT_EQ(parse_traceparent("cc" + rest + "-what-the-future-brings"),
            parse_traceparent(vector_00));
  EXPECT_TRUE(parse_traceparent("cc" + rest + "-"));
  EXPECT_FALSE(parse_traceparent("cc" + rest + ".what-the-future-brings"));
  EXPECT_FALSE(parse_traceparent("cc" + rest + "0"));
}

TEST(trace_ids, a_tracestate_is_kept_if_others_can_read_it) {
  const auto state_of = [](const std::string& text) {
    return parse_traceparent(vector_00, text)->state;
  };
  EXPECT_EQ(state_of("rojo=00f067aa0ba902b7,congo=t61"),
            "rojo=00f067aa0ba902b7,congo=t61");
  const std::string longest(512, 'x');
  EXPECT_EQ(state_of(longest), longest);
  EXPECT_EQ(state_of(longest + 'x'), "");
  const std::string most(31, ',');
  EXPECT_EQ(state_of(most), most);
  EXPECT_EQ(state_of(most + ','), "");
  EXPECT_EQ(state_of("a=b\r\nc: d"), "");
  EXPECT_EQ(state_of("a=\xc3\xa9"), "");
}

TEST(trace_ids, a_malformed_traceparent_is_refused) {
  for (auto header : {
         "",
         "00",
         "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
         "0-4bf92f3577b34da6a3ce929d0e0e47360-00f067aa0ba902b7-01",
         ".0-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
         "0A-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
         "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
         "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
         "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
         "00-4bf92f3577b34da6a3ce929d0e0e4736-00F067AA0BA902B7-01",
         "00-.bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
         "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b.-01",
         "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0.",
         "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0A",
         "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
         "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
         "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
         "00-4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7-01",
         "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7_01",
         "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
         "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
         " 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
       })
    EXPECT_FALSE(parse_traceparent(header)) << header;
}

} // namespace tertulia::test::trace_ids_tests
