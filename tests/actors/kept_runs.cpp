// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "support/actor_clients.hpp"
#include "support/kept_run_flows.hpp"

using namespace std::literals;

namespace tertulia::test::kept_runs_tests {

namespace {

using kept_runs = kept_run_flows;

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

TEST_F(actor_client_of, a_kept_run_leaves_comes_back_and_listens) {
  const auto flow = define_thrice();
  auto client = open_client(flow, with_keep(), with_chunk_window(2));
  client->pause();
  client->send("a");
  run();
  const auto begin = client->detach();
  EXPECT_EQ(begin.number, 0u);
  auto listener = open_client(flow, with_cursor(begin), as_listener{});
  run();
  EXPECT_EQ(listener.log->chunks, (std::vector<std::string>{"a.", "a!", "a?"}));
  EXPECT_EQ(listener.log->turns, 1);
  flow.open(*client, with_cursor(listener->position()));
  run();
  client->resume();
  client->send("b");
  run();
  EXPECT_EQ(client.log->chunks, (std::vector<std::string>{"b.", "b!", "b?"}));
  EXPECT_EQ(client->position(), listener->position());
  client->close();
  run();
  for (const auto* x : {&client, &listener}) {
    EXPECT_EQ(x->log->outputs, std::vector<std::string>{"bye"});
    EXPECT_TRUE(x->log->errors.empty());
  }
  EXPECT_EQ(listener.log->turns, 2);
  EXPECT_EQ(extra_actors(), 0u);
}

TEST_F(actor_client_of, an_opening_that_was_given_up_tells_the_next_nothing) {
  const auto flow = define_thrice();
  auto talker = open_client(flow, with_keep());
  talker->send("a");
  run();
  auto client = open_client(flow, with_cursor({talker->position().run, 0}),
                            as_listener{});
  client->detach(); // before it is open
  flow.open(*client, with_keep());
  run();
  EXPECT_TRUE(client.log->chunks.empty());
  EXPECT_TRUE(client.log->errors.empty());
  client->send("b");
  run();
  EXPECT_EQ(client.log->chunks, (std::vector<std::string>{"b.", "b!", "b?"}));
}

TEST_F(actor_client_of, a_client_may_leave_when_its_inputs_are_sent) {
  struct leaver : silent_client {
    using silent_client::silent_client;
    void on_inputs_sent() override {
      place = detach();
    }
    cursor place;
  };
  const auto flow = define_thrice();
  const actor_of<leaver> client{
    system.spawn([](caf::stateful_actor<leaver>* self) {
      return caf::behavior{self->state.handlers()};
    })};
  run();
  flow.open(*client, with_keep());
  client->send("a");
  client->close();
  run();
  EXPECT_FALSE(client->place.run.empty());
  const auto next = open_client(flow, with_run(client->place.run));
  run();
  next->close();
  run();
  EXPECT_EQ(next.log->outputs, std::vector{"bye"s}) << "it had not closed";
  caf::anon_send_exit(client.who, caf::exit_reason::user_shutdown);
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
  EXPECT_FALSE(at.is_in_turn);
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
  EXPECT_TRUE(second.received().open->attached.is_in_turn);
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
