// SPDX-License-Identifier: BSD-3-Clause

#include <caf/all.hpp>

#include <cstdint>

#include "support/threaded.hpp"

namespace tertulia::test::unread_inputs_tests {

namespace {

struct unread_inputs : threaded {
  /// Reads inputs up to the first zero, and says how many they were.
  auto define_reader() {
    return rt->define_bidi_flow(
      "reader", [](context, input<int> in, output<int>) -> task<std::uint64_t> {
        const witness here;
        std::uint64_t count = 0;
        while (const auto x = co_await in.next()) {
          ++count;
          if (*x == 0)
            break;
        }
        co_return count;
      });
  }
};

} // namespace

TEST_F(unread_inputs, are_none_if_all_were_read) {
  const auto reader = define_reader();
  auto talk = reader.stream_bidi();
  talk.send(1);
  talk.send(0);
  EXPECT_EQ(talk.output(patience), 2u);
  EXPECT_EQ(talk.unread_inputs(), 0u);
}

TEST_F(unread_inputs, are_counted_however_late_they_come) {
  const auto reader = define_reader();
  std::uint64_t late = 0;
  for (int i = 0; i < 300; ++i) {
    auto talk = reader.stream_bidi();
    std::uint64_t sent = 0;
    auto code = errc::ok;
    // The body ends at the third one while we go on until we are refused.
    while (code == errc::ok) {
      code = code_from([&] { talk.send_within(patience, sent == 2 ? 0 : 1); });
      if (code == errc::ok)
        ++sent;
    }
    ASSERT_EQ(code, errc::failed_precondition);
    ASSERT_EQ(talk.output(patience), 3u);
    ASSERT_EQ(talk.unread_inputs(), sent - 3);
    late += sent - 3;
  }
  EXPECT_GT(late, 0u);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(unread_inputs, of_another_flow_are_counted_by_its_client) {
  const auto reader = define_reader();
  const auto outer = rt->define_bidi_flow(
    "outer", [&](context ctx, input<int>, output<int>) -> task<std::uint64_t> {
      auto talk = co_await reader.open(ctx);
      std::uint64_t sent = 0;
      try {
        for (; sent < 10; ++sent)
          co_await talk.send(0);
      } catch (const status_error&) {
        // it has finished
      }
      const auto read = co_await talk.output();
      co_return sent - read - talk.unread_inputs();
    });
  auto talk = outer.stream_bidi();
  EXPECT_EQ(talk.output(patience), 0u);
}

} // namespace tertulia::test::unread_inputs_tests
