// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/timer.hpp>
#include <tertulia/span_recorder.hpp>

#include "support/flows.hpp"

using namespace std::literals;

namespace tertulia::test::context_tests {

namespace {

struct context_time : flows {
  /// Returns whether a timer is armed besides that of `arm_brief`, which comes
  /// first and fires now: the clock would then keep ticking.
  bool ticks_on() {
    advance(1s);
    EXPECT_EQ(brief_->code(), errc::ok);
    return sched.clock().has_pending_timeout();
  }

  void arm_brief() {
    brief_.emplace(system, rt->front_desk(), define_sleeper(1s));
  }

  /// Defines a flow that sleeps.
  bidi_flow<nothing, int, nothing, int> define_sleeper(caf::timespan time) {
    return define([time](context ctx, input<int>, output<int>) -> task<> {
      co_await ctx.sleep(time);
    });
  }

private:
  std::optional<recording_client<int, nothing, int>> brief_;
};

struct context_trace : flows {
  /// Returns the names of the children, in the order in which they ended.
  std::vector<std::string> children(const std::string& parent) {
    std::vector<std::string> result;
    if (const auto of = recorder->find(parent))
      for (const auto& x : recorder->children_of(of->context.span))
        result.push_back(x->name);
    return result;
  }

  std::shared_ptr<span_recorder> recorder = std::make_shared<span_recorder>();
  tracer::subscription listening = rt->traces().listen(recorder);
};

} // namespace

// -- sleep --------------------------------------------------------------------

TEST_F(context_time, a_sleep_lasts_as_long_as_was_said) {
  auto client = open(define_sleeper(1s));
  advance(999ms);
  EXPECT_EQ(client.received().ends, 0u);
  advance(1ms);
  EXPECT_EQ(client.code(), errc::ok);
}

TEST_F(context_time, a_sleep_of_nothing_or_less_does_not_wait) {
  auto client = open_to([](context ctx, input<int>, output<int>) -> task<> {
    co_await ctx.sleep(0s);
    co_await ctx.sleep(-1s);
  });
  EXPECT_EQ(client.code(), errc::ok);
}

TEST_F(context_time, a_sleep_may_last_for_ever) {
  auto client = open(define_sleeper(caf::timespan::max()));
  advance(24h);
  EXPECT_EQ(client.received().ends, 0u);
  client.cancel();
  EXPECT_EQ(client.code(), errc::cancelled);
}

TEST_F(context_time, sleepers_wake_in_the_order_of_their_times) {
  std::vector<int> woken;
  const auto sleeper = [](context ctx, int seconds, std::vector<int>& woken) //
    -> task<> {
    co_await ctx.sleep(seconds * 1s);
    woken.push_back(seconds);
  };
  auto client = open_to([&](context ctx, input<int>, output<int>) -> task<> {
    co_await when_all(sleeper(ctx, 3, woken), sleeper(ctx, 1, woken),
                      sleeper(ctx, 2, woken));
  });
  for (int i = 0; i < 3; ++i)
    advance(1s);
  EXPECT_EQ(woken, (std::vector{1, 2, 3}));
  EXPECT_EQ(client.code(), errc::ok);
}

TEST_F(context_time, naps_beside_a_long_wait_pile_up_nothing) {
  auto client = open_to(
    [](context ctx, input<int>, output<int>) -> task<> {
      for (int i = 0; i < 100; ++i)
        co_await ctx.sleep(1s);
    },
    with_deadline(24h));
  for (int i = 0; i < 100; ++i) {
    EXPECT_LE(sched.clock().schedule().size(), 2u);
    advance(1s);
  }
  EXPECT_EQ(client.code(), errc::ok);
}

TEST_F(context_time, who_is_armed_twice_is_told_once_and_at_the_later_time) {
  detail::timer timer{system};
  int told = 0;
  const auto client
    = system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
        timer.arm(self->address(), 1, 1s);
        timer.arm(self->address(), 1, 3s);
        return {[&](caf::tick_atom, std::uint64_t) { ++told; }};
      });
  run();
  advance(1s);
  EXPECT_EQ(told, 0);
  advance(2s);
  EXPECT_EQ(told, 1);
  advance(10s);
  EXPECT_EQ(told, 1);
}

TEST_F(context_time, a_sleep_that_was_ended_leaves_no_timer_armed) {
  arm_brief();
  auto cancelled = open(define_sleeper(1h));
  auto killed = open(define_sleeper(1h), with_deadline(2h));
  cancelled.cancel();
  EXPECT_EQ(cancelled.code(), errc::cancelled);
  kill(killed.connection());
  EXPECT_EQ(killed.code(), errc::aborted);
  EXPECT_FALSE(ticks_on());
}

TEST_F(context_time, a_sleep_that_lost_a_race_leaves_no_timer_armed) {
  arm_brief();
  auto client = open_to([](context ctx, input<int> in, output<int>) -> task<> {
    co_await when_any(in.next(), ctx.sleep(1h));
    co_await in.next();
  });
  client.send(1);
  EXPECT_FALSE(ticks_on());
  EXPECT_EQ(client.received().ends, 0u);
}

TEST_F(context_time, a_question_that_was_given_up_leaves_no_timer_armed) {
  auto silent = system.spawn([](caf::event_based_actor* self) //
                             -> caf::behavior {
    auto owed = std::make_shared<caf::response_promise>();
    return {[=](int) -> caf::result<int> {
      *owed = self->make_response_promise();
      return caf::delegated<int>{};
    }};
  });
  arm_brief();
  auto client = open_to(
    [=](context ctx, input<int> in, output<int>) //
    -> task<> { co_await when_any(ctx.ask<int>(silent, 1h, 1), in.next()); });
  client.send(1);
  EXPECT_EQ(client.code(), errc::ok);
  EXPECT_FALSE(ticks_on());
  caf::anon_send_exit(silent, caf::exit_reason::kill);
}

// -- deadline -----------------------------------------------------------------

TEST_F(context_time, without_a_deadline_there_is_none) {
  auto client = open_to(
    [](context ctx, input<int>, output<int>) //
    -> task<bool> { co_return ctx.deadline().has_value() || ctx.cancelled(); });
  EXPECT_FALSE(client.output());
}

TEST_F(context_time, a_deadline_is_known_to_the_body_and_ends_it) {
  std::optional<caf::actor_clock::time_point> seen;
  bool cancelled = false;
  auto client = open_to(
    [&](context ctx, input<int> in, output<int>) -> task<> {
      seen = ctx.deadline();
      try {
        co_await in.next();
      } catch (const status_error& x) {
        cancelled = ctx.cancelled() && x.code() == errc::deadline_exceeded;
        throw;
      }
    },
    with_deadline(3s));
  EXPECT_EQ(seen, sched.clock().now() + 3s);
  advance(2999ms);
  EXPECT_EQ(client.received().ends, 0u);
  advance(1ms);
  EXPECT_EQ(client.code(), errc::deadline_exceeded);
  EXPECT_TRUE(cancelled);
}

TEST_F(context_time, a_deadline_may_be_as_far_as_time_goes) {
  auto client = open(define_sleeper(24h), with_deadline(caf::timespan::max()));
  advance(24h);
  EXPECT_EQ(client.code(), errc::ok);
}

TEST_F(context_time, a_body_that_ends_in_time_takes_its_deadline_with_it) {
  arm_brief();
  auto client = open_to([](context, input<int> in,
                           output<int>) -> task<> { co_await in.next(); },
                        with_deadline(1h));
  client.close();
  EXPECT_EQ(client.code(), errc::ok);
  EXPECT_FALSE(ticks_on());
}

// -- spans of connections -----------------------------------------------------

TEST_F(context_trace, a_connection_is_a_span_that_bears_the_actions_key) {
  auto client = open_to([](context ctx, input<int> in, output<int>) -> task<> {
    ctx.trace().set_attribute("colour", "blue");
    co_await in.next();
  });
  EXPECT_TRUE(recorder->spans().empty()) << "it ends with the body";
  client.close();
  const auto spans = recorder->spans();
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(spans[0]->name, "/bidi-flow/flow1");
  EXPECT_EQ(spans[0]->parent, std::nullopt);
  EXPECT_EQ(spans[0]->status, errc::ok);
  EXPECT_NE(spans[0]->find("colour"), nullptr);
}

TEST_F(context_trace, a_good_span_of_the_client_is_the_parent) {
  const span_context parent{trace_id::random(), span_id::random()};
  for (const auto& header : {parent.to_traceparent(), "00-nonsense"s}) {
    recorder->clear();
    auto client
      = open_to([](context, input<int>, output<int>) -> task<> { co_return; },
                with_trace_parent(header));
    const auto spans = recorder->spans();
    ASSERT_EQ(spans.size(), 1u);
    const auto good = header != "00-nonsense";
    EXPECT_EQ(spans[0]->parent,
              good ? std::optional{parent.span} : std::nullopt);
    EXPECT_EQ(spans[0]->context.trace == parent.trace, good);
  }
}

TEST_F(context_trace, a_body_that_fails_sets_the_error_of_its_span) {
  auto client = open_to([](context, input<int>, output<int>) -> task<> {
    throw status_error{errc::not_found, "no such thing"};
    co_return;
  });
  const auto span = recorder->find("/bidi-flow/flow1");
  ASSERT_NE(span, nullptr);
  EXPECT_EQ(span->status, errc::not_found);
  EXPECT_EQ(span->message, "no such thing");
}

TEST_F(context_trace, a_cancel_and_a_kill_end_the_span_with_an_error) {
  const auto flow = define(
    [](context, input<int> in, output<int>) -> task<> { co_await in.next(); });
  auto cancelled = open(flow);
  auto killed = open(flow);
  cancelled.cancel();
  kill(killed.connection());
  const auto spans = recorder->spans();
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0]->status, errc::cancelled);
  EXPECT_EQ(spans[1]->status, errc::aborted);
}

// -- run ----------------------------------------------------------------------

TEST_F(context_trace, steps_yield_what_their_functions_yield) {
  auto client = open_to([](context ctx, input<int>, output<int>) //
                        -> task<std::string> {
    const std::string captured = "captured ";
    auto plain = co_await ctx.run_step("plain", [&] { return captured; });
    co_await ctx.run_step("void", [] {});
    auto given = co_await ctx.run_step("coroutine",
                                       [&](context inner) -> task<std::string> {
                                         co_await inner.sleep(1s);
                                         co_return captured + "later";
                                       });
    co_await ctx.run_step("void coroutine", [](context inner) -> task<> {
      co_await inner.sleep(1s);
    });
    auto box
      = co_await ctx.run_step("box", [] { return std::make_unique<int>(7); });
    co_return plain + given + std::to_string(*box);
  });
  advance(1s);
  EXPECT_EQ(recorder->spans().size(), 3u);
  advance(1s);
  EXPECT_EQ(client.output(), "captured captured later7");
  EXPECT_EQ(
    children("/bidi-flow/flow1"),
    (std::vector{"plain"s, "void"s, "coroutine"s, "void coroutine"s, "box"s}));
}

TEST_F(context_trace, a_step_may_be_a_single_wait) {
  auto client = open_to([](context ctx, input<int> in, output<int>) //
                        -> task<int> {
    co_await ctx.run_step("nap", [](context inner) { return inner.sleep(1s); });
    const auto x = co_await ctx.run_step("input", [=] { return in.next(); });
    co_return *x;
  });
  client.send(4);
  EXPECT_EQ(client.received().ends, 0u);
  advance(1s);
  EXPECT_EQ(client.output(), 4);
  EXPECT_EQ(children("/bidi-flow/flow1"), (std::vector{"nap"s, "input"s}));
}

TEST_F(context_trace, steps_in_steps_are_children) {
  auto client = open_to([](context ctx, input<int>, output<int>) //
                        -> task<int> {
    co_return co_await ctx.run_step("outer", [](context outer) -> task<int> {
      const auto x = co_await outer.run_step("left", [] { return 1; });
      const auto y = co_await outer.run_step(
        "right",
        [](context right) //
        -> task<int> {
          right.trace().set_attribute("deep", true);
          co_return co_await right.run_step("leaf", [] { return 2; });
        });
      co_return x + y;
    });
  });
  EXPECT_EQ(client.output(), 3);
  EXPECT_EQ(children("/bidi-flow/flow1"), std::vector{"outer"s});
  EXPECT_EQ(children("outer"), (std::vector{"left"s, "right"s}));
  EXPECT_EQ(children("right"), std::vector{"leaf"s});
  EXPECT_NE(recorder->find("right")->find("deep"), nullptr);
  EXPECT_EQ(recorder->find("leaf")->context.trace,
            recorder->find("/bidi-flow/flow1")->context.trace);
}

TEST_F(context_trace, steps_side_by_side_are_siblings) {
  auto client = open_to([](context ctx, input<int>, output<int>) -> task<> {
    const auto wait = [](context inner) -> task<> { co_await inner.sleep(1s); };
    co_await when_all(ctx.run_step("one", wait), ctx.run_step("two", wait));
  });
  advance(1s);
  EXPECT_EQ(client.code(), errc::ok);
  EXPECT_EQ(children("/bidi-flow/flow1"), (std::vector{"one"s, "two"s}));
}

TEST_F(context_trace, a_step_that_throws_sets_the_error_of_its_span) {
  auto client = open_to([](context ctx, input<int>, output<int>) -> task<> {
    try {
      co_await ctx.run_step("bad",
                            [] { throw std::runtime_error{"bad luck"}; });
    } catch (const std::runtime_error&) {
      // A foreign exception keeps its type.
    }
    co_await ctx.run_step("worse", [](context inner) -> task<> {
      co_await inner.run_step("worst", [] {
        throw status_error{errc::data_loss, "gone"};
      });
    });
  });
  EXPECT_EQ(client.code(), errc::data_loss);
  EXPECT_EQ(recorder->find("bad")->status, errc::internal);
  EXPECT_EQ(recorder->find("bad")->message, "bad luck");
  EXPECT_EQ(recorder->find("worst")->status, errc::data_loss);
  EXPECT_EQ(recorder->find("worse")->status, errc::data_loss);
  EXPECT_EQ(recorder->find("/bidi-flow/flow1")->status, errc::data_loss);
}

TEST_F(context_trace, a_step_that_is_cancelled_ends_with_cancelled) {
  auto client = open_to([](context ctx, input<int>, output<int>) -> task<> {
    co_await when_any(
      ctx.run_step("slow",
                   [](context inner) -> task<> { co_await inner.sleep(1h); }),
      ctx.sleep(1s));
  });
  advance(1s);
  EXPECT_EQ(client.code(), errc::ok);
  EXPECT_EQ(recorder->find("slow")->status, errc::cancelled);
}

TEST_F(context_trace, nothing_is_recorded_when_nobody_listens) {
  listening.stop();
  auto client = open_to([](context ctx, input<int>, output<int>) //
                        -> task<bool> {
    const auto idle
      = co_await ctx.run_step("step", [](context inner) -> task<bool> {
          co_return inner.trace().context() == nullptr;
        });
    co_return idle&& ctx.trace().context() == nullptr;
  });
  EXPECT_TRUE(client.output());
  EXPECT_TRUE(recorder->spans().empty());
}

} // namespace tertulia::test::context_tests
