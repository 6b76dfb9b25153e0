// SPDX-License-Identifier: BSD-3-Clause

// The end of a run that is alone, and the bounds of its log.

#include "support/kept_run_flows.hpp"

using namespace std::literals;

namespace tertulia::test::kept_run_ends_tests {

namespace {

using kept_run_ends = kept_run_flows;

} // namespace

// -- the end of a run that is alone -------------------------------------------

TEST_F(kept_run_ends, the_end_waits_for_a_client) {
  const auto writer = define_writer();
  auto first = open(writer, with_keep());
  first.send(3);
  const auto place = first.detach();
  advance(1s);
  advance(1s);
  advance(1s);
  EXPECT_EQ(witness::alive(), 0) << "the body has returned";
  advance(9min);
  auto second = open(writer, with_cursor(place));
  EXPECT_EQ(second.received().chunks, texts(1, 3));
  EXPECT_EQ(second.output(), 3);
  auto third = open(writer, with_cursor(place));
  EXPECT_EQ(code_of(third.received().refused), errc::not_found)
    << "the end was heard";
}

TEST_F(kept_run_ends, an_end_that_nobody_hears_is_forgotten) {
  {
    auto first = open(define_writer(), with_keep());
    first.send(1);
    first.detach();
  }
  run();
  advance(1s);
  EXPECT_EQ(witness::alive(), 0) << "the body has returned";
  advance(9min);
  EXPECT_EQ(extra_actors(), 1u);
  advance(2min);
  EXPECT_EQ(extra_actors(), 0u);
}

TEST_F(kept_run_ends,
       a_run_without_a_client_is_cancelled_after_the_grace_period) {
  const auto counter = define_counter();
  auto first = open(counter, with_keep(1min));
  first.detach();
  advance(50s);
  auto second = open(counter, with_cursor(first.position()));
  advance(1h);
  EXPECT_EQ(witness::alive(), 1) << "a client is here";
  second.detach();
  advance(50s);
  EXPECT_EQ(witness::alive(), 1);
  advance(11s);
  EXPECT_EQ(witness::alive(), 0);
}

TEST_F(kept_run_ends, a_run_without_a_grace_period_waits_for_ever) {
  const auto counter = define_counter();
  auto first = open(counter, with_keep());
  first.send(0);
  first.die();
  advance(24h * 365);
  EXPECT_EQ(witness::alive(), 1);
}

TEST_F(kept_run_ends,
       a_definition_keeps_the_runs_of_clients_that_do_not_choose) {
  const auto waiter = [](context, input<int> in, output<int>) -> task<int> {
    const witness here;
    co_return (co_await in.next()).value_or(0);
  };
  const auto flow
    = rt->define_bidi_flow("flow", waiter, "Waits", with_keep(1min));
  const auto action
    = rt->define_bidi_action("action", waiter, "Waits", with_keep());
  auto first = open(flow);
  auto second = open(action);
  auto third = open(flow, without_keep{});
  EXPECT_EQ(witness::alive(), 3);
  third.die();
  run();
  EXPECT_EQ(witness::alive(), 2) << "its client has chosen";
  first.detach();
  second.detach();
  advance(50s);
  EXPECT_EQ(witness::alive(), 2);
  advance(11s);
  EXPECT_EQ(witness::alive(), 1) << "the grace period is over";
  advance(24h);
  EXPECT_EQ(witness::alive(), 1);
  auto fourth = open(action, with_cursor(second.position()));
  fourth.send(7);
  EXPECT_EQ(fourth.output(), 7);
  EXPECT_EQ(code_from([&] {
              (void)rt->define_bidi_flow("none", waiter, "", with_keep(0s));
            }),
            errc::invalid_argument);
}

TEST_F(kept_run_ends, a_run_whose_client_never_said_a_word_is_cancelled) {
  auto client = open(define_counter(), with_keep());
  client.die();
  advance(50s);
  EXPECT_EQ(witness::alive(), 1) << "its answer may have been lost";
  advance(11s);
  EXPECT_EQ(witness::alive(), 0) << "nobody knows its name";
  EXPECT_EQ(extra_actors(), 0u);
}

TEST_F(kept_run_ends, a_client_that_reads_the_end_slowly_reads_it_all) {
  const auto writer = define_writer();
  auto first = open(writer, with_keep(30s));
  first.send(5);
  first.detach();
  for (int i = 0; i < 5; ++i)
    advance(1s);
  EXPECT_EQ(witness::alive(), 0) << "the body has returned";
  auto second
    = open(writer, with_cursor(begin_of(first)), with_chunk_window(1));
  for (int i = 0; i < 4; ++i) {
    advance(1h);
    second.grant(1);
  }
  EXPECT_EQ(second.received().chunks, texts(0, 5));
  EXPECT_EQ(second.output(), 5);
}

TEST_F(kept_run_ends, a_body_attaches_to_the_run_that_it_has_left) {
  const auto counter = define_counter();
  auto outer = open_body([counter](context ctx) -> task<int> {
    const with_keep kept;
    auto a = co_await counter.open(ctx, kept);
    co_await a.send(3);
    (void)co_await a.next();
    const with_cursor place{a.detach()};
    auto b = co_await counter.open(ctx, place);
    int sum = 0;
    while (const auto x = co_await b.next())
      sum = sum * 10 + *x;
    b.close();
    const auto inputs = co_await b.output();
    co_return sum * 10 + inputs;
  });
  EXPECT_EQ(outer.code(), errc::ok);
  EXPECT_EQ(outer.output(), 121);
}

TEST_F(kept_run_ends, a_body_listens_to_a_run_and_cannot_end_it) {
  const auto counter = define_counter();
  auto talker = open(counter, with_keep(), with_chunk_window(10));
  talker.send(2);
  auto outer
    = open_body([counter, at = begin_of(talker)](context ctx) -> task<int> {
        const with_cursor place{at};
        const as_listener listens;
        auto talk = co_await counter.open(ctx, place, listens);
        int sum = 0;
        while (const auto x = co_await talk.next())
          sum = sum * 10 + *x;
        talk.cancel(); // it only leaves
        co_return sum;
      });
  EXPECT_EQ(outer.output(), 1);
  talker.send(1);
  talker.close();
  EXPECT_EQ(talker.output(), 2);
}

TEST_F(kept_run_ends, a_body_that_cancels_ends_the_run_for_everybody) {
  const auto counter = define_counter();
  auto talker = open(counter, with_keep());
  auto outer
    = open_body([counter, at = begin_of(talker)](context ctx) -> task<int> {
        const with_cursor place{at};
        auto talk = co_await counter.open(ctx, place);
        talk.cancel();
        co_return co_await talk.output();
      });
  EXPECT_EQ(outer.code(), errc::cancelled);
  EXPECT_EQ(talker.code(), errc::aborted) << "it was replaced before";
  EXPECT_EQ(witness::alive(), 0);
}

TEST_F(kept_run_ends, a_body_reads_a_run_once_at_a_time) {
  const auto counter = define_counter();
  auto outer = open_body([counter](context ctx) -> task<int> {
    const with_keep kept;
    auto a = co_await counter.open(ctx, kept);
    const with_run run{a.position().run};
    const as_listener listens;
    (void)co_await counter.open(ctx, run, listens);
    co_return 0;
  });
  EXPECT_EQ(outer.code(), errc::failed_precondition);
}

TEST_F(kept_run_ends, a_runtime_that_stops_does_not_wait_for_clients) {
  const auto counter = define_counter();
  auto first = open(counter, with_keep());
  auto second = open(counter, with_keep());
  first.detach();
  second.post_close();
  second.post_detach();
  run();
  stop_runtime();
  EXPECT_EQ(witness::alive(), 0);
}

TEST_F(kept_run_ends, an_abort_ends_the_run_for_everybody) {
  const auto counter = define_counter();
  auto talker = open(counter, with_keep());
  auto listener = open(counter, with_run(talker.position().run), as_listener{});
  caf::anon_send(rt->front_desk(),
                 run_request{run_verb::abort, talker.position().run, {}, {}});
  run();
  EXPECT_EQ(talker.code(), errc::aborted);
  EXPECT_EQ(listener.code(), errc::aborted);
  EXPECT_EQ(witness::alive(), 0);
}

TEST_F(kept_run_ends, a_body_that_only_sends_can_be_ended_while_it_is_alone) {
  const auto endless = rt->define_bidi_flow(
    "endless", [](context, input<int>, output<int> out) -> task<int> {
      const witness here;
      for (int i = 0; i < 5'000'000; ++i) {
        co_await out.send(i);
        co_await out.end_turn();
      }
      co_return 0;
    });
  auto first = open(endless, with_keep(), with_chunk_window(2));
  const auto id = first.position().run;
  caf::anon_send(rt->front_desk(), run_request{run_verb::abort, id, {}, {}});
  first.detach(); // before the abort has arrived
  EXPECT_EQ(witness::alive(), 0);
  auto second = open(endless, with_run(id));
  EXPECT_EQ(second.code(), errc::aborted);
}

// -- bounds -------------------------------------------------------------------

TEST_F(kept_run_ends, a_position_that_the_log_has_lost_is_named) {
  const auto library = define_library();
  auto talker = open(library, with_keep(), with_chunk_window(max_window));
  talker.send(300);
  talker.send(3);
  auto late = open(library, with_cursor({talker.position().run, 5}));
  ASSERT_EQ(code_of(late.received().refused), errc::out_of_range);
  const auto details
    = parse_json<json>(to_status(late.received().refused).details());
  EXPECT_EQ(details.at("number"), 301);
  EXPECT_EQ(details.at("run"), to_string(talker.position().run));
  auto again
    = open(library, with_cursor({talker.position().run,
                                 details.at("number").get<std::uint64_t>()}));
  EXPECT_EQ(again.received().chunks, texts(300, 303));
  auto early = open(library, with_cursor({talker.position().run, 99'999}));
  EXPECT_EQ(code_of(early.received().refused), errc::out_of_range);
}

TEST_F(kept_run_ends, turns_within_the_bound_are_held) {
  const auto library = define_library();
  auto talker = open(library, with_keep());
  for (int turn = 0; turn < 1'000; ++turn)
    talker.send(10, 11);
  // A turn takes about 11 KiB: the bound holds some 23 of them.
  auto found = open(library, with_cursor({talker.position().run, 10'900}));
  EXPECT_EQ(found.received().next, 10'964u);
  auto lost = open(library, with_cursor({talker.position().run, 10'700}));
  EXPECT_EQ(code_of(lost.received().refused), errc::out_of_range);
}

TEST_F(kept_run_ends, a_listener_that_falls_behind_the_log_is_told) {
  const auto library = define_library();
  auto talker = open(library, with_keep(), with_chunk_window(max_window));
  auto listener = open(library, with_run(talker.position().run), as_listener{},
                       with_chunk_window(2));
  talker.send(300);
  EXPECT_FALSE(listener.received().end);
  talker.send(1);
  listener.grant(1);
  ASSERT_TRUE(listener.received().end);
  EXPECT_EQ(listener.code(), errc::out_of_range);
  EXPECT_NE(listener.error().details().find("301"), std::string::npos);
  EXPECT_EQ(listener.received().chunks, texts(0, 2));
}

TEST_F(kept_run_ends, a_body_looks_for_a_run_and_aborts_it) {
  const auto counter = define_counter();
  auto talker = open(counter, with_keep());
  const auto run = talker.position().run;
  const auto judge = define(
    [=](context ctx, input<int>, output<std::string> out) -> task<int> {
      const auto seen = co_await counter.find_run(ctx, run);
      co_await out.send(std::string{to_string(seen.status)});
      const auto before = co_await counter.abort(ctx, run);
      co_await out.send(std::string{to_string(before.status)});
      co_await counter.abort(ctx, run_id{"none"});
      co_return 0;
    });
  auto client = open(judge);
  EXPECT_EQ(client.received().chunks,
            (std::vector<std::string>{"running", "running"}));
  EXPECT_EQ(client.code(), errc::not_found);
  EXPECT_EQ(talker.code(), errc::aborted);
}

TEST_F(kept_run_ends, the_last_turn_is_held_until_the_next_one_begins) {
  const auto library = define_library();
  auto talker = open(library, with_keep(), with_chunk_window(1'000));
  talker.send(1'500);
  auto listener = open(library, with_cursor(begin_of(talker)), as_listener{},
                       with_chunk_window(1'000));
  EXPECT_EQ(listener.received().chunks, texts(0, 1'000));
  talker.grant(1'000);
  EXPECT_EQ(talker.received().turns, 1u);
  listener.grant(500);
  EXPECT_EQ(listener.received().chunks, texts(0, 1'500))
    << "the turn is over, and longer than the bound of older ones";
  auto late = open(library, with_cursor(begin_of(talker)), as_listener{},
                   with_chunk_window(10));
  EXPECT_EQ(late.received().chunks, texts(0, 10));
  talker.send(1);
  late.grant(1);
  EXPECT_EQ(late.code(), errc::out_of_range);
}

TEST_F(kept_run_ends, a_turn_without_a_reader_is_held_up_to_its_bound) {
  const auto library = define_library();
  auto first = open(library, with_keep(), with_chunk_window(1));
  first.send(6'000);
  first.detach(); // the turn goes on alone, to its end
  auto second = open(library, with_run(first.position().run));
  EXPECT_EQ(second.received().open->attached.next, 6'001u);
  const auto endless
    = define([](context ctx, input<int>, output<std::string> out) -> task<int> {
        for (int i = 0; i < 6'000; ++i)
          co_await out.send(text_of(i));
        co_await ctx.sleep(1h);
        co_return 0;
      });
  auto third = open(endless, with_keep(), with_chunk_window(1));
  third.die();
  auto early = open(endless, with_cursor({third.position().run, 1}));
  ASSERT_EQ(code_of(early.received().refused), errc::out_of_range);
  const auto details
    = parse_json<json>(to_status(early.received().refused).details());
  const auto number = details.at("number").get<std::uint64_t>();
  EXPECT_GT(number, 2'000u);
  EXPECT_LT(number, 3'500u);
  auto late = open(endless, with_cursor({third.position().run, number}),
                   with_chunk_window(max_window));
  EXPECT_EQ(late.received().chunks, texts(static_cast<int>(number), 6'000));
}

TEST_F(kept_run_ends, what_the_talker_has_not_heard_is_not_dropped) {
  const auto library = define_library();
  auto first = open(library, with_keep(), with_chunk_window(max_window));
  first.send(300);
  first.send(1);
  auto second = open(library, with_cursor(begin_of(first)));
  ASSERT_EQ(code_of(second.received().refused), errc::out_of_range)
    << "another turn has followed";
  first.die();
  auto third
    = open(library, with_run(first.position().run), with_chunk_window(4));
  third.send(10'000);
  EXPECT_EQ(third.received().chunks, texts(301, 305));
  third.grant(max_window);
  EXPECT_EQ(third.received().chunks, texts(301, 10'301));
  EXPECT_EQ(third.received().gaps, 0u);
}

} // namespace tertulia::test::kept_run_ends_tests
