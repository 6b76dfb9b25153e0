// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <memory>
#include <vector>

#include "support/flows.hpp"
#include "support/threaded.hpp"

using namespace std::literals;

namespace tertulia::test::kept_runs_tests {

namespace {

struct kept_runs : flows {
  /// Defines a flow that answers each input with that many numbers, in one
  /// turn, and returns how many inputs it took.
  auto define_counter() {
    return rt->define_bidi_flow(
      "counter", [](context, input<int> in, output<int> out) -> task<int> {
        const witness here;
        int total = 0;
        int inputs = 0;
        while (auto count = co_await in.next()) {
          ++inputs;
          for (int i = 0; i < *count; ++i)
            co_await out.send(total++);
          co_await out.end_turn();
        }
        co_return inputs;
      });
  }

  /// Defines a flow that answers one input with that many texts of 1 KiB, one
  /// each second, and returns.
  auto define_writer() {
    return rt->define_bidi_flow("writer",
                                [](context ctx, input<int> in,
                                   output<std::string> out) -> task<int> {
                                  const witness here;
                                  const auto count = co_await in.next();
                                  for (int i = 0; i < *count; ++i) {
                                    co_await out.send(text_of(i));
                                    co_await ctx.sleep(1s);
                                  }
                                  co_return *count;
                                });
  }

  /// Defines a flow that answers each input with that many texts of 1 KiB.
  auto define_library() {
    return rt->define_bidi_flow(
      "library",
      [](context, input<int> in, output<std::string> out) -> task<int> {
        int total = 0;
        while (const auto count = co_await in.next()) {
          for (int i = 0; i < *count; ++i)
            co_await out.send(text_of(total++));
          co_await out.end_turn();
        }
        co_return total;
      });
  }

  static std::string text_of(int number) {
    auto result = std::to_string(number);
    result.resize(1024, '.');
    return result;
  }

  static std::vector<std::string> texts(int first, int last) {
    std::vector<std::string> result;
    for (int i = first; i < last; ++i)
      result.push_back(text_of(i));
    return result;
  }

  static cursor begin_of(const auto& client) {
    return {client.position().run, 0};
  }

  static std::vector<int> numbers_from(int first, int last) {
    std::vector<int> result;
    for (int i = first; i < last; ++i)
      result.push_back(i);
    return result;
  }
};

} // namespace

// -- detach and attach --------------------------------------------------------

TEST_F(kept_runs, a_run_goes_on_when_its_client_detaches) {
  const auto counter = define_counter();
  auto first = open(counter, with_keep(), with_chunk_window(10));
  first.send(100);
  EXPECT_EQ(first.received().chunks, numbers(10));
  const auto at = first.detach();
  EXPECT_EQ(at.number, 10u);
  EXPECT_EQ(first.code(), errc::cancelled);
  auto second = open(counter, with_cursor(at), with_chunk_window(200));
  EXPECT_EQ(second.received().chunks, numbers_from(10, 100));
  EXPECT_EQ(second.received().turns, 1u);
  EXPECT_EQ(second.received().gaps, 0u);
  second.send(5);
  EXPECT_EQ(second.received().chunks, numbers_from(10, 105));
  second.close();
  EXPECT_EQ(second.output(), 2);
}

TEST_F(kept_runs, a_run_goes_on_when_its_client_dies) {
  const auto counter = define_counter();
  auto first = open(counter, with_keep());
  first.send(3);
  const auto at = first.position();
  first.die();
  EXPECT_EQ(witness::alive(), 1);
  auto second = open(counter, with_cursor(at));
  second.send(2);
  EXPECT_EQ(second.received().chunks, numbers_from(3, 5));
  second.cancel();
  EXPECT_EQ(second.code(), errc::cancelled);
  EXPECT_EQ(witness::alive(), 0);
}

TEST_F(kept_runs, a_run_that_is_not_kept_ends_with_its_client) {
  const auto counter = define_counter();
  auto client = open(counter);
  EXPECT_TRUE(client.position().run.empty());
  client.die();
  EXPECT_EQ(witness::alive(), 0);
}

TEST_F(kept_runs, the_answer_to_an_attach_says_where_the_run_is) {
  const auto counter = define_counter();
  auto first = open(counter, with_keep());
  first.send(3);
  first.send(2);
  auto second = open(counter, with_cursor({first.position().run, 4}));
  const auto& at = second.received().open->attached;
  EXPECT_EQ(at.run, first.position().run);
  EXPECT_EQ(at.next, 4u);
  EXPECT_EQ(at.turn, 1u);
  EXPECT_EQ(at.inputs, 2u);
  EXPECT_EQ(second.received().chunks, numbers_from(3, 5));
}

TEST_F(kept_runs, a_client_without_a_cursor_begins_with_the_turn_under_way) {
  const auto counter = define_counter();
  auto first = open(counter, with_keep(), with_chunk_window(8));
  first.send(3);
  first.grant(4);
  first.send(100);
  auto second
    = open(counter, with_run(first.position().run), with_chunk_window(200));
  EXPECT_EQ(second.received().open->attached.next, 4u);
  EXPECT_EQ(second.received().chunks, numbers_from(3, 103));
}

// -- credit -------------------------------------------------------------------

TEST_F(kept_runs, each_position_of_the_log_can_be_attached_to) {
  const auto counter = define_counter();
  auto first = open(counter, with_keep(), with_chunk_window(max_window));
  for (const auto count : {5, 0, 1, 40, 7})
    first.send(count);
  const auto length = first.position().number;
  ASSERT_EQ(length, 58u);
  for (const auto window : {1u, 2u, 3u, 7u, 100u})
    for (std::uint64_t from = 0; from <= length; ++from) {
      auto reader = open(counter, with_cursor({first.position().run, from}),
                         as_listener{}, with_chunk_window(window));
      while (reader.received().next < length) {
        const auto before = reader.received().next;
        EXPECT_LE(before, from + window + (before - from));
        reader.grant(1);
        ASSERT_GT(reader.received().next, before);
      }
      EXPECT_EQ(reader.received().gaps, 0u);
      const auto& chunks = reader.received().chunks;
      if (!chunks.empty()) {
        EXPECT_EQ(chunks.back(), 52);
        EXPECT_EQ(chunks,
                  numbers_from(53 - static_cast<int>(chunks.size()), 53));
      }
    }
}

TEST_F(kept_runs, a_talker_with_a_small_window_holds_the_body_back) {
  const auto counter = define_counter();
  auto first = open(counter, with_keep(), with_chunk_window(10));
  first.send(1'000);
  auto second
    = open(counter, with_cursor(begin_of(first)), with_chunk_window(4));
  EXPECT_EQ(second.received().chunks, numbers(4));
  second.grant(6);
  EXPECT_EQ(second.received().chunks, numbers(10));
  second.grant(3);
  EXPECT_EQ(second.received().chunks, numbers(13));
  EXPECT_EQ(second.received().gaps, 0u);
  second.grant(2'000);
  EXPECT_EQ(second.received().chunks, numbers(1'000));
}

TEST_F(kept_runs, a_listener_that_sleeps_holds_nobody_back) {
  const auto counter = define_counter();
  auto talker = open(counter, with_keep(), with_chunk_window(max_window));
  auto sleeper = open(counter, with_run(talker.position().run), as_listener{},
                      with_chunk_window(2));
  talker.send(1'000);
  EXPECT_EQ(talker.received().chunks, numbers(1'000));
  EXPECT_EQ(sleeper.received().chunks, numbers(2));
  sleeper.grant(2'000);
  EXPECT_EQ(sleeper.received().chunks, numbers(1'000));
  EXPECT_EQ(sleeper.received().turns, 1u);
}

TEST_F(kept_runs, a_thousand_listeners_hear_the_same) {
  const auto counter = define_counter();
  auto talker = open(counter, with_keep(), with_chunk_window(max_window));
  std::vector<std::unique_ptr<recording_client<int, int, int>>> listeners;
  for (std::uint32_t i = 0; i < 1'000; ++i)
    listeners.push_back(std::make_unique<recording_client<int, int, int>>(
      system, rt->front_desk(), counter, with_run(talker.position().run),
      as_listener{}, with_chunk_window(i)));
  talker.send(600);
  EXPECT_EQ(talker.received().chunks, numbers(600));
  for (std::uint32_t i = 0; i < 1'000; ++i) {
    EXPECT_EQ(listeners[i]->received().next, std::min(i, 601u));
    EXPECT_EQ(listeners[i]->received().gaps, 0u);
    EXPECT_EQ(listeners[i]->received().chunks,
              numbers(static_cast<int>(std::min(i, 600u))));
  }
  talker.close();
  EXPECT_EQ(talker.output(), 1);
  for (const auto& x : listeners) {
    x->grant(1'000);
    EXPECT_EQ(x->output(), 1);
  }
}

// -- who talks ----------------------------------------------------------------

TEST_F(kept_runs, a_second_talker_takes_over) {
  const auto counter = define_counter();
  auto first = open(counter, with_keep());
  first.send(1);
  auto second = open(counter, with_cursor(first.position()));
  EXPECT_EQ(first.code(), errc::aborted);
  first.post(7);
  first.post_cancel();
  first.post_close();
  run();
  second.send(2);
  EXPECT_EQ(second.received().chunks, numbers_from(1, 3));
  second.close();
  EXPECT_EQ(second.output(), 2);
}

TEST_F(kept_runs, a_listener_cannot_speak) {
  const auto counter = define_counter();
  auto talker = open(counter, with_keep());
  auto listener = open(counter, with_run(talker.position().run), as_listener{});
  EXPECT_EQ(listener.received().input_credit, 0u);
  listener.send(7);
  listener.close();
  talker.send(1);
  EXPECT_EQ(talker.received().chunks, numbers(1));
  EXPECT_EQ(listener.received().chunks, numbers(1));
  listener.cancel(); // it only leaves
  EXPECT_EQ(listener.code(), errc::cancelled);
  talker.close();
  EXPECT_EQ(talker.output(), 1);
  EXPECT_EQ(listener.received().ends, 1u);
}

TEST_F(kept_runs, everybody_hears_the_end) {
  const auto counter = define_counter();
  auto talker = open(counter, with_keep());
  auto near = open(counter, with_run(talker.position().run), as_listener{});
  auto slow = open(counter, with_run(talker.position().run), as_listener{},
                   with_chunk_window(1));
  talker.send(3);
  talker.close();
  EXPECT_EQ(talker.output(), 1);
  EXPECT_EQ(near.output(), 1);
  EXPECT_FALSE(slow.received().end);
  slow.grant(3);
  EXPECT_EQ(slow.output(), 1);
  EXPECT_EQ(slow.received().chunks, numbers(3));
  EXPECT_EQ(slow.received().end->length, 4u);
}

// -- inputs exactly once ------------------------------------------------------

TEST_F(kept_runs, an_input_that_is_sent_again_is_taken_once) {
  const auto counter = define_counter();
  auto first = open(counter, with_keep(), with_input_window(4));
  first.send(1);
  first.send(2);
  auto second = open(counter, with_cursor(first.position()));
  EXPECT_EQ(second.received().inputs, 2u);
  turn_input again{payload::of(2), 0, 1, 1};
  caf::anon_send(second.connection(), again);
  again.number = 2;
  caf::anon_send(second.connection(), again);
  caf::anon_send(second.connection(), again);
  run();
  EXPECT_EQ(second.received().chunks, numbers_from(3, 5));
  second.close();
  EXPECT_EQ(second.output(), 3);
}

TEST_F(kept_runs, a_missing_input_is_data_loss) {
  auto client = open(define_counter(), with_keep());
  caf::anon_send(client.connection(), turn_input{payload::of(2), 0, 1, 0});
  run();
  EXPECT_EQ(client.code(), errc::data_loss);
}

TEST_F(kept_runs, the_credit_for_inputs_passes_to_the_next_talker) {
  const auto counter = define_counter();
  auto first = open(counter, with_keep(), with_input_window(3));
  first.send(1);
  auto second = open(counter, with_cursor(first.position()));
  EXPECT_EQ(second.received().input_credit, 3u);
  for (int i = 0; i < 10; ++i) {
    ASSERT_GT(second.received().input_credit, 0u);
    second.send(1, 2);
  }
  EXPECT_EQ(second.received().chunks, numbers_from(1, 11));
}

// -- the end of a run that is alone -------------------------------------------

TEST_F(kept_runs, the_end_waits_for_a_client) {
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

TEST_F(kept_runs, an_end_that_nobody_hears_is_forgotten) {
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

TEST_F(kept_runs, a_run_without_a_client_is_cancelled_after_the_grace_period) {
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

TEST_F(kept_runs, a_run_without_a_grace_period_waits_for_ever) {
  const auto counter = define_counter();
  auto first = open(counter, with_keep());
  first.send(0);
  first.die();
  advance(24h * 365);
  EXPECT_EQ(witness::alive(), 1);
}

TEST_F(kept_runs, a_run_whose_client_never_said_a_word_is_cancelled) {
  auto client = open(define_counter(), with_keep());
  client.die();
  advance(50s);
  EXPECT_EQ(witness::alive(), 1) << "its answer may have been lost";
  advance(11s);
  EXPECT_EQ(witness::alive(), 0) << "nobody knows its name";
  EXPECT_EQ(extra_actors(), 0u);
}

TEST_F(kept_runs, a_client_that_reads_the_end_slowly_reads_it_all) {
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

TEST_F(kept_runs, a_body_attaches_to_the_run_that_it_has_left) {
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

TEST_F(kept_runs, a_body_reads_a_run_once_at_a_time) {
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

TEST_F(kept_runs, a_runtime_that_stops_does_not_wait_for_clients) {
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

TEST_F(kept_runs, an_abort_ends_the_run_for_everybody) {
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

// -- bounds -------------------------------------------------------------------

TEST_F(kept_runs, a_position_that_the_log_has_lost_is_named) {
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

TEST_F(kept_runs, turns_within_the_bound_are_held) {
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

TEST_F(kept_runs, a_listener_that_falls_behind_the_log_is_told) {
  const auto library = define_library();
  auto talker = open(library, with_keep(), with_chunk_window(max_window));
  auto listener = open(library, with_run(talker.position().run), as_listener{},
                       with_chunk_window(2));
  talker.send(300);
  EXPECT_FALSE(listener.received().end);
  listener.grant(1);
  ASSERT_TRUE(listener.received().end);
  EXPECT_EQ(listener.code(), errc::out_of_range);
  EXPECT_NE(listener.error().details().find("301"), std::string::npos);
  EXPECT_EQ(listener.received().chunks, texts(0, 2));
}

TEST_F(kept_runs, the_turn_under_way_is_held) {
  const auto library = define_library();
  auto talker = open(library, with_keep(), with_chunk_window(1'000));
  talker.send(1'500);
  auto listener = open(library, with_cursor(begin_of(talker)), as_listener{},
                       with_chunk_window(1'000));
  EXPECT_EQ(listener.received().chunks, texts(0, 1'000));
  talker.grant(1'000);
  listener.grant(1'000);
  EXPECT_EQ(code_of(listener.received().end.value().reason), errc::out_of_range)
    << "the turn is over, and longer than the bound";
}

TEST_F(kept_runs, a_turn_without_a_reader_is_held_up_to_its_bound) {
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
  third.detach();
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

TEST_F(kept_runs, what_the_talker_has_not_heard_is_not_dropped) {
  const auto library = define_library();
  auto first = open(library, with_keep(), with_chunk_window(max_window));
  first.send(300);
  auto second = open(library, with_cursor(begin_of(first)));
  ASSERT_EQ(code_of(second.received().refused), errc::out_of_range)
    << "the turn was over";
  first.die();
  auto third
    = open(library, with_run(first.position().run), with_chunk_window(4));
  third.send(10'000);
  EXPECT_EQ(third.received().chunks, texts(300, 304));
  third.grant(max_window);
  EXPECT_EQ(third.received().chunks, texts(300, 10'300));
  EXPECT_EQ(third.received().gaps, 0u);
}

// -- refusals -----------------------------------------------------------------

TEST_F(kept_runs, an_unknown_run_is_not_found) {
  const auto counter = define_counter();
  auto client = open(counter, with_run(run_id{"none"}));
  EXPECT_EQ(code_of(client.received().refused), errc::not_found);
  const auto other = define(
    [](context, input<int>, output<int>) -> task<int> { co_return 0; });
  auto kept = open(counter, with_keep());
  auto wrong = open(other, with_run(kept.position().run));
  EXPECT_EQ(code_of(wrong.received().refused), errc::not_found)
    << "the run is of another action";
}

TEST_F(kept_runs, options_that_mean_nothing_are_refused) {
  const auto counter = define_counter();
  auto message = counter.opening_for({}, with_attach(true));
  message.key = "/bidi-flow/none";
  message.options.session = session_id{"s"};
  const recording_client<int, int, int> nowhere{system, rt->front_desk(),
                                                message};
  run();
  EXPECT_EQ(code_of(nowhere.received().refused), errc::not_found);
  EXPECT_THROW((void)counter.opening_for({}, with_keep(0s)), status_error);
  EXPECT_THROW((void)counter.opening_for({}, with_cursor(cursor{})),
               status_error);
  EXPECT_THROW((void)counter.opening_for({}, with_run(run_id{})), status_error);
  auto nothing_to_attach_to = open(counter, with_attach());
  EXPECT_EQ(code_of(nothing_to_attach_to.received().refused),
            errc::invalid_argument);
}

} // namespace tertulia::test::kept_runs_tests
