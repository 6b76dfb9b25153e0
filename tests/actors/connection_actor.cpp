// SPDX-License-Identifier: BSD-3-Clause

#include "support/bodies.hpp"
#include "support/flows.hpp"

using namespace std::literals;

namespace tertulia::test::connection_actor_tests {

namespace {

struct connection_actor : flows {
  auto define_echo() {
    return rt->define_bidi_flow("echo", echo_inputs);
  }

  auto define_counter() {
    return rt->define_bidi_flow("counter", count_on);
  }
};

} // namespace

// -- one conversation ---------------------------------------------------------

TEST_F(connection_actor, an_echo_answers_each_input_and_counts_them) {
  auto client = open(define_echo());
  client.send("hello");
  client.send("world");
  client.close();
  EXPECT_EQ(client.received().chunks,
            (std::vector<std::string>{"echo: hello", "echo: world"}));
  EXPECT_EQ(client.code(), errc::ok);
  EXPECT_EQ(client.output(), "processed 2 messages");
  EXPECT_EQ(client.received().ends, 1u);
}

TEST_F(connection_actor, nothing_is_left_behind_when_a_body_returns) {
  {
    auto client = open(define_echo());
    EXPECT_EQ(extra_actors(), 2u) << "a client and its connection";
    client.close();
  }
  run();
  EXPECT_EQ(extra_actors(), 0u);
}

TEST_F(connection_actor, credit_for_inputs_rides_on_the_answer) {
  auto client = open(define_echo());
  EXPECT_EQ(client.received().input_credit, 1u);
  client.post("hello");
  EXPECT_EQ(client.received().input_credit, 0u);
  run();
  EXPECT_EQ(client.received().input_credit, 1u);
  EXPECT_EQ(client.received().credit_messages, 0u);
}

TEST_F(connection_actor, inputs_accepted_before_a_close_are_delivered) {
  auto client = open(define_echo(), with_input_window(3));
  client.post("a");
  client.post("b");
  client.post("c");
  client.close();
  EXPECT_EQ(client.output(), "processed 3 messages");
}

TEST_F(connection_actor, closing_twice_is_closing_once) {
  auto client = open(define_echo());
  client.post_close();
  client.close();
  EXPECT_EQ(client.output(), "processed 0 messages");
}

// -- backpressure -------------------------------------------------------------

TEST_F(connection_actor, a_body_stops_exactly_when_its_credit_is_spent) {
  auto client = open(define_counter(), with_chunk_window(10));
  client.send(1'000);
  EXPECT_EQ(client.received().chunks, numbers(10));
  client.grant(3);
  EXPECT_EQ(client.received().chunks, numbers(13));
  client.grant(2'000);
  EXPECT_EQ(client.received().chunks, numbers(1'000));
  EXPECT_EQ(client.received().turns, 1u);
}

TEST_F(connection_actor, chunks_travel_in_batches_of_half_a_window) {
  auto client = open(define_counter());
  client.send(64);
  EXPECT_EQ(client.received().batches, (std::vector<std::uint32_t>{32, 32}));
}

TEST_F(connection_actor, the_end_of_a_turn_costs_a_credit_too) {
  auto client = open(define_counter(), with_chunk_window(1));
  client.send(1);
  EXPECT_EQ(client.received().chunks.size(), 1u);
  EXPECT_EQ(client.received().turns, 0u);
  client.grant(1);
  EXPECT_EQ(client.received().turns, 1u);
}

TEST_F(connection_actor, a_window_of_zero_sends_only_what_was_asked_for) {
  auto client
    = open(define_counter(), with_chunk_window(0), with_input_window(0));
  // The body waits for an input now, and has requested it.
  EXPECT_EQ(client.received().input_credit, 1u);
  client.send(5);
  EXPECT_TRUE(client.received().chunks.empty());
  EXPECT_EQ(client.received().input_credit, 0u) << "nobody waits for an input";
  for (int i = 1; i <= 5; ++i) {
    client.grant(1);
    EXPECT_EQ(client.received().chunks, numbers(i));
  }
  client.grant(1);
  EXPECT_EQ(client.received().turns, 1u);
  EXPECT_EQ(client.received().input_credit, 1u) << "the body waits again";
}

TEST_F(connection_actor, credit_beyond_the_largest_window_is_not_believed) {
  auto client = open(define_counter());
  for (int i = 0; i < 10; ++i)
    client.grant(std::numeric_limits<std::uint32_t>::max());
  client.send(static_cast<int>(max_window) + 1'000);
  EXPECT_EQ(client.received().chunks.size(), max_window);
}

TEST_F(connection_actor, an_input_without_credit_ends_the_connection) {
  auto client = open(define_counter(), with_chunk_window(1));
  client.post(100);
  client.post(100); // the body holds the first one, this one waits
  client.send(100);
  client.send(100);
  EXPECT_EQ(client.code(), errc::resource_exhausted);
  EXPECT_EQ(client.received().ends, 1u);
}

TEST_F(connection_actor, a_body_receives_that_an_input_had_no_credit) {
  auto seen = errc::ok;
  auto client = open_to(
    [&](context ctx, input<int>, output<int>) -> task<> {
      const auto slept = co_await as_expected(ctx.sleep(1h));
      seen = code_of(slept.error());
    },
    with_input_window(2));
  EXPECT_EQ(client.received().open->input_credit, 2u);
  for (int i = 0; i < 3; ++i)
    client.post(i);
  run();
  EXPECT_EQ(client.code(), errc::resource_exhausted);
  EXPECT_EQ(client.received().end->inputs, 0u);
  EXPECT_EQ(seen, errc::resource_exhausted);
  EXPECT_EQ(extra_actors(), 1u);
}

TEST_F(connection_actor, a_window_gives_credit_back_in_halves) {
  auto flow = rt->define_bidi_flow(
    "sink", [](context, input<int> in, output<int>) -> task<int> {
      int sum = 0;
      while (auto x = co_await in.next())
        sum += *x;
      co_return sum;
    });
  auto client = open(flow, with_input_window(8));
  for (int i = 0; i < 100; ++i) {
    ASSERT_GT(client.received().input_credit, 0u);
    client.send(i);
  }
  EXPECT_EQ(client.received().credit_messages, 25u);
  client.close();
  EXPECT_EQ(client.output(), 99 * 100 / 2);
}

// -- refusals -----------------------------------------------------------------

TEST_F(connection_actor, a_window_above_the_largest_is_refused) {
  auto client = open(define_echo(), with_chunk_window(max_window + 1));
  EXPECT_EQ(code_of(client.received().refused), errc::invalid_argument);
  EXPECT_EQ(extra_actors(), 1u);
}

TEST_F(connection_actor, an_unknown_action_is_not_found) {
  recording_client<int, int, int> client{
    system, rt->front_desk(),
    tertulia::open_request{"/bidi-flow/none", {}, {}, {}}};
  run();
  EXPECT_EQ(code_of(client.received().refused), errc::not_found);
}

TEST_F(connection_actor, no_more_connections_open_than_the_options_allow) {
  stop_runtime();
  rt.emplace(system, runtime_options{.max_connections = 1});
  run();
  auto flow = define_echo();
  auto first = open(flow);
  auto second = open(flow);
  EXPECT_TRUE(first.received().open);
  EXPECT_EQ(code_of(second.received().refused), errc::resource_exhausted);
  first.close();
  auto third = open(flow);
  EXPECT_TRUE(third.received().open);
}

TEST_F(connection_actor, a_caller_opens_no_more_than_the_options_allow) {
  stop_runtime();
  rt.emplace(system, runtime_options{.max_connections_per_caller = 1});
  run();
  auto flow = define_echo();
  const auto open_for
    = [&](const char* name) { return open(flow, with_caller(name)); };
  auto first = open_for("ann");
  EXPECT_TRUE(first.received().open);
  auto second = open_for("ann");
  EXPECT_EQ(code_of(second.received().refused), errc::resource_exhausted);
  auto other = open_for("bob");
  EXPECT_TRUE(other.received().open);
  auto of_the_program = open(flow);
  auto another = open(flow);
  EXPECT_TRUE(another.received().open) << "without a caller";
  first.close();
  auto third = open_for("ann");
  EXPECT_TRUE(third.received().open);
}

TEST_F(connection_actor, an_input_of_another_shape_names_its_path) {
  const auto flow = define_counter();
  const std::pair<payload, const char*> rows[] = {
    {payload::encoded(R"({"a":1})"), "$: expected an integer, found an object"},
    {payload::encoded("{"), "$: expected JSON, found an error at byte 2"},
    {payload{}, "$: expected a value, found none"},
  };
  for (const auto& [input, message] : rows) {
    auto client = open(flow);
    caf::anon_send(client.connection(), turn_input{input});
    run();
    EXPECT_EQ(client.code(), errc::invalid_argument);
    const auto status = to_status(client.received().end->reason);
    EXPECT_NE(status.message().find(message), std::string::npos)
      << status.message();
    EXPECT_EQ(extra_actors(), 1u);
  }
}

TEST_F(connection_actor, an_input_after_the_close_is_refused_alone) {
  auto flow = rt->define_bidi_flow(
    "lingering", [](context ctx, input<int> in, output<int>) -> task<int> {
      while (co_await in.next())
        ;
      co_await ctx.sleep(1s);
      co_return 7;
    });
  auto client = open(flow);
  client.close();
  client.send(1);
  EXPECT_EQ(client.received().ends, 0u);
  advance(1s);
  EXPECT_EQ(client.output(), 7);
}

// -- the end ------------------------------------------------------------------

TEST_F(connection_actor, what_was_sent_before_an_error_comes_before_it) {
  auto flow = rt->define_bidi_flow(
    "failing", [](context, input<int> in, output<int> out) -> task<int> {
      co_await in.next();
      co_await out.send(1);
      co_await out.send(2);
      throw status_error{errc::out_of_range, "too far", R"({"by":3})"};
    });
  auto client = open(flow);
  client.send(0);
  EXPECT_EQ(client.received().chunks, (std::vector{1, 2}));
  const auto status = to_status(client.received().end->reason);
  EXPECT_EQ(status.code(), errc::out_of_range);
  EXPECT_EQ(status.message(), "too far");
  EXPECT_EQ(status.details(), R"({"by":3})");
}

TEST_F(connection_actor, the_last_word_counts_chunks_and_inputs) {
  auto client = open(define_counter());
  client.send(5);
  client.close();
  EXPECT_EQ(client.received().end->length, 6u);
  EXPECT_EQ(client.received().end->inputs, 1u);
}

TEST_F(connection_actor, a_runtime_that_stops_tells_its_clients) {
  auto client = open(define_echo());
  rt->stop();
  run();
  EXPECT_EQ(client.code(), errc::unavailable);
  EXPECT_EQ(client.received().ends, 1u);
}

TEST_F(connection_actor, a_stopping_runtime_opens_nothing) {
  auto flow = define_echo();
  auto first = open(flow);
  rt->stop();
  auto second = open(flow);
  EXPECT_EQ(code_of(second.received().refused), errc::unavailable);
}

TEST_F(connection_actor, inputs_that_have_waited_come_once_and_in_order) {
  std::vector<int> taken;
  const auto flow = rt->define_bidi_flow(
    "slow", [&](context ctx, input<int> in, output<int>) -> task<int> {
      co_await ctx.sleep(1s);
      while (const auto x = co_await in.next())
        taken.push_back(*x);
      co_return 0;
    });
  auto client = open(flow, with_input_window(200));
  std::vector<int> said;
  for (auto i = 0; i < 200; ++i) {
    client.post(i);
    said.push_back(i);
  }
  run();
  advance(1s);
  EXPECT_EQ(taken, said);
}

} // namespace tertulia::test::connection_actor_tests
