// SPDX-License-Identifier: BSD-3-Clause

// Messages of other actors to a body.

#include <tertulia/when.hpp>

#include <string>
#include <variant>

#include "support/flows.hpp"

using namespace std::literals;

namespace tertulia::test::receive_tests {

namespace {

struct receive : flows {
  template <class T>
  using address_of = protocol<caf::result<void>(T)>;

  /// Sends a request and returns the code of the answer.
  template <class T>
  errc send(const address_of<T>& to, T x) {
    auto code = errc::unknown;
    const auto ask = [&, to](caf::event_based_actor* self) {
      self->request(to, caf::infinite, x)
        .then([&] { code = errc::ok; },
              [&](const caf::error& why) { code = code_of(why); });
    };
    system.spawn(ask);
    run();
    return code;
  }

  address_of<int> number;
  address_of<std::string> text;
};

} // namespace

TEST_F(receive, a_body_waits_for_a_message) {
  auto client = open_body([this](context ctx) -> task<int> {
    number = ctx.address<int>();
    const auto first = co_await ctx.receive<int>();
    const auto second = co_await ctx.receive<int>();
    co_return 10 * first + second;
  });
  EXPECT_FALSE(client.received().end);
  EXPECT_EQ(send(number, 4), errc::ok);
  EXPECT_EQ(send(number, 2), errc::ok);
  EXPECT_EQ(client.output(), 42);
}

TEST_F(receive, messages_wait_for_the_body_by_type_and_in_order) {
  auto client = open_body([this](context ctx) -> task<std::string> {
    number = ctx.address<int>();
    text = ctx.address<std::string>();
    co_await ctx.sleep(1s);
    const auto word = co_await ctx.receive<std::string>();
    const auto first = co_await ctx.receive<int>();
    const auto second = co_await ctx.receive<int>();
    co_return word + std::to_string(first) + std::to_string(second);
  });
  caf::anon_send(number, 1);
  caf::anon_send(number, 2);
  caf::anon_send(text, "x"s);
  run();
  advance(1s);
  EXPECT_EQ(client.output(), "x12");
}

TEST_F(receive, an_address_is_the_same_every_time) {
  auto client = open_body([](context ctx) -> task<bool> {
    co_return ctx.address<int>() == ctx.address<int>();
  });
  EXPECT_TRUE(client.output());
}

TEST_F(receive, a_message_after_a_time_out_is_not_lost) {
  auto client = open_body([this](context ctx) -> task<int> {
    number = ctx.address<int>();
    auto first = co_await when_any(ctx.receive<int>(), ctx.sleep(1s));
    EXPECT_EQ(first.index(), 1u);
    co_return co_await ctx.receive<int>();
  });
  advance(1s);
  EXPECT_EQ(send(number, 7), errc::ok);
  EXPECT_EQ(client.output(), 7);
}

TEST_F(receive, messages_that_nobody_receives_are_bounded) {
  auto client = open_body([this](context ctx) -> task<> {
    number = ctx.address<int>();
    co_await ctx.sleep(1s);
  });
  for (auto i = 0; i < 1024; ++i)
    ASSERT_EQ(send(number, i), errc::ok);
  EXPECT_EQ(send(number, 1024), errc::resource_exhausted);
}

TEST_F(receive, an_address_ends_with_its_body) {
  auto client = open_body([this](context ctx) -> task<> {
    number = ctx.address<int>();
    co_return;
  });
  EXPECT_EQ(send(number, 1), errc::unavailable);
  EXPECT_EQ(extra_actors(), 1u) << "the client";
}

TEST_F(receive, a_cancel_ends_the_wait) {
  auto client = open_body([this](context ctx) -> task<int> {
    number = ctx.address<int>();
    co_return co_await ctx.receive<int>();
  });
  client.cancel();
  EXPECT_EQ(client.code(), errc::cancelled);
  EXPECT_EQ(send(number, 1), errc::unavailable);
}

TEST_F(receive, a_second_part_that_waits_for_a_type_is_refused) {
  auto client = open_body([this](context ctx) -> task<std::string> {
    number = ctx.address<int>();
    auto both = co_await when_all(as_expected(ctx.receive<int>()),
                                  as_expected(ctx.receive<int>()));
    const auto& [first, second] = both;
    co_return std::to_string(first.value()) + ' '
      + std::string{to_string(code_of(second.error()))};
  });
  EXPECT_EQ(send(number, 5), errc::ok);
  EXPECT_EQ(client.output(), "5 failed_precondition");
}

} // namespace tertulia::test::receive_tests
