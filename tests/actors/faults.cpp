// SPDX-License-Identifier: BSD-3-Clause

// Ends of a connection: whatever fails, the client receives one error, the body
// unwinds and no actor is left behind.

#include "support/faults.hpp"

#include <tertulia/define_agent.hpp>
#include <tertulia/memory_store.hpp>

#include <tuple>
#include <vector>

using namespace std::literals;

namespace tertulia::test::faults_tests {

namespace {

using int_input = input<int>;
using int_output = output<int>;

struct waiting_body;

/// Wait during which an event happens. The body never goes on by itself.
struct moment {
  const char* name;
  task<> (*wait)(waiting_body&, context, int_input, int_output);
};

/// What happens to a connection, and what follows from it.
struct event {
  const char* name;
  void (*happen)(waiting_body&);
  errc code;           ///< of every call of the client
  const char* message; ///< of that error
  errc body;           ///< what the body receives; `ok` if it is destroyed
};

/// Row of the table of moment x event.
struct waiting_body : faults,
                      ::testing::WithParamInterface<std::tuple<moment, event>> {
  void stop() {
    rt->stop();
  }

  bidi_flow<nothing, std::string, std::string, std::string> inner
    = define_echo();
  caf::actor silent = system.spawn<caf::hidden>(
    [](caf::event_based_actor* self) -> caf::behavior {
      self->set_default_handler(caf::skip);
      return {[](caf::get_atom) {}};
    });
  std::optional<talk_type> talk;
};

constexpr moment moments[] = {
  {"input",
   [](waiting_body& test, context, int_input in, int_output) -> task<> {
     test.reach();
     co_await in.next();
   }},
  {"credit",
   [](waiting_body& test, context, int_input, int_output out) -> task<> {
     test.reach();
     for (;;)
       co_await out.send(1);
   }},
  {"sleep",
   [](waiting_body& test, context ctx, int_input, int_output) -> task<> {
     test.reach();
     co_await ctx.sleep(1h);
   }},
  {"ask",
   [](waiting_body& test, context ctx, int_input, int_output) -> task<> {
     test.reach();
     co_await ctx.ask<int>(test.silent, 1h, 1);
   }},
  {"blocking_call", // which refers to the frame, and stops on request
   [](waiting_body& test, context ctx, int_input, int_output) -> task<> {
     int on_the_frame = 0;
     co_await ctx.run_blocking([&](std::stop_token stop) {
       test.reach();
       while (!stop.stop_requested())
         ++on_the_frame;
     });
   }},
  {"nested_chunk",
   [](waiting_body& test, context ctx, int_input, int_output) -> task<> {
     auto deep = co_await test.inner.open(ctx);
     test.reach();
     co_await deep.next();
   }},
  {"nested_output",
   [](waiting_body& test, context ctx, int_input, int_output) -> task<> {
     auto deep = co_await test.inner.open(ctx);
     test.reach();
     co_await deep.output();
   }},
  {"several",
   [](waiting_body& test, context ctx, int_input in, int_output) -> task<> {
     test.reach();
     co_await when_all(in.next(), ctx.sleep(1h), ctx.sleep(2h));
   }},
};

constexpr const char* stopped = "the connection was stopped";

constexpr event events[] = {
  {"cancel", [](waiting_body& test) { test.talk->cancel(); }, errc::cancelled,
   "the client cancelled", errc::cancelled},
  {"drop", [](waiting_body& test) { test.talk.reset(); }, errc::ok, "",
   errc::cancelled},
  {"deadline", [](waiting_body&) {}, errc::deadline_exceeded,
   "the connection's deadline has passed", errc::deadline_exceeded},
  {"death_of_the_client", [](waiting_body& test) { test.kill_client(); },
   errc::unavailable, "the receiver of the connection has ended",
   errc::cancelled},
  {"death_of_the_connection", [](waiting_body& test) { test.kill_host(); },
   errc::aborted, "the connection was killed", errc::ok},
  {"exit_of_the_connection",
   [](waiting_body& test) { test.kill_host(caf::exit_reason::user_shutdown); },
   errc::unavailable, stopped, errc::unavailable},
  {"stop_of_the_runtime", [](waiting_body& test) { test.stop(); },
   errc::unavailable, stopped, errc::unavailable},
};

} // namespace

TEST_P(waiting_body, ends_with_its_connection) {
  const auto [when, what] = GetParam();
  const auto flow = define(
    [this, wait = when.wait](context ctx, int_input in, int_output out) {
      return wait(*this, ctx, in, out);
    });
  if (what.code == errc::deadline_exceeded) {
    talk = flow.stream_bidi(with_deadline(20ms));
  } else {
    talk = open_mortal(flow);
    ASSERT_TRUE(reached());
  }
  what.happen(*this);
  if (talk)
    expect_error(*talk, what.code, what.message);
  EXPECT_TRUE(eventually([] { return witness::alive() == 0; }));
  if (what.name != "stop_of_the_runtime"s) { // its front desk is gone, too
    EXPECT_TRUE(nothing_is_left());
  }
  EXPECT_EQ(seen(), what.body);
}

INSTANTIATE_TEST_SUITE_P(faults, waiting_body,
                         ::testing::Combine(::testing::ValuesIn(moments),
                                            ::testing::ValuesIn(events)),
                         [](const auto& x) {
                           return "on_"s + std::get<moment>(x.param).name
                                  + "_at_" + std::get<event>(x.param).name;
                         });

TEST_F(faults, deadline_while_body_waits_on_credit_takes_no_chunk) {
  auto talk = define([](context, int_input, int_output out) -> task<> {
                for (;;)
                  co_await out.send(1);
              }).stream_bidi(with_deadline(20ms));
  ASSERT_TRUE(talk.wait_until_done(patience));
  int count = 0;
  EXPECT_EQ(code_from([&] {
              for ([[maybe_unused]] auto chunk : talk.responses(patience))
                ++count;
            }),
            errc::deadline_exceeded);
  EXPECT_EQ(count, 64) << "what was sent before comes before";
}

TEST_F(faults, deadline_while_body_never_waits) {
  // A body that computes blocks its actor: the deadline takes effect at its
  // next wait.
  auto talk = define([](context ctx, int_input in, int_output) -> task<> {
                const auto end = std::chrono::steady_clock::now() + 30ms;
                while (std::chrono::steady_clock::now() < end)
                  ;
                EXPECT_TRUE(ctx.deadline());
                co_await in.next();
              }).stream_bidi(with_deadline(1ms));
  expect_end(talk, errc::deadline_exceeded,
             "the connection's deadline has passed");
}

// -- the body -----------------------------------------------------------------

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

TEST_F(faults, body_turns_a_cancel_into_another_end) {
  for (const auto* end : {"error", "result"}) {
    auto talk = define([end](context, int_input in, int_output) -> task<> {
                  const auto next = co_await as_expected(in.next());
                  if (end == "error"s)
                    throw status_error{errc::internal, "clean-up failed"};
                }).stream_bidi();
    talk.cancel();
    expect_end(talk, errc::cancelled, "the client cancelled");
  }
}

TEST_F(faults, body_actor_dies_or_is_left) {
  const auto flow = define_actor_body();
  auto killed = flow.stream_bidi();
  ASSERT_TRUE(reached());
  kill_host();
  expect_end(killed, errc::aborted,
             "the connection was lost: exit_reason(kill)");
  {
    auto talk = flow.stream_bidi();
    talk.send(3);
    EXPECT_EQ(*talk.responses(patience).begin(), 3);
  }
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(faults, nested_connection_ends) {
  for (const auto* end : {"error", "death"}) {
    const auto throws = end == "error"s;
    const auto nested
      = define([this, throws](context, int_input in, int_output) -> task<> {
          if (throws)
            throw status_error{errc::out_of_range, "too deep"};
          reach();
          co_await in.next();
        });
    auto talk = rt->new_bidi_action("outer",
                                    [nested](context ctx, int_input,
                                             int_output) -> task<int> {
                                      const witness here;
                                      auto deep = co_await nested.open(ctx);
                                      co_return co_await deep.output();
                                    })
                  .stream_bidi();
    if (!throws) {
      ASSERT_TRUE(reached());
      kill_host();
    }
    expect_end(talk, throws ? errc::out_of_range : errc::aborted,
               throws ? "too deep" : "the connection was killed");
  }
}

// -- inputs that come too late ------------------------------------------------

TEST_F(faults, send_after_close) {
  auto talk = define_counter().stream_bidi();
  talk.send(3);
  talk.close();
  const auto error = error_of([&] { talk.send(4); });
  EXPECT_EQ(error.code(), errc::failed_precondition);
  EXPECT_EQ(error.message(), "the input is closed");
  EXPECT_EQ(talk.output(patience), 3) << "the conversation goes on";
  EXPECT_EQ(code_from([&] { talk.send(4); }), errc::failed_precondition);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(faults, send_after_completion) {
  auto talk = define([](context, int_input, int_output) -> task<> {
                co_return;
              }).stream_bidi();
  EXPECT_TRUE(talk.wait_until_done(patience));
  const auto error = error_of([&] { talk.send(4); });
  EXPECT_EQ(error.code(), errc::failed_precondition);
  EXPECT_EQ(error.message(), "the connection has finished");
  talk.close();
  talk.cancel(); // too late
  EXPECT_EQ(code_from([&] { talk.send(4); }), errc::failed_precondition);
  EXPECT_EQ(talk.output(patience), 7);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(faults, send_after_cancel) {
  auto talk = define_counter().stream_bidi();
  talk.cancel();
  const auto error = error_of([&] { talk.send(4); });
  EXPECT_EQ(error.code(), errc::cancelled);
  EXPECT_EQ(error.message(), "the connection was cancelled");
  talk.cancel();
  talk.close();
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
    [](context, agent_session<int>, input<int> in,
       agent_responder<int>) -> task<> {
      while (co_await in.next())
        ;
    },
    with_snapshot_store(spawn_memory_store(system)));
  auto first = sum.stream_bidi(with_session_id("s"));
  const auto second = sum.stream_bidi(with_session_id("s"), with_take_over{});
  expect_send_says(std::move(first), errc::cancelled);
}

TEST_F(faults, send_of_a_body_after_a_deadline_or_a_failure) {
  const auto counter = define_counter();
  const auto failing = define([](context, int_input, int_output) -> task<> {
    throw status_error{errc::out_of_range, "too far"};
    co_return;
  });
  const auto caller = rt->define_bidi_flow(
    "caller", [=](context ctx, int_input, output<int> out) -> task<> {
      auto late = co_await counter.open(ctx, with_deadline(1ms));
      const auto no_answer = co_await as_expected(late.output());
      const auto refused_late = co_await as_expected(late.send(1));
      auto failed = co_await failing.open(ctx);
      const auto no_output = co_await as_expected(failed.output());
      const auto refused = co_await as_expected(failed.send(1));
      const caf::error received[] = {no_answer.error(), refused_late.error(),
                                     no_output.error(), refused.error()};
      for (const auto& x : received)
        co_await out.send(static_cast<int>(code_of(x)));
    });
  auto talk = caller.stream_bidi();
  talk.close();
  const auto late = static_cast<int>(errc::deadline_exceeded);
  const auto failed = static_cast<int>(errc::out_of_range);
  EXPECT_EQ(read_turn(talk), (std::vector{late, late, failed, failed}));
}

} // namespace tertulia::test::faults_tests
