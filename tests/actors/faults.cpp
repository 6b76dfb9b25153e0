// SPDX-License-Identifier: BSD-3-Clause

#include "support/faults.hpp"

#include <tertulia/define_agent.hpp>
#include <tertulia/memory_store.hpp>

#include <vector>

using namespace std::literals;

namespace tertulia::test::faults_tests {

namespace {

using int_input = input<int>;
using int_output = output<int>;

} // namespace

// -- the body -----------------------------------------------------------------

TEST_F(faults, body_throws_status_error) {
  auto talk = define([](context, int_input, int_output) -> task<> {
                throw status_error{errc::permission_denied, "not you"};
                co_return;
              }).stream_bidi();
  expect_end(talk, errc::permission_denied, "not you");
}

TEST_F(faults, body_throws_std_exception) {
  auto talk = define([](context, int_input, int_output) -> task<> {
                static_cast<void>(std::string{}.at(1));
                co_return;
              }).stream_bidi();
  const auto error = end_of(talk);
  EXPECT_EQ(error.code(), errc::internal);
  EXPECT_NE(error.message().find("basic_string::at"), std::string::npos);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(faults, body_throws_something_else) {
  auto talk = define([](context, int_input, int_output) -> task<> {
                throw 42;
                co_return;
              }).stream_bidi();
  expect_end(talk, errc::internal, "an exception that is no std::exception");
}

TEST_F(faults, body_throws_after_chunks) {
  auto talk = define([](context, int_input, int_output out) -> task<> {
                for (int i = 0; i < 1'000; ++i)
                  co_await out.send(i);
                throw status_error{errc::data_loss, "torn"};
              }).stream_bidi();
  int count = 0;
  EXPECT_EQ(code_from([&] {
              for (auto chunk : talk.responses(patience))
                ASSERT_EQ(chunk, count++);
            }),
            errc::data_loss);
  EXPECT_EQ(count, 1'000);
  expect_end(talk, errc::data_loss, "torn");
}

TEST_F(faults, body_turns_a_cancel_into_another_error) {
  auto talk = define([](context, int_input in, int_output) -> task<> {
                try {
                  co_await in.next();
                } catch (const status_error&) {
                  throw status_error{errc::internal, "clean-up failed"};
                }
              }).stream_bidi();
  talk.cancel();
  expect_end(talk, errc::cancelled, "the client cancelled");
}

TEST_F(faults, body_returns_although_it_was_cancelled) {
  auto talk = define([](context, int_input in, int_output) -> task<> {
                co_await as_expected(in.next());
              }).stream_bidi();
  talk.cancel();
  expect_end(talk, errc::cancelled, "the client cancelled");
}

TEST_F(faults, body_actor_killed) {
  auto talk = define_actor_body().stream_bidi();
  ASSERT_TRUE(reached());
  kill_host();
  expect_end(talk, errc::aborted, "the connection was lost: exit_reason(kill)");
}

TEST_F(faults, body_actor_throws) {
  auto talk = define_actor_body().stream_bidi();
  talk.send(0);
  const auto error = end_of(talk);
  EXPECT_EQ(error.code(), errc::internal);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(faults, body_actor_throws_while_it_starts) {
  auto flow = rt->define_bidi_flow(
    "stillborn",
    [](connection_actor::pointer, client_port<int, int, int>,
       nothing) -> connection_actor::behavior_type {
      throw std::runtime_error{"on purpose"};
    });
  auto talk = flow.stream_bidi();
  const auto error = end_of(talk);
  EXPECT_EQ(error.code(), errc::internal);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(faults, body_actor_quits_without_a_result) {
  auto talk = define_actor_body().stream_bidi();
  talk.send(1);
  const auto error = end_of(talk);
  EXPECT_EQ(error.code(), errc::aborted);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(faults, body_actor_fails) {
  auto talk = define_actor_body().stream_bidi();
  talk.send(2);
  expect_end(talk, errc::data_loss, "torn");
}

TEST_F(faults, body_actor_is_left_by_its_client) {
  {
    auto talk = define_actor_body().stream_bidi();
    talk.send(3);
    EXPECT_EQ(*talk.responses(patience).begin(), 1);
  }
  EXPECT_TRUE(nothing_is_left());
}

// -- the connection -----------------------------------------------------------

TEST_F(faults, connection_killed_while_body_waits_on_input) {
  auto talk = define([this](context, int_input in, int_output) -> task<> {
                reach();
                co_await in.next();
              }).stream_bidi();
  ASSERT_TRUE(reached());
  kill_host();
  expect_end(talk, errc::aborted, "the connection was killed");
}

TEST_F(faults, connection_killed_while_body_waits_on_credit) {
  auto talk = define([this](context, int_input, int_output out) -> task<> {
                reach();
                for (;;)
                  co_await out.send(1);
              }).stream_bidi(with_chunk_window(3));
  ASSERT_TRUE(reached());
  kill_host();
  expect_end(talk, errc::aborted, "the connection was killed");
}

TEST_F(faults, connection_killed_while_body_sleeps) {
  auto talk = define([this](context ctx, int_input, int_output) -> task<> {
                reach();
                co_await ctx.sleep(1h);
              }).stream_bidi(with_deadline(1h));
  ASSERT_TRUE(reached());
  kill_host();
  expect_end(talk, errc::aborted, "the connection was killed");
}

TEST_F(faults, connection_killed_while_body_blocks) {
  std::atomic<bool> left = false;
  auto talk = define([&](context ctx, int_input, int_output) -> task<> {
                int on_the_frame = 0;
                co_await ctx.run_blocking([&](std::stop_token stop) {
                  reach();
                  while (!stop.stop_requested())
                    ++on_the_frame;
                  left = true;
                });
              }).stream_bidi();
  ASSERT_TRUE(reached());
  kill_host();
  expect_end(talk, errc::aborted, "the connection was killed");
  EXPECT_TRUE(left);
}

TEST_F(faults, connection_killed_while_body_is_a_client) {
  auto inner = define_echo();
  auto talk
    = define([this, inner](context ctx, int_input, int_output) -> task<> {
        auto deep = co_await inner.open(ctx);
        reach();
        co_await deep.next();
      }).stream_bidi();
  ASSERT_TRUE(reached());
  kill_host();
  expect_end(talk, errc::aborted, "the connection was killed");
}

TEST_F(faults, connection_told_to_exit) {
  auto talk = define([this](context, int_input in, int_output) -> task<> {
                reach();
                co_await in.next();
              }).stream_bidi();
  ASSERT_TRUE(reached());
  kill_host(caf::exit_reason::user_shutdown);
  expect_end(talk, errc::unavailable, "the connection was told to stop");
  EXPECT_EQ(seen(), errc::unavailable);
}

TEST_F(faults, runtime_stopped) {
  auto talk = define([this](context, int_input in, int_output) -> task<> {
                reach();
                co_await in.next();
              }).stream_bidi();
  ASSERT_TRUE(reached());
  rt->stop();
  const auto error = end_of(talk);
  EXPECT_EQ(error.code(), errc::unavailable);
  EXPECT_EQ(error.message(), "the connection was told to stop");
  EXPECT_TRUE(eventually([] { return witness::alive() == 0; }));
  EXPECT_EQ(seen(), errc::unavailable);
}

TEST_F(faults, nested_connection_killed) {
  auto inner = define([this](context, int_input in, int_output) -> task<> {
    reach();
    co_await in.next();
  });
  auto outer = rt->define_bidi_flow(
    "outer", [inner](context ctx, int_input, int_output) -> task<int> {
      const witness here;
      auto deep = co_await inner.open(ctx);
      co_await deep.next();
      co_return 0;
    });
  auto talk = outer.stream_bidi();
  ASSERT_TRUE(reached());
  kill_host();
  expect_end(talk, errc::aborted, "the connection was killed");
}

TEST_F(faults, nested_body_throws) {
  auto inner = define([](context, int_input, int_output) -> task<> {
    throw status_error{errc::out_of_range, "too deep"};
    co_return;
  });
  auto outer = rt->define_bidi_flow(
    "outer", [inner](context ctx, int_input, int_output) -> task<int> {
      const witness here;
      auto deep = co_await inner.open(ctx);
      co_return co_await deep.output();
    });
  auto talk = outer.stream_bidi();
  expect_end(talk, errc::out_of_range, "too deep");
}

// -- the client ---------------------------------------------------------------

TEST_F(faults, client_sink_killed_while_body_waits_on_input) {
  auto talk
    = open_mortal(define([this](context, int_input in, int_output) -> task<> {
        reach();
        co_await in.next();
      }));
  ASSERT_TRUE(reached());
  kill_client();
  expect_end(talk, errc::unavailable, "the connection can no longer be heard");
  EXPECT_EQ(seen(), errc::cancelled);
}

TEST_F(faults, client_sink_killed_while_body_waits_on_credit) {
  auto talk
    = open_mortal(define([this](context, int_input, int_output out) -> task<> {
        reach();
        for (;;)
          co_await out.send(1);
      }));
  ASSERT_TRUE(reached());
  kill_client();
  expect_end(talk, errc::unavailable, "the connection can no longer be heard");
  EXPECT_EQ(seen(), errc::cancelled);
}

TEST_F(faults, send_after_close) {
  auto talk = define_counter().stream_bidi();
  talk.send(3);
  talk.close();
  const auto error = error_of([&] { talk.send(4); });
  EXPECT_EQ(error.code(), errc::failed_precondition);
  EXPECT_EQ(error.message(), "the input is closed");
  EXPECT_EQ(talk.output(patience), 3) << "the conversation goes on";
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(faults, send_after_completion) {
  auto talk = define([](context, int_input, int_output) -> task<> {
                co_return;
              }).stream_bidi();
  EXPECT_EQ(talk.output(patience), 7);
  const auto error = error_of([&] { talk.send(4); });
  EXPECT_EQ(error.code(), errc::failed_precondition);
  EXPECT_EQ(error.message(), "the connection has finished");
  EXPECT_EQ(talk.output(patience), 7);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(faults, send_after_cancel) {
  auto talk = define_counter().stream_bidi();
  talk.cancel();
  const auto error = error_of([&] { talk.send(4); });
  EXPECT_EQ(error.code(), errc::cancelled);
  EXPECT_EQ(error.message(), "the connection was cancelled");
  expect_end(talk, errc::cancelled, "the client cancelled");
}

// After the end of a connection, `send` reports its reason to every client.

namespace {

/// Waits for the end of a connection, and checks the error of its next `send`.
template <class Talk>
void expect_send_says(Talk talk, errc code) {
  ASSERT_TRUE(talk.wait_until_done(patience));
  EXPECT_EQ(code_from([&] { talk.output(patience); }), code);
  EXPECT_EQ(code_from([&] { talk.send(4); }), code);
  EXPECT_EQ(code_from([&] { talk.send_within(0s, 4); }), code);
  talk.close();
  EXPECT_EQ(code_from([&] { talk.send(4); }), errc::failed_precondition);
}

} // namespace

TEST_F(faults, send_after_a_deadline) {
  const auto counter = define_counter();
  expect_send_says(counter.stream_bidi(with_deadline(1ms)),
                   errc::deadline_exceeded);
  expect_send_says(rt->stream_bidi("/bidi-flow/counter", with_deadline(1ms)),
                   errc::deadline_exceeded);
}

TEST_F(faults, send_after_the_runtime_has_stopped) {
  const auto counter = define_counter();
  auto talk = counter.stream_bidi();
  auto by_key = rt->stream_bidi("/bidi-flow/counter");
  rt->stop();
  expect_send_says(std::move(talk), errc::unavailable);
  expect_send_says(std::move(by_key), errc::unavailable);
}

TEST_F(faults, send_after_the_body_has_failed) {
  auto talk = define([](context, int_input in, int_output) -> task<> {
                co_await in.next();
                throw status_error{errc::out_of_range, "too far"};
              }).stream_bidi();
  talk.send(1);
  expect_send_says(std::move(talk), errc::out_of_range);
}

TEST_F(faults, send_after_a_take_over) {
  const auto sum = define_agent(
    *rt, "sum",
    [](context, session<int>, input<int> in, responder<int>) -> task<> {
      while (co_await in.next())
        ;
    },
    with_session_store(spawn_memory_store(system)));
  auto first = sum.stream_bidi(with_session_id("s"));
  const auto second = sum.stream_bidi(with_session_id("s"), with_take_over{});
  expect_send_says(std::move(first), errc::cancelled);
}

TEST_F(faults, send_of_a_body_after_a_deadline_or_a_failure) {
  const auto counter = define_counter();
  const auto failing = rt->define_bidi_flow(
    "failing", [](context, int_input, int_output) -> task<int> {
      throw status_error{errc::out_of_range, "too far"};
      co_return 0;
    });
  const auto caller = rt->define_bidi_flow(
    "caller", [=](context ctx, int_input, output<int> out) -> task<> {
      auto late = co_await counter.open(ctx, with_deadline(1ms));
      const auto no_answer = co_await as_expected(late.output());
      const auto refused_late = co_await as_expected(late.send(1));
      auto failed = co_await failing.open(ctx);
      const auto no_output = co_await as_expected(failed.output());
      const auto refused = co_await as_expected(failed.send(1));
      const caf::error heard[] = {no_answer.error(), refused_late.error(),
                                  no_output.error(), refused.error()};
      for (const auto& x : heard)
        co_await out.send(static_cast<int>(code_of(x)));
    });
  auto talk = caller.stream_bidi();
  talk.close();
  const auto late = static_cast<int>(errc::deadline_exceeded);
  const auto failed = static_cast<int>(errc::out_of_range);
  EXPECT_EQ(read_turn(talk), (std::vector{late, late, failed, failed}));
}

} // namespace tertulia::test::faults_tests
