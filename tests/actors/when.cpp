// SPDX-License-Identifier: BSD-3-Clause

#include "support/flows.hpp"

using namespace std::literals;

namespace tertulia::test::when_tests {

namespace {

struct when : flows {
  int left = 0; ///< parts that have ended
  int left_before = 0;
};

task<int> later(context ctx, caf::timespan delay, int value,
                int* left = nullptr) {
  int unused = 0;
  const departure here{left != nullptr ? *left : unused};
  co_await ctx.sleep(delay);
  co_return value;
}

task<int> fail_later(context ctx, caf::timespan delay, errc code) {
  co_await ctx.sleep(delay);
  throw status_error{code, "failed later"};
}

task<int> fail_now(errc code) {
  throw status_error{code, "failed now"};
  co_return 0;
}

task<int> now(int value) {
  co_return value;
}

/// Sleeps for an hour, and sets `received` if it is cancelled.
task<int> last_wish(context ctx, bool& received) {
  const auto slept = co_await as_expected(ctx.sleep(1h));
  received = !slept && code_of(slept.error()) == errc::cancelled;
  raise(slept.error());
}

} // namespace

// -- when_all -----------------------------------------------------------------

TEST_F(when, when_all_yields_every_value_and_nothing_for_none) {
  auto client = open_to([](context ctx, input<int> in, output<int> out) //
                        -> task<std::string> {
    auto [slept, number, sent, input] = co_await when_all(
      ctx.sleep(1s), later(ctx, 2s, 3), out.send(1), in.next());
    static_assert(std::is_same_v<decltype(slept), nothing>);
    static_assert(std::is_same_v<decltype(sent), nothing>);
    co_return std::to_string(number) + std::to_string(*input);
  });
  EXPECT_EQ(client.received().chunks, std::vector{1});
  client.send(4);
  advance(1s);
  EXPECT_EQ(client.received().ends, 0u);
  advance(1s);
  EXPECT_EQ(client.output(), "34");
}

TEST_F(when, when_all_of_nothing_is_over_at_once) {
  auto client = open_to([](context, input<int>, output<int>) -> task<bool> {
    const auto none = co_await when_all();
    static_assert(std::is_same_v<decltype(none), const std::tuple<>>);
    const auto empty = co_await when_all(std::vector<task<int>>{});
    co_await when_all(std::vector<task<>>{});
    co_return empty.empty();
  });
  EXPECT_TRUE(client.output());
}

TEST_F(when, when_all_of_a_vector_keeps_the_order) {
  auto client = open_to([](context ctx, input<int>, output<int>) //
                        -> task<std::vector<int>> {
    std::vector<task<int>> parts;
    for (int i = 0; i < 5; ++i)
      parts.push_back(later(ctx, (5 - i) * 1s, i));
    co_return co_await when_all(std::move(parts));
  });
  advance(4s);
  EXPECT_EQ(client.received().ends, 0u);
  advance(1s);
  EXPECT_EQ(client.output(), (std::vector{0, 1, 2, 3, 4}));
}

TEST_F(when, when_all_of_a_vector_cancels_the_others_when_one_fails) {
  auto client = open_to([&](context ctx, input<int>, output<int>) -> task<> {
    std::vector<task<int>> parts;
    for (int i = 0; i < 3; ++i)
      parts.push_back(later(ctx, 1h, i, &left));
    parts.push_back(fail_later(ctx, 1s, errc::data_loss));
    const auto all = co_await as_expected(when_all(std::move(parts)));
    left_before = left;
    raise(all.error());
  });
  EXPECT_EQ(left, 0);
  advance(1s);
  EXPECT_EQ(client.code(), errc::data_loss);
  EXPECT_EQ(left_before, 3);
}

TEST_F(when, a_part_that_fails_cancels_the_others_and_they_unwind_first) {
  bool received = false;
  auto client = open_to([&](context ctx, input<int> in, output<int>) -> task<> {
    const auto all = co_await as_expected(
      when_all(later(ctx, 1h, 1, &left), last_wish(ctx, received),
               fail_later(ctx, 1s, errc::data_loss), in.next()));
    left_before = left;
    raise(all.error());
  });
  advance(1s);
  EXPECT_EQ(client.code(), errc::data_loss);
  EXPECT_EQ(to_status(client.received().end->reason).message(), "failed later");
  EXPECT_EQ(left_before, 1);
  EXPECT_TRUE(received);
}

TEST_F(when, the_failure_that_comes_first_is_the_one_that_is_thrown) {
  auto client = open_to([](context ctx, input<int>, output<int>) -> task<> {
    co_await when_all(fail_later(ctx, 2s, errc::data_loss),
                      fail_later(ctx, 1s, errc::not_found),
                      fail_later(ctx, 1s, errc::internal));
  });
  advance(2s);
  EXPECT_EQ(client.code(), errc::not_found);
}

TEST_F(when,
       a_part_that_fails_before_the_others_begin_keeps_them_from_waiting) {
  auto client = open_to([&](context ctx, input<int>, output<int>) -> task<int> {
    const auto result = co_await as_expected(
      when_all(fail_now(errc::data_loss), later(ctx, 1h, 1, &left)));
    co_return result ? -1 : left;
  });
  EXPECT_EQ(client.output(), 1);
}

// -- when_any -----------------------------------------------------------------

TEST_F(when, when_any_says_who_was_first) {
  auto client = open_to([](context ctx, input<int> in, output<int>) //
                        -> task<std::string> {
    std::string seen;
    for (int i = 0; i < 2; ++i) {
      auto first = co_await when_any(in.next(), ctx.sleep(30s));
      seen += std::to_string(first.index());
      if (first.index() == 0)
        seen += 'x' + std::to_string(*std::get<0>(first));
    }
    co_return seen;
  });
  advance(30s);
  EXPECT_EQ(client.received().ends, 0u);
  client.send(7);
  EXPECT_EQ(client.output(), "10x7");
}

TEST_F(when, the_loser_has_unwound_when_when_any_returns) {
  auto client = open_to([&](context ctx, input<int>, output<int>) -> task<int> {
    const auto first = co_await when_any(
      later(ctx, 1h, 1, &left), later(ctx, 1s, 2), later(ctx, 1h, 3, &left));
    co_return first.index() == 1 ? left : -1;
  });
  advance(1s);
  EXPECT_EQ(client.output(), 2);
}

TEST_F(when, a_loser_that_goes_on_without_waiting_ends_first) {
  std::vector<int> order;
  const auto stubborn = [](context ctx, std::vector<int>& order) -> task<int> {
    for (int i = 0; i < 3; ++i) {
      const auto slept = co_await as_expected(ctx.sleep(1h));
      order.push_back(slept ? -1 : i);
    }
    co_return 0;
  };
  auto client = open_to([&](context ctx, input<int>, output<int>) -> task<> {
    co_await when_any(stubborn(ctx, order), ctx.sleep(1s));
    order.push_back(9);
  });
  advance(1s);
  EXPECT_EQ(client.code(), errc::ok);
  EXPECT_EQ(order, (std::vector{0, 1, 2, 9}));
}

TEST_F(when, an_input_wait_that_lost_has_taken_nothing) {
  auto client = open_to([](context ctx, input<int> in, output<int>) //
                        -> task<int> {
    const auto first = co_await when_any(ctx.sleep(1s), in.next());
    const auto next = co_await in.next();
    co_return first.index() == 0 ? *next : -1;
  });
  advance(1s);
  client.send(5);
  EXPECT_EQ(client.output(), 5);
}

// The credit and the input arrive in one message, and both waits are woken.
TEST_F(when, an_input_wait_that_was_woken_and_lost_has_taken_nothing) {
  auto client = open_to(
    [](context, input<int> in, output<int> out) -> task<int> {
      const auto first = co_await when_any(out.send(1), in.next());
      const auto next = co_await in.next();
      co_return first.index() == 0 ? *next : -1;
    },
    with_chunk_window(0));
  client.send(5, 1);
  EXPECT_EQ(client.output(), 5);
  EXPECT_EQ(client.received().chunks, std::vector{1});
}

TEST_F(when, a_loser_that_was_woken_gives_its_credit_back) {
  auto client = open_to(
    [](context, input<int>, output<int> out) -> task<> {
      co_await when_any(out.send(1), out.send(2));
      co_await out.send(3);
    },
    with_chunk_window(0));
  client.grant(2);
  EXPECT_EQ(client.received().chunks, (std::vector{1, 3}));
  EXPECT_EQ(client.code(), errc::ok);
}

TEST_F(when, a_loser_with_credit_passes_it_to_who_waits_behind_it) {
  const auto race = [](output<int> out) -> task<> {
    co_await when_any(out.send(1), out.send(2));
  };
  const auto behind = [](input<int> in, output<int> out) -> task<> {
    co_await in.next();
    co_await out.send(3);
  };
  auto client = open_to(
    [=](context, input<int> in, output<int> out) -> task<> {
      co_await when_all(race(out), behind(in, out));
    },
    with_chunk_window(0));
  client.send(0);
  client.grant(2);
  EXPECT_EQ(client.received().chunks, (std::vector{1, 3}));
  EXPECT_EQ(client.code(), errc::ok);
}

TEST_F(when, of_parts_that_are_ready_at_once_the_first_one_wins) {
  auto client = open_to([](context, input<int> in, output<int>) //
                        -> task<std::string> {
    const auto one = co_await when_any(now(1), now(2));
    auto two = co_await when_any(in.next(), now(3));
    const auto rest = co_await in.next();
    co_return std::to_string(one.index()) + std::to_string(two.index())
      + (rest ? "left" : "none");
  });
  run();
  EXPECT_EQ(client.received().ends, 0u);
  client.send(1);
  EXPECT_EQ(client.output(), "01left");
}

TEST_F(when, when_any_throws_what_ended_the_first_part) {
  auto client = open_to([&](context ctx, input<int>, output<int>) -> task<int> {
    const auto first = co_await as_expected(
      when_any(later(ctx, 1h, 1, &left), fail_later(ctx, 1s, errc::not_found)));
    co_return first || left != 1 ? -1
                                 : static_cast<int>(code_of(first.error()));
  });
  advance(1s);
  EXPECT_EQ(client.output(), static_cast<int>(errc::not_found));
}

TEST_F(when, a_part_that_fails_after_it_has_lost_is_not_heard) {
  const auto sore = [](context ctx) -> task<int> {
    try {
      co_await ctx.sleep(1h);
    } catch (const status_error&) {
      throw std::runtime_error{"a bad loser"};
    }
    co_return 0;
  };
  auto client = open_to([=](context ctx, input<int>, output<int>) -> task<int> {
    const auto first = co_await when_any(sore(ctx), later(ctx, 1s, 4));
    co_return std::get<1>(first);
  });
  advance(1s);
  EXPECT_EQ(client.output(), 4);
}

// -- nested, and cancelled from outside ---------------------------------------

TEST_F(when, races_can_be_parts_of_others) {
  auto client = open_to([&](context ctx, input<int>, output<int>) -> task<int> {
    const auto [x, y, z]
      = co_await when_all(when_any(later(ctx, 1h, 1, &left), later(ctx, 1s, 2)),
                          when_any(later(ctx, 2s, 3), later(ctx, 1h, 4, &left)),
                          later(ctx, 3s, 5));
    co_return std::get<1>(x) * 100 + std::get<0>(y) * 10 + z;
  });
  advance(1s);
  EXPECT_EQ(left, 1);
  advance(1s);
  EXPECT_EQ(left, 2);
  advance(1s);
  EXPECT_EQ(client.output(), 235);
}

TEST_F(when, a_failure_inside_cancels_the_races_beside_it) {
  auto client = open_to([&](context ctx, input<int>, output<int>) -> task<> {
    co_await when_all(
      when_any(later(ctx, 1h, 1, &left), later(ctx, 1h, 2, &left)),
      when_all(later(ctx, 1h, 3, &left), fail_later(ctx, 1s, errc::data_loss)));
  });
  advance(1s);
  EXPECT_EQ(client.code(), errc::data_loss);
  EXPECT_EQ(left, 3);
}

TEST_F(when, a_cancel_unwinds_every_part_before_the_body) {
  auto client = open_to([&](context ctx, input<int> in, output<int>) -> task<> {
    const auto all = co_await as_expected(
      when_all(when_any(later(ctx, 1h, 1, &left), in.next()),
               when_all(later(ctx, 1h, 2, &left), later(ctx, 1h, 3, &left))));
    left_before = left;
    raise(all.error());
  });
  client.cancel();
  EXPECT_EQ(client.code(), errc::cancelled);
  EXPECT_EQ(left_before, 3);
}

TEST_F(when, a_cancel_during_a_race_keeps_its_own_reason) {
  auto client = open_to(
    [](context ctx, input<int> in, output<int>) -> task<int> {
      const auto result = co_await as_expected(
        when_any(in.next(), when_all(ctx.sleep(1h), ctx.sleep(2h))));
      co_return static_cast<int>(code_of(result.error()));
    },
    with_deadline(1s));
  advance(1s);
  EXPECT_EQ(client.code(), errc::deadline_exceeded);
}

TEST_F(when, nothing_starts_any_more_after_a_cancel) {
  int started = 0;
  const auto part = [](int& started) -> task<int> {
    ++started;
    co_return 1;
  };
  std::vector<errc> codes;
  auto client = open_to([&](context ctx, input<int>, output<int>) -> task<> {
    codes.push_back(code_of((co_await as_expected(ctx.sleep(1h))).error()));
    const auto all = co_await as_expected(when_all(part(started)));
    codes.push_back(code_of(all.error()));
    const auto any = co_await as_expected(when_any(part(started)));
    codes.push_back(code_of(any.error()));
  });
  client.cancel();
  EXPECT_EQ(codes, std::vector(3, errc::cancelled));
  EXPECT_EQ(started, 0);
}

TEST_F(when, a_body_killed_amid_races_frees_all_its_parts) {
  auto client = open_to([&](context ctx, input<int> in, output<int> out) //
                        -> task<> {
    const departure here{left};
    std::vector<task<int>> many;
    many.push_back(later(ctx, 1h, 1, &left));
    many.push_back(later(ctx, 1h, 2, &left));
    co_await when_all(when_any(later(ctx, 1h, 3, &left), in.next()),
                      when_all(std::move(many)),
                      when_any(out.send(1), out.send(2)));
  });
  kill(client.connection());
  EXPECT_EQ(left, 4);
  EXPECT_EQ(client.code(), errc::aborted);
}

// A timer that is left would make the clock tick once more.
TEST_F(when, a_body_killed_amid_races_leaves_no_timer_armed) {
  auto brief = open_to([](context ctx, input<int>, output<int>) -> task<> {
    co_await ctx.sleep(1s);
  });
  auto client = open_to([](context ctx, input<int> in, output<int>) -> task<> {
    std::vector<task<int>> many;
    many.push_back(later(ctx, 3h, 1));
    co_await when_all(when_any(ctx.sleep(2h), in.next()),
                      when_all(std::move(many)));
  });
  run();
  kill(client.connection());
  advance(1s);
  EXPECT_EQ(brief.code(), errc::ok);
  EXPECT_FALSE(sched.clock().has_pending_timeout());
}

} // namespace tertulia::test::when_tests
