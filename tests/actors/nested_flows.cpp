// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/descriptor.hpp>

#include "support/nested.hpp"

using namespace std::literals;

namespace tertulia::test::nested_flows_tests {

namespace {

struct nested_flows : nested {};

/// Returns code, message and details of an error as one text.
std::string told(const caf::error& reason) {
  const auto status = to_status(reason);
  return std::string{to_string(status.code())} + ' ' + status.message() + ' '
         + status.details();
}

} // namespace

// -- one conversation ---------------------------------------------------------

TEST_F(nested_flows, a_body_can_be_the_client_of_another) {
  const auto inner = define_counter();
  auto client = open_to([=](context ctx, input<int>, output<int> out) //
                        -> task<int> {
    auto talk = co_await inner.open(ctx);
    co_await talk.send(3);
    talk.close();
    while (auto x = co_await talk.next())
      co_await out.send(*x);
    co_return co_await talk.output();
  });
  EXPECT_EQ(client.output(), 3);
  EXPECT_EQ(client.received().chunks, (std::vector{0, 1, 2}));
  EXPECT_EQ(inner_left, 1);
  EXPECT_EQ(extra_actors(), 1u) << "the client";
}

TEST_F(nested_flows, next_is_empty_at_the_end_of_a_turn_and_goes_on_after_it) {
  const auto inner = define_counter();
  auto client = open_to([=](context ctx, input<int>, output<int> out) //
                        -> task<bool> {
    auto talk = co_await inner.open(ctx);
    for (const auto count : {2, 0, 1}) {
      co_await talk.send(count);
      while (auto x = co_await talk.next())
        co_await out.send(*x);
      co_await out.send(talk.finished() ? -2 : -1);
    }
    talk.close();
    const auto end = co_await talk.next();
    const auto again = co_await talk.next();
    co_return !end && !again && talk.finished();
  });
  EXPECT_TRUE(client.output());
  EXPECT_EQ(client.received().chunks, (std::vector{0, 1, -1, -1, 2, -1}));
}

TEST_F(nested_flows, the_output_can_be_asked_for_twice) {
  const auto inner = define_silent();
  auto client = open_to([=](context ctx, input<int>, output<int>) //
                        -> task<int> {
    auto talk = co_await inner.open(ctx);
    talk.close();
    const auto first = co_await talk.output();
    co_return first + co_await talk.output();
  });
  EXPECT_EQ(client.output(), 14);
}

TEST_F(nested_flows, init_data_reaches_the_inner_body) {
  const auto inner = define([](context, std::string init, input<int>,
                               output<int>) //
                            -> task<std::string> { co_return "init " + init; });
  auto client = open_to([=](context ctx, input<int>, output<int>) //
                        -> task<std::string> {
    const auto init = with_init("data"s);
    auto talk = co_await inner.open(ctx, init);
    co_return co_await talk.output();
  });
  EXPECT_EQ(client.output(), "init data");
}

// -- unread chunks ------------------------------------------------------------

TEST_F(nested_flows, the_output_comes_even_if_chunks_are_unread) {
  const auto inner = define_counter();
  for (const std::uint32_t window : {0u, 1u, 2u, 3u, 64u})
    for (int read = 0; read < 4; ++read) {
      auto client = open_to([=](context ctx, input<int>, output<int>) //
                            -> task<int> {
        auto talk = co_await inner.open(ctx, with_chunk_window(window));
        co_await talk.send(1'000);
        talk.close();
        for (int i = 0; i < read; ++i)
          co_await talk.next();
        co_return co_await talk.output();
      });
      ASSERT_EQ(client.received().ends, 1u) << window << ' ' << read;
      EXPECT_EQ(client.output(), 1'000);
    }
}

TEST_F(nested_flows, after_the_output_there_is_nothing_to_read) {
  const auto inner = define_counter();
  auto client = open_to([=](context ctx, input<int>, output<int>) //
                        -> task<bool> {
    auto talk = co_await inner.open(ctx);
    co_await talk.send(100);
    talk.close();
    co_await talk.next();
    co_await talk.output();
    const auto rest = co_await talk.next();
    co_return !rest && talk.finished();
  });
  EXPECT_TRUE(client.output());
}

// -- errors -------------------------------------------------------------------

TEST_F(nested_flows, an_error_comes_after_the_chunks_and_to_all_who_ask) {
  const auto inner = define_failing();
  auto client = open_to([=](context ctx, input<int>, output<int> out) //
                        -> task<std::string> {
    auto talk = co_await inner.open(ctx);
    co_await ctx.sleep(1s); // the error has arrived
    co_await out.send(*co_await talk.next());
    co_await out.send(*co_await talk.next());
    const auto next = co_await as_expected(talk.next());
    const auto output = co_await as_expected(talk.output());
    const auto again = co_await as_expected(talk.next());
    co_return told(next.error()) + ", " + told(output.error()) + ", "
      + told(again.error());
  });
  advance(1s);
  const auto error = R"(out_of_range too far {"by":3})"s;
  EXPECT_EQ(client.output(), error + ", " + error + ", " + error);
  EXPECT_EQ(client.received().chunks, (std::vector{1, 2}));
}

TEST_F(nested_flows, an_error_that_nobody_catches_ends_the_outer_flow_too) {
  const auto inner = define_failing();
  auto client = open_to([=](context ctx, input<int>, output<int>) //
                        -> task<int> {
    auto talk = co_await inner.open(ctx);
    co_return co_await talk.output();
  });
  EXPECT_EQ(told(client.received().end->reason),
            R"(out_of_range too far {"by":3})");
  EXPECT_EQ(extra_actors(), 1u);
}

TEST_F(nested_flows, sending_fails_after_a_close_a_cancel_and_the_end) {
  const auto silent = define_silent();
  const auto failing = define_failing();
  std::vector<errc> codes;
  auto client = open_to([&](context ctx, input<int>, output<int>) -> task<> {
    auto closed = co_await silent.open(ctx);
    closed.close();
    closed.close();
    codes.push_back(code_of((co_await as_expected(closed.send(1))).error()));
    auto cancelled = co_await silent.open(ctx);
    cancelled.cancel();
    cancelled.cancel();
    codes.push_back(code_of((co_await as_expected(cancelled.send(1))).error()));
    codes.push_back(
      code_of((co_await as_expected(cancelled.output())).error()));
    auto finished = co_await failing.open(ctx);
    co_await ctx.sleep(1s);
    codes.push_back(code_of((co_await as_expected(finished.send(1))).error()));
  });
  advance(1s);
  EXPECT_EQ(client.code(), errc::ok);
  EXPECT_EQ(codes, (std::vector{errc::failed_precondition, errc::cancelled,
                                errc::cancelled, errc::out_of_range}));
}

TEST_F(nested_flows, an_input_that_crosses_the_end_is_refused) {
  const auto inner = define(
    [](context, input<int>, output<int>) -> task<int> { co_return 7; });
  auto client = open_to([=](context ctx, input<int>, output<int>) -> task<int> {
    const with_keep kept; // the run waits until its end has been heard
    auto talk = co_await inner.open(ctx, kept);
    co_await talk.send(1);
    co_await ctx.sleep(1s); // the refusal comes
    co_return co_await talk.output();
  });
  advance(1s);
  EXPECT_EQ(client.output(), 7);
}

TEST_F(nested_flows, a_send_that_waits_ends_with_the_connection) {
  const auto inner = define([](context ctx, input<int>, output<int>) -> task<> {
    co_await ctx.sleep(1s);
  });
  auto client = open_to([=](context ctx, input<int>, output<int>) //
                        -> task<int> {
    auto talk = co_await inner.open(ctx);
    co_await talk.send(1);
    const auto sent = co_await as_expected(talk.send(2));
    co_return static_cast<int>(code_of(sent.error()));
  });
  EXPECT_EQ(client.received().ends, 0u);
  advance(1s);
  EXPECT_EQ(client.output(), static_cast<int>(errc::failed_precondition));
}

TEST_F(nested_flows, a_copy_of_an_action_shares_what_is_known_of_it) {
  const auto inner = define_counter();
  const auto copy = inner; // each call makes copies
  EXPECT_EQ(&copy.info(), &inner.info());
}

TEST_F(nested_flows, an_action_that_nobody_knows_is_not_found) {
  const auto unknown
    = detail::access::make<bidi_action<nothing, int, int, int>>(
      detail::action_ref{&system, rt->front_desk(), "/bidi-flow/none", nullptr,
                         nullptr});
  auto client = open_to([=](context ctx, input<int>, output<int>) -> task<> {
    auto talk = co_await unknown.open(ctx);
  });
  EXPECT_EQ(client.code(), errc::not_found);
}

TEST_F(nested_flows, what_cannot_be_read_is_an_error_to_all_who_ask) {
  const auto info = define_counter().info();
  const auto mistaken
    = detail::access::make<bidi_action<nothing, int, int, std::string>>(
      detail::action_ref{&system, rt->front_desk(), info.key, nullptr,
                         nullptr});
  std::vector<std::string> received;
  auto client = open_to([&](context ctx, input<int>, output<int>) -> task<> {
    auto talk = co_await mistaken.open(ctx);
    co_await talk.send(1);
    for (int i = 0; i < 2; ++i) {
      const auto chunk = co_await as_expected(talk.next());
      received.push_back(told(chunk.error()));
      const auto result = co_await as_expected(talk.output());
      received.push_back(told(result.error()));
    }
    co_await talk.send(1);
  });
  EXPECT_EQ(received,
            std::vector(4, "invalid_argument $[0]: expected a string, found 0 "
                           R"({"expected":"a string","path":"$[0]"})"s));
  EXPECT_EQ(client.code(), errc::invalid_argument) << "a send says the same";
  EXPECT_EQ(inner_left, 1) << "the inner body was cancelled";
  EXPECT_EQ(extra_actors(), 1u) << "the client";
}

TEST_F(nested_flows, an_action_of_a_runtime_that_is_gone_is_unavailable) {
  auto other = std::make_optional<runtime>(system);
  const auto inner = other->define_bidi_flow(
    "gone", [](context, input<int>, output<int>) -> task<> { co_return; });
  run();
  other->stop();
  run();
  other.reset();
  auto client = open_to([=](context ctx, input<int>, output<int>) -> task<> {
    auto talk = co_await inner.open(ctx);
  });
  EXPECT_EQ(client.code(), errc::unavailable);
}

TEST_F(nested_flows, options_that_make_no_sense_are_refused) {
  const auto inner = define_silent();
  auto client = open_to([=](context ctx, input<int>, output<int>) -> task<> {
    auto talk = co_await inner.open(ctx, with_input_window(max_window + 1));
  });
  EXPECT_EQ(client.code(), errc::invalid_argument);
  EXPECT_EQ(extra_actors(), 1u);
}

// -- cancel -------------------------------------------------------------------

TEST_F(nested_flows, who_drops_a_connection_cancels_it) {
  const auto inner = define_silent();
  auto client = open_to([=](context ctx, input<int> in, output<int>) -> task<> {
    { auto talk = co_await inner.open(ctx); }
    co_await in.next();
  });
  EXPECT_EQ(inner_left, 1);
  EXPECT_EQ(extra_actors(), 2u);
  client.close();
  EXPECT_EQ(client.code(), errc::ok);
}

TEST_F(nested_flows, a_cancel_from_outside_unwinds_every_level) {
  const auto innermost = define_silent();
  const auto inner = define([=, this](context ctx, input<int>, output<int>) //
                            -> task<int> {
    const departure here{inner_left};
    auto talk = co_await innermost.open(ctx);
    co_return co_await talk.output();
  });
  auto client = open_to([=](context ctx, input<int>, output<int>) -> task<int> {
    auto talk = co_await inner.open(ctx);
    co_await talk.next();
    co_return 0;
  });
  EXPECT_EQ(extra_actors(), 4u);
  client.cancel();
  EXPECT_EQ(client.code(), errc::cancelled);
  EXPECT_EQ(inner_left, 2);
  EXPECT_EQ(extra_actors(), 1u);
}

TEST_F(nested_flows, a_client_that_dies_takes_every_level_with_it) {
  const auto inner = define_silent();
  auto client = open_to([=](context ctx, input<int>, output<int>) -> task<int> {
    auto talk = co_await inner.open(ctx);
    co_return co_await talk.output();
  });
  client.die();
  EXPECT_EQ(inner_left, 1);
  EXPECT_EQ(extra_actors(), 0u);
}

TEST_F(nested_flows, an_outer_flow_that_is_killed_takes_the_inner_one_along) {
  const auto inner = define_counter();
  auto client = open_to([=](context ctx, input<int>, output<int>) -> task<> {
    auto talk = co_await inner.open(ctx);
    co_await when_all(talk.next(), ctx.sleep(1h));
  });
  kill(client.connection());
  EXPECT_EQ(client.code(), errc::aborted);
  EXPECT_EQ(inner_left, 1);
  EXPECT_EQ(extra_actors(), 1u);
}

TEST_F(nested_flows, an_inner_flow_that_is_killed_is_aborted) {
  connection_actor victim;
  const auto inner = define([&](context ctx, input<int> in, output<int> out) //
                            -> task<> {
    victim = connection_actor{detail::access::owner(ctx).self()};
    co_await out.send(1);
    co_await in.next();
  });
  std::vector<errc> codes;
  auto client = open_to([&](context ctx, input<int>, output<int> out) //
                        -> task<> {
    auto talk = co_await inner.open(ctx);
    co_await out.send(*co_await talk.next());
    codes.push_back(code_of((co_await as_expected(talk.next())).error()));
    codes.push_back(code_of((co_await as_expected(talk.output())).error()));
  });
  EXPECT_EQ(client.received().chunks, std::vector{1});
  kill(victim);
  EXPECT_EQ(client.code(), errc::ok);
  EXPECT_EQ(codes, std::vector(2, errc::aborted));
}

TEST_F(nested_flows, a_connection_that_opens_when_nobody_waits_is_cancelled) {
  const auto inner = define_silent();
  auto client = open_to([=](context ctx, input<int> in, output<int>) //
                        -> task<std::size_t> {
    auto first = co_await when_any(inner.open(ctx), ctx.sleep(0s));
    co_await in.next();
    co_return first.index();
  });
  EXPECT_EQ(extra_actors(), 2u) << "the client and the outer connection";
  client.close();
  EXPECT_EQ(client.output(), 1u);
}

} // namespace tertulia::test::nested_flows_tests
