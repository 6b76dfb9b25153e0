// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/coroutine_kind.hpp>

#include <memory>

#include "support/flows.hpp"

using namespace std::literals;

namespace tertulia::test::coroutines_tests {

namespace {

struct coroutines : flows {};

task<std::string> greeting(std::string name) {
  co_return "hello " + name;
}

task<std::unique_ptr<int>> boxed(int value) {
  co_return std::make_unique<int>(value);
}

task<> count_up(int& counter) {
  ++counter;
  co_return;
}

task<> hold(departure) {
  co_return;
}

task<int> fail_below(int levels, int& left) {
  const departure here{left};
  if (levels == 0)
    throw status_error{errc::out_of_range, "too deep", R"({"by":1})"};
  co_return co_await fail_below(levels - 1, left);
}

task<int> depth(int levels) {
  if (levels == 0)
    co_return 0;
  co_return 1 + co_await depth(levels - 1);
}

task<int> fall(int levels) {
  if (levels == 0)
    throw status_error{errc::out_of_range, "the floor"};
  co_return co_await fall(levels - 1);
}

task<int> read(std::shared_ptr<const int> value) {
  co_return *value;
}

task<int> same(int value) {
  co_return value;
}

} // namespace

// -- task ---------------------------------------------------------------------

TEST_F(coroutines, a_task_hands_out_its_value) {
  auto client
    = open_to([](context, input<int>, output<int>) //
              -> task<std::string> { co_return co_await greeting("world"); });
  EXPECT_EQ(client.output(), "hello world");
}

TEST_F(coroutines, a_task_may_hand_out_what_can_only_be_moved) {
  auto client = open_to([](context, input<int>, output<int>) -> task<int> {
    const auto first = co_await boxed(3);
    auto kept = boxed(4);
    auto moved = std::move(kept);
    const auto second = co_await std::move(moved);
    co_return *first + *second;
  });
  EXPECT_EQ(client.output(), 7);
}

TEST_F(coroutines, a_body_may_return_nothing) {
  int counter = 0;
  auto client = open_to([&](context, input<int>, output<int>) -> task<> {
    co_await count_up(counter);
    co_await count_up(counter);
  });
  EXPECT_EQ(client.code(), errc::ok);
  EXPECT_EQ(client.output(), nothing{});
  EXPECT_EQ(counter, 2);
}

TEST_F(coroutines, a_task_does_nothing_before_it_is_awaited) {
  int counter = 0;
  auto client = open_to([&](context, input<int>, output<int>) -> task<int> {
    auto later = count_up(counter);
    const auto before = counter;
    co_await std::move(later);
    co_return before;
  });
  EXPECT_EQ(client.output(), 0);
  EXPECT_EQ(counter, 1);
}

TEST_F(coroutines, a_task_that_nobody_awaits_frees_what_it_was_given) {
  int left = 0;
  auto client = open_to([&](context, input<int>, output<int>) -> task<int> {
    { const auto never = hold(departure{left}); }
    auto replaced = hold(departure{left});
    replaced = hold(departure{left});
    co_return left;
  });
  EXPECT_EQ(client.output(), 2);
  EXPECT_EQ(left, 3);
}

TEST_F(coroutines, an_exception_passes_through_every_task_and_unwinds_it) {
  int left = 0;
  auto client = open_to([&](context, input<int>, output<int>) -> task<int> {
    co_return co_await fail_below(3, left);
  });
  EXPECT_EQ(left, 4);
  const auto status = to_status(client.received().end.value().reason);
  EXPECT_EQ(status.code(), errc::out_of_range);
  EXPECT_EQ(status.message(), "too deep");
  EXPECT_EQ(status.details(), R"({"by":1})");
}

TEST_F(coroutines, an_exception_can_be_caught_on_its_way) {
  int left = 0;
  auto client = open_to([&](context, input<int>, output<int>) -> task<int> {
    try {
      co_await fail_below(3, left);
    } catch (const status_error& x) {
      if (x.code() != errc::out_of_range)
        throw;
    }
    co_return co_await same(left);
  });
  EXPECT_EQ(client.output(), 4);
}

TEST_F(coroutines, an_exception_of_a_foreign_type_is_internal) {
  auto client = open_to([](context, input<int>, output<int>) -> task<int> {
    co_await greeting("nobody");
    throw std::runtime_error{"the actor was lost"};
  });
  const auto status = to_status(client.received().end.value().reason);
  EXPECT_EQ(status.code(), errc::internal);
  EXPECT_EQ(status.message(), "the actor was lost");
}

TEST_F(coroutines, a_body_that_is_a_plain_function_fails_by_throwing) {
  auto client = open_to([](context, input<int>, output<int>) -> task<int> {
    throw status_error{errc::out_of_range, "too early"};
  });
  const auto status = to_status(client.received().end.value().reason);
  EXPECT_EQ(status.code(), errc::out_of_range);
  EXPECT_EQ(status.message(), "too early");
}

TEST_F(coroutines, the_memory_of_a_body_is_free_before_that_of_its_connection) {
  const auto argument = std::make_shared<int>(7);
  auto client = open_to([&](context, input<int>, output<int>) -> task<int> {
    auto end = detail::body_output<int>::of(read(argument));
    auto result = co_await std::move(end);
    EXPECT_EQ(argument.use_count(), 1);
    co_return std::move(result).take<int>();
  });
  EXPECT_EQ(client.output(), 7);
}

TEST_F(coroutines, what_is_no_exception_at_all_is_internal_too) {
  auto client = open_to([](context, input<int>, output<int>) -> task<int> {
    throw 7;
    co_return 0;
  });
  EXPECT_EQ(client.code(), errc::internal);
}

TEST_F(coroutines, tasks_in_tasks_use_no_stack) {
  auto client = open_to([](context, input<int>, output<int>) -> task<int> {
    co_return co_await depth(100'000);
  });
  EXPECT_EQ(client.output(), 100'000);
}

TEST_F(coroutines, an_exception_from_far_below_uses_no_stack) {
  auto client = open_to([](context, input<int>, output<int>) -> task<int> {
    co_return co_await fall(100'000);
  });
  EXPECT_EQ(client.code(), errc::out_of_range);
}

TEST_F(coroutines, a_loop_over_tasks_uses_no_stack) {
  auto client = open_to([](context, input<int>, output<int>) -> task<int> {
    int sum = 0;
    for (int i = 0; i < 1'000'000; ++i)
      sum += co_await same(1);
    co_return sum;
  });
  EXPECT_EQ(client.output(), 1'000'000);
}

TEST_F(coroutines, a_loop_over_inputs_that_are_there_uses_no_stack) {
  auto client = open_to(
    [](context, input<int> in, output<int>) -> task<int> {
      int sum = 0;
      while (auto x = co_await in.next())
        sum += *x;
      co_return sum;
    },
    with_input_window(max_window));
  for (std::uint32_t i = 0; i < max_window; ++i)
    client.post(1);
  client.close();
  EXPECT_EQ(client.output(), static_cast<int>(max_window));
}

// -- as_expected --------------------------------------------------------------

TEST_F(coroutines, as_expected_yields_the_value_of_a_task) {
  auto client = open_to([](context, input<int>, output<int>) //
                        -> task<std::string> {
    auto text = co_await as_expected(greeting("world"));
    auto box = co_await as_expected(boxed(7));
    int counter = 0;
    const auto done = co_await as_expected(count_up(counter));
    co_return text&& box&& done ? *text + std::to_string(**box) : "none";
  });
  EXPECT_EQ(client.output(), "hello world7");
}

TEST_F(coroutines, as_expected_yields_the_error_of_a_task) {
  int left = 0;
  auto client = open_to([&](context, input<int>, output<std::string> out) //
                        -> task<int> {
    const auto failed = co_await as_expected(fail_below(1, left));
    if (failed)
      co_return 1;
    const auto status = to_status(failed.error());
    co_await out.send(status.message());
    co_await out.send(status.details());
    co_return static_cast<int>(status.code());
  });
  EXPECT_EQ(client.output(), static_cast<int>(errc::out_of_range));
  EXPECT_EQ(client.received().chunks,
            (std::vector<std::string>{"too deep", R"({"by":1})"}));
}

TEST_F(coroutines, as_expected_yields_what_a_wait_yields) {
  auto client = open_to([](context ctx, input<int> in, output<int> out) //
                        -> task<int> {
    const auto slept = co_await as_expected(ctx.sleep(1s));
    const auto input = co_await as_expected(in.next());
    const auto sent = co_await as_expected(out.send(5));
    const auto closed = co_await as_expected(in.next());
    co_return slept&& input&& sent&& closed && !*closed ? **input : -1;
  });
  client.post(3);
  client.close();
  advance(1s);
  EXPECT_EQ(client.output(), 3);
  EXPECT_EQ(client.received().chunks, std::vector{5});
}

TEST_F(coroutines, as_expected_yields_a_cancel_and_the_next_wait_still_fails) {
  std::vector<errc> codes;
  auto client = open_to([&](context ctx, input<int> in, output<int> out) //
                        -> task<int> {
    const auto input = co_await as_expected(in.next());
    codes.push_back(code_of(input.error()));
    const auto slept = co_await as_expected(ctx.sleep(1s));
    codes.push_back(code_of(slept.error()));
    const auto sent = co_await as_expected(out.send(1));
    codes.push_back(code_of(sent.error()));
    co_return 7;
  });
  client.cancel();
  EXPECT_EQ(codes, std::vector(3, errc::cancelled));
  EXPECT_EQ(client.code(), errc::cancelled) << "a cancel is not taken back";
  EXPECT_TRUE(client.received().chunks.empty());
}

// -- concurrent parts of a body -----------------------------------------------

TEST_F(coroutines, a_second_part_that_waits_for_an_input_is_refused) {
  auto client = open_to([](context, input<int> in, output<int>) -> task<int> {
    const auto [first, second]
      = co_await when_all(as_expected(in.next()), as_expected(in.next()));
    if (!first || code_of(second.error()) != errc::failed_precondition)
      co_return -1;
    co_return **first;
  });
  client.send(5);
  EXPECT_EQ(client.output(), 5);
}

// The credit wakes the second part and the input wakes the first, in this
// order.
TEST_F(coroutines, an_input_reaches_the_part_that_waited_for_it) {
  const auto first = [](input<int> in) -> task<int> {
    const auto x = co_await in.next();
    co_return x ? *x : -1;
  };
  const auto second = [](input<int> in, output<int> out) -> task<errc> {
    co_await out.send(0);
    const auto x = co_await as_expected(in.next());
    co_return x ? errc::ok : code_of(x.error());
  };
  auto client = open_to(
    [=](context, input<int> in, output<int> out) -> task<int> {
      const auto [x, refused] = co_await when_all(first(in), second(in, out));
      co_return refused == errc::failed_precondition ? x : -2;
    },
    with_chunk_window(0));
  client.send(5, 1);
  client.close();
  EXPECT_EQ(client.output(), 5);
}

TEST_F(coroutines, parts_that_wait_for_credit_get_it_in_order_of_arrival) {
  const auto part = [](int id, output<int> out) -> task<> {
    for (int i = 0; i < 3; ++i)
      co_await out.send(id * 10 + i);
  };
  auto client = open_to(
    [=](context, input<int>, output<int> out) -> task<> {
      co_await when_all(part(1, out), part(2, out), part(3, out));
    },
    with_chunk_window(0));
  EXPECT_TRUE(client.received().chunks.empty());
  for (std::size_t i = 1; i <= 9; ++i) {
    client.grant(1);
    EXPECT_EQ(client.received().chunks.size(), i);
  }
  EXPECT_EQ(client.received().chunks,
            (std::vector{10, 20, 30, 11, 21, 31, 12, 22, 32}));
  EXPECT_EQ(client.code(), errc::ok);
}

TEST_F(coroutines, much_credit_at_once_wakes_all_who_wait_and_loses_nothing) {
  const auto part = [](int id, output<int> out) -> task<> {
    for (int i = 0; i < 100; ++i)
      co_await out.send(id);
  };
  auto client = open_to(
    [=](context, input<int>, output<int> out) -> task<> {
      co_await when_all(part(1, out), part(2, out), part(3, out));
    },
    with_chunk_window(1));
  client.grant(150);
  EXPECT_EQ(client.received().chunks.size(), 151u);
  client.grant(149);
  for (const auto id : {1, 2, 3})
    EXPECT_EQ(std::count(client.received().chunks.begin(),
                         client.received().chunks.end(), id),
              100);
  EXPECT_EQ(client.code(), errc::ok);
}

} // namespace tertulia::test::coroutines_tests
