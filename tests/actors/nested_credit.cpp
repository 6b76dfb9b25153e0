// SPDX-License-Identifier: BSD-3-Clause

#include "support/effort.hpp"
#include "support/nested.hpp"

using namespace std::literals;

namespace tertulia::test::nested_credit_tests {

namespace {

struct nested_credit : nested {
  /// Repeats each input, and returns their sum.
  auto define_sum() {
    return define([](context, input<int> in, output<int> out) -> task<int> {
      int sum = 0;
      while (auto x = co_await in.next()) {
        sum += *x;
        co_await out.send(*x);
      }
      co_return sum;
    });
  }

  /// Returns what a talk with that flow sums up if a send that loses a race
  /// sends nothing.
  template <class Talk>
  static task<int> lose_a_race(Talk& talk) {
    co_await talk.send(1);
    const auto first = co_await when_any(talk.next(), talk.send(10));
    co_await talk.send(100);
    talk.close();
    co_return (first.index() == 0 ? 0 : -1'000) + co_await talk.output();
  }
};

} // namespace

// -- races --------------------------------------------------------------------

TEST_F(nested_credit, a_next_that_lost_a_race_has_taken_nothing) {
  const auto inner = define_counter();
  auto client = open_to([=](context ctx, input<int> in, output<int> out) //
                        -> task<> {
    auto talk = co_await inner.open(ctx, with_chunk_window(0));
    const auto first = co_await when_any(talk.next(), in.next());
    co_await out.send(static_cast<int>(first.index()));
    co_await talk.send(2);
    while (auto x = co_await talk.next())
      co_await out.send(*x);
  });
  client.send(0);
  EXPECT_EQ(client.received().chunks, (std::vector{1, 0, 1}));
  EXPECT_EQ(client.code(), errc::ok);
}

// One message brings a chunk and the credit for an input: both waits end.
TEST_F(nested_credit, a_send_that_lost_a_race_has_sent_nothing) {
  const auto inner = define_sum();
  auto client = open_to([=](context ctx, input<int>, output<int>) //
                        -> task<int> {
    auto talk = co_await inner.open(ctx);
    co_return co_await lose_a_race(talk);
  });
  ASSERT_EQ(client.received().ends, 1u);
  EXPECT_EQ(client.output(), 101);
}

TEST_F(nested_credit, a_send_that_lost_a_race_gives_its_credit_back) {
  const auto inner = define_sum();
  auto client = open_to([=](context ctx, input<int>, output<int>) //
                        -> task<int> {
    auto opener
      = co_await inner.open(ctx, with_keep(1min), with_input_window(1));
    const auto run = opener.detach();
    // Not the first reader of its run.
    auto talk = co_await inner.open(ctx, with_cursor(run));
    co_return co_await lose_a_race(talk);
  });
  ASSERT_EQ(client.received().ends, 1u);
  EXPECT_EQ(client.output(), 101);
}

TEST_F(nested_credit, two_parts_that_read_at_once_get_different_chunks) {
  const auto inner = define([](context, input<int> in, output<int> out) //
                            -> task<> {
    while (auto x = co_await in.next()) {
      co_await out.send(*x);
    }
  });
  auto client = open_to([=](context ctx, input<int>, output<int>) //
                        -> task<int> {
    auto talk = co_await inner.open(ctx);
    const auto feed = [](auto& talk) -> task<> {
      co_await talk.send(1);
      co_await talk.send(10);
    };
    const auto [x, y, _] = co_await when_all(
      as_expected(talk.next()), as_expected(talk.next()), feed(talk));
    // Either both get a chunk, or the second one is refused; neither gets an
    // empty result.
    if (x && y)
      co_return *x&&* y ? **x + **y : -1;
    co_return code_of(y.error()) == errc::failed_precondition ? 11 : -2;
  });
  ASSERT_EQ(client.received().ends, 1u);
  EXPECT_EQ(client.output(), 11);
}

// -- backpressure -------------------------------------------------------------

TEST_F(nested_credit, a_client_that_lags_holds_up_the_innermost_producer) {
  const auto inner = define_counter();
  const auto count = by_effort(100'000, 1'000'000, 1'000'000);
  auto client = open_to(
    [=](context ctx, input<int>, output<int> out) -> task<int> {
      auto talk = co_await inner.open(ctx, with_chunk_window(16));
      co_await talk.send(count);
      talk.close();
      while (auto x = co_await talk.next())
        co_await out.send(*x);
      co_return co_await talk.output();
    },
    with_chunk_window(4));
  EXPECT_EQ(client.received().chunks, numbers(4));
  // Chunks of the client, of the outer body, and of the inner window.
  EXPECT_LE(produced, 4 + 8 + 16);
  client.grant(100);
  EXPECT_EQ(client.received().chunks, numbers(104));
  EXPECT_LE(produced, 104 + 8 + 16);
  while (!client.received().end) {
    client.grant(max_window);
  }
  EXPECT_EQ(client.output(), count);
  EXPECT_EQ(client.received().chunks, numbers(count));
}

TEST_F(nested_credit, windows_of_zero_pass_one_thing_at_a_time) {
  const auto inner = define_counter();
  auto client = open_to(
    [=](context ctx, input<int> in, output<int> out) -> task<int> {
      auto talk
        = co_await inner.open(ctx, with_input_window(0), with_chunk_window(0));
      while (auto x = co_await in.next()) {
        co_await talk.send(*x);
        while (auto y = co_await talk.next())
          co_await out.send(*y);
        co_await out.end_turn();
      }
      talk.close();
      co_return co_await talk.output();
    },
    with_input_window(0), with_chunk_window(0));
  EXPECT_EQ(client.received().input_credit, 1u);
  client.send(5);
  EXPECT_EQ(produced, 1) << "one chunk is in the outer body's hands";
  for (int i = 1; i <= 5; ++i) {
    client.grant(1);
    EXPECT_EQ(client.received().chunks, numbers(i));
    EXPECT_EQ(produced, std::min(i + 1, 5));
  }
  client.grant(1);
  EXPECT_EQ(client.received().turns, 1u);
  client.close();
  EXPECT_EQ(client.output(), 5);
}

TEST_F(nested_credit, an_inner_body_that_lags_holds_up_the_sender) {
  const auto inner = define([this](context ctx, input<int> in, output<int>) //
                            -> task<> {
    co_await ctx.sleep(1s);
    while (co_await in.next())
      ++inputs_taken;
  });
  int sent = 0;
  auto client = open_to([&, inner](context ctx, input<int>, output<int>) //
                        -> task<> {
    auto talk = co_await inner.open(ctx, with_input_window(3));
    for (; sent < 100; ++sent)
      co_await talk.send(sent);
    talk.close();
    co_await talk.output();
  });
  EXPECT_EQ(sent, 3);
  advance(1s);
  EXPECT_EQ(sent, 100);
  EXPECT_EQ(inputs_taken, 100);
  EXPECT_EQ(client.code(), errc::ok);
}

} // namespace tertulia::test::nested_credit_tests
