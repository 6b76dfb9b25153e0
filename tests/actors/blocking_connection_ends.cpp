// SPDX-License-Identifier: BSD-3-Clause

// Ends of a connection for a client that blocks: an output, an error, a drop or
// a deadline.

#include <future>
#include <memory>

#include "support/blocking_connection.hpp"

using namespace std::literals;

namespace tertulia::test::blocking_connection_ends {

// -- the output ---------------------------------------------------------------

namespace {

/// Calls `check` with a connection for each window of some, whose input is
/// closed: it answers with the numbers from 0 up to, but excluding, `count`.
template <class Flow, class Fn>
void for_each_window(const Flow& counter, int count, Fn check) {
  for (const auto window : {0u, 1u, 2u, 3u, 64u}) {
    SCOPED_TRACE(window);
    auto talk = counter.stream_bidi(with_chunk_window(window));
    talk.send(count);
    talk.close();
    check(talk);
  }
}

} // namespace

TEST_F(blocking_connection, output_needs_no_reader) {
  for_each_window(define_counter(), 10'000, [](auto& talk) {
    EXPECT_EQ(talk.output(patience), 10'000);
    EXPECT_EQ(read_turn(talk), std::vector<int>{}) << "it was dropped";
  });
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(blocking_connection, output_after_an_unfinished_loop_does_not_hang) {
  for_each_window(define_counter(), 1'000, [](auto& talk) {
    for ([[maybe_unused]] auto chunk : talk.responses(patience))
      break;
    EXPECT_EQ(talk.output(patience), 1'000);
  });
}

TEST_F(blocking_connection, output_elsewhere_leaves_the_chunks_to_the_reader) {
  for_each_window(define_counter(), 5'000, [](auto& talk) {
    std::future<int> result;
    std::vector<int> seen;
    for (auto chunk : talk.responses(patience)) {
      if (seen.empty())
        result = std::async(std::launch::async,
                            [&] { return talk.output(patience); });
      seen.push_back(chunk);
    }
    EXPECT_EQ(seen, numbers(0, 5'000));
    EXPECT_EQ(result.get(), 5'000);
  });
}

TEST_F(blocking_connection, output_goes_on_when_the_reader_has_left) {
  for_each_window(define_counter(), 5'000, [](auto& talk) {
    std::future<int> result;
    for ([[maybe_unused]] auto chunk : talk.responses(patience)) {
      result
        = std::async(std::launch::async, [&] { return talk.output(patience); });
      break;
    }
    EXPECT_EQ(result.get(), 5'000);
  });
}

TEST_F(blocking_connection, a_wait_for_the_output_times_out_and_goes_on) {
  const auto open = std::make_shared<gate>();
  auto talk = define_gated_sum(open).stream_bidi();
  talk.send(5);
  talk.close();
  EXPECT_EQ(code_from([&] { talk.output(0s); }), errc::deadline_exceeded);
  EXPECT_EQ(code_from([&] { talk.output(1ms); }), errc::deadline_exceeded);
  open->open();
  EXPECT_EQ(talk.output(patience), 5);
  EXPECT_EQ(talk.output(0s), 5) << "again";
  EXPECT_TRUE(talk.wait_until_done(0s));
}

TEST_F(blocking_connection, everybody_hears_the_same_error_every_time) {
  auto talk = define_failing().stream_bidi();
  const auto check = [](const status_error& error) {
    EXPECT_EQ(error.code(), errc::out_of_range);
    EXPECT_EQ(error.message(), "too far");
    EXPECT_EQ(error.details(), R"({"by":3})");
  };
  for (int i = 0; i < 3; ++i) {
    check(error_of([&] { talk.output(patience); }));
    check(error_of([&] { read_turn(talk); }));
  }
  EXPECT_TRUE(talk.finished());
  check(error_of([&] { talk.send(1); }));
}

// -- the end ------------------------------------------------------------------

TEST_F(blocking_connection, dropping_a_closed_one_cancels_it_too) {
  auto flow = rt->define_bidi_flow(
    "endless", [](context ctx, input<int>, output<int>) -> task<int> {
      const witness here;
      co_await ctx.sleep(1h);
      co_return 0;
    });
  {
    auto talk = flow.stream_bidi();
    talk.close();
  }
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(blocking_connection, assigning_to_a_connection_drops_the_old_one) {
  auto flow = define_echo();
  auto talk = flow.stream_bidi();
  talk.send("old");
  EXPECT_TRUE(eventually([] { return witness::alive() == 1; }));
  auto other = flow.stream_bidi();
  other.send("new");
  talk = std::move(other);
  EXPECT_TRUE(eventually([] { return witness::alive() == 1; }));
  talk.close();
  EXPECT_EQ(read_turn(talk), std::vector{"echo: new"s});
  EXPECT_EQ(talk.output(patience), "processed 1 messages");
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(blocking_connection, a_deadline_in_time_changes_nothing) {
  auto flow = define_counter();
  for (const auto deadline : {caf::timespan{1h}, caf::timespan::max()}) {
    auto talk = flow.stream_bidi(with_deadline(deadline));
    for (int i = 0; i < 100; ++i) {
      talk.send(1);
      read_turn(talk);
    }
    talk.close();
    EXPECT_EQ(talk.output(patience), 100);
  }
}

} // namespace tertulia::test::blocking_connection_ends
