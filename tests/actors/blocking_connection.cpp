// SPDX-License-Identifier: BSD-3-Clause

// Turns, inputs and options of a client that blocks.

#include "support/blocking_connection.hpp"

#include <memory>
#include <ranges>

using namespace std::literals;

namespace tertulia::test::blocking_connection_tests {

namespace {

struct question {
  std::string text;
  int weight = 0;

  friend bool operator==(const question&, const question&) = default;
};
BOOST_DESCRIBE_STRUCT(question, (), (text, weight))

struct manner {
  std::string prompt = "default";
  double temperature = 0.5;
};
BOOST_DESCRIBE_STRUCT(manner, (), (prompt, temperature))

using int_connection = connection<int, int, int>;
static_assert(std::is_nothrow_move_constructible_v<int_connection>);
static_assert(std::is_nothrow_move_assignable_v<int_connection>);
static_assert(!std::is_copy_constructible_v<int_connection>);
static_assert(!std::is_copy_assignable_v<int_connection>);
static_assert(std::ranges::input_range<response_range<int>>);

} // namespace

// -- turns --------------------------------------------------------------------

TEST_F(blocking_connection, an_echo_answers_each_input_and_counts_them) {
  auto talk = define_echo().stream_bidi();
  talk.send("hello");
  talk.send("world");
  talk.close();
  EXPECT_EQ(read_turn(talk),
            (std::vector<std::string>{"echo: hello", "echo: world"}));
  EXPECT_EQ(talk.output(patience), "processed 2 messages");
  EXPECT_TRUE(talk.finished());
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(blocking_connection, responses_end_with_the_turn_and_begin_again) {
  auto talk = define_counter().stream_bidi();
  for (int turn = 0; turn < 200; ++turn) {
    talk.send(7);
    ASSERT_EQ(read_turn(talk), numbers(7 * turn, 7 * turn + 7));
    ASSERT_FALSE(talk.finished());
  }
  talk.close();
  EXPECT_EQ(read_turn(talk), std::vector<int>{});
  EXPECT_TRUE(talk.finished());
  EXPECT_EQ(read_turn(talk), std::vector<int>{}) << "it has ended for good";
  EXPECT_EQ(talk.output(patience), 1'400);
}

TEST_F(blocking_connection, a_turn_without_chunks_is_a_turn) {
  auto talk = define_counter().stream_bidi();
  talk.send(0);
  EXPECT_EQ(read_turn(talk), std::vector<int>{});
  EXPECT_FALSE(talk.finished());
  talk.send(1);
  EXPECT_EQ(read_turn(talk), std::vector{0});
}

TEST_F(blocking_connection, leaving_the_loop_loses_and_cancels_nothing) {
  for (const auto window : {0u, 1u, 2u, 3u, 64u}) {
    auto flow = rt->new_bidi_action("counter", count_on);
    auto talk = flow.stream_bidi(with_chunk_window(window));
    talk.send(200);
    std::vector<int> seen;
    for (int leave_after : {1, 2, 30, 40})
      for (auto chunk : talk.responses(patience)) {
        seen.push_back(chunk);
        if (--leave_after == 0)
          break;
      }
    EXPECT_EQ(seen, numbers(0, 73));
    EXPECT_EQ(read_turn(talk), numbers(73, 200));
    talk.send(2);
    EXPECT_EQ(read_turn(talk), numbers(200, 202));
    talk.close();
    EXPECT_EQ(talk.output(patience), 202);
  }
}

TEST_F(blocking_connection, a_moved_connection_goes_on_where_it_was) {
  auto first = define_counter().stream_bidi();
  first.send(10);
  for (auto chunk : first.responses(patience))
    if (chunk == 3)
      break;
  auto second = std::move(first);
  EXPECT_EQ(read_turn(second), numbers(4, 10));
}

TEST_F(blocking_connection, a_slow_reader_times_out_and_goes_on) {
  const auto open = std::make_shared<gate>();
  auto flow = rt->define_bidi_flow(
    "late", [open](context ctx, input<int>, output<int> out) -> task<int> {
      co_await out.send(1);
      co_await ctx.run_blocking([&open] { open->wait(); });
      co_await out.send(2);
      co_return 3;
    });
  auto talk = flow.stream_bidi();
  std::vector<int> seen;
  for (auto chunk : talk.responses(patience)) {
    seen.push_back(chunk);
    break;
  }
  for (const auto within : {caf::timespan{1ms}, caf::timespan{0s}})
    EXPECT_EQ(code_from([&] {
                for (auto chunk : talk.responses(within))
                  seen.push_back(chunk);
              }),
              errc::deadline_exceeded);
  EXPECT_FALSE(talk.wait_until_done(0s));
  open->open();
  for (auto chunk : talk.responses(patience))
    seen.push_back(chunk);
  EXPECT_EQ(seen, (std::vector{1, 2}));
  EXPECT_EQ(talk.output(patience), 3);
}

TEST_F(blocking_connection, the_longest_wait_does_not_end_at_once) {
  auto talk = define_counter().stream_bidi();
  talk.send_within(caf::timespan::max(), 3);
  std::vector<int> seen;
  for (auto chunk : talk.responses(caf::timespan::max()))
    seen.push_back(chunk);
  EXPECT_EQ(seen, numbers(0, 3));
  talk.close();
  EXPECT_EQ(talk.output(caf::timespan::max()), 3);
}

// -- sending ------------------------------------------------------------------

TEST_F(blocking_connection, send_waits_for_credit) {
  const auto open = std::make_shared<gate>();
  auto talk = define_gated_sum(open).stream_bidi(with_input_window(2));
  talk.send(1);
  talk.send(2);
  EXPECT_EQ(code_from([&] { talk.send_within(0s, 4); }),
            errc::deadline_exceeded);
  EXPECT_EQ(code_from([&] { talk.send_within(1ms, 8); }),
            errc::deadline_exceeded);
  auto sender = std::async(std::launch::async, [&] { talk.send(16); });
  open->open();
  sender.get();
  talk.send_within(patience, 32);
  talk.close();
  EXPECT_EQ(talk.output(patience), 1 + 2 + 16 + 32)
    << "what timed out was not sent";
}

TEST_F(blocking_connection, inputs_before_a_close_are_delivered) {
  const auto open = std::make_shared<gate>();
  auto talk = define_gated_sum(open).stream_bidi(with_input_window(3));
  talk.send(1);
  talk.send(2);
  talk.send(4);
  talk.close();
  talk.close();
  open->open();
  EXPECT_EQ(talk.output(patience), 7);
}

TEST_F(blocking_connection, a_close_frees_those_who_wait_to_send) {
  const auto open = std::make_shared<gate>();
  auto talk = define_gated_sum(open).stream_bidi();
  talk.send(1);
  auto sender = std::async(std::launch::async, [&] {
    return code_from([&] { talk.send_within(patience, 2); });
  });
  talk.close();
  EXPECT_EQ(sender.get(), errc::failed_precondition);
  open->open();
  EXPECT_EQ(talk.output(patience), 1);
}

TEST_F(blocking_connection, aggregates_are_built_where_they_are_sent) {
  auto flow = rt->define_bidi_flow(
    "heavy",
    [](context, manner how, input<question> in,
       output<question> out) -> task<question> {
      question sum{how.prompt, static_cast<int>(how.temperature * 10)};
      while (auto x = co_await in.next()) {
        sum.weight += x->weight;
        co_await out.send(x->text + "!", x->weight + 1);
      }
      co_return sum;
    });
  auto talk = flow.stream_bidi(with_init(manner{"briefly", 0.7}));
  talk.send("x", 1);
  talk.send(question{"y", 2});
  talk.send_within(patience, "z", 4);
  talk.close();
  EXPECT_EQ(read_turn(talk),
            (std::vector<question>{{"x!", 2}, {"y!", 3}, {"z!", 5}}));
  EXPECT_EQ(talk.output(patience), (question{"briefly", 14}));
  auto without = flow.stream_bidi();
  without.close();
  EXPECT_EQ(without.output(patience), (question{"default", 5}));
}

// -- options ------------------------------------------------------------------

TEST_F(blocking_connection, options_that_make_no_sense_are_refused) {
  auto flow = define_echo();
  const auto refused = [&](auto... options) {
    return code_from([&] { static_cast<void>(flow.stream_bidi(options...)); });
  };
  EXPECT_EQ(refused(with_input_window(max_window + 1)), errc::invalid_argument);
  EXPECT_EQ(refused(with_chunk_window(max_window + 1)), errc::invalid_argument);
  EXPECT_EQ(refused(with_deadline(0s)), errc::invalid_argument);
  EXPECT_EQ(refused(with_deadline(-1s)), errc::invalid_argument);
  EXPECT_EQ(refused(with_init(nothing{}), with_init(nothing{})),
            errc::invalid_argument);
  EXPECT_EQ(refused(with_open_timeout(-1s)), errc::invalid_argument);
  EXPECT_EQ(refused(with_input_window(max_window),
                    with_chunk_window(max_window)),
            errc::ok);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(blocking_connection, a_time_to_wait_may_be_as_long_as_there_is) {
  constexpr auto for_ever = caf::timespan::max();
  auto talk = define_echo().stream_bidi(with_open_timeout(for_ever),
                                        with_deadline(for_ever));
  talk.send_within(for_ever, "hello");
  for (const auto& x : talk.responses(for_ever)) {
    EXPECT_EQ(x, "echo: hello");
    talk.close();
  }
  EXPECT_EQ(talk.output(for_ever), "processed 1 messages");
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(blocking_connection, a_refusal_names_what_was_wrong) {
  auto flow = define_echo();
  const auto error = error_of([&] {
    static_cast<void>(flow.stream_bidi(with_chunk_window(max_window + 1)));
  });
  EXPECT_EQ(error.message(), "$.options.chunkWindow: at most 65536");
}

} // namespace tertulia::test::blocking_connection_tests
