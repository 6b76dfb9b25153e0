// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/schema.hpp>

#include "support/flows.hpp"

using namespace std::literals;

namespace tertulia::test::actor_bodies_tests {

namespace {

using self_pointer = connection_actor::pointer;
using text_port = client_port<std::string, std::string, std::string>;
using int_port = client_port<int, int, int>;
using body_behavior = connection_actor::behavior_type;

struct actor_bodies : flows {
  // Stops the runtime first: the bodies refer to the members below.
  ~actor_bodies() override {
    if (rt)
      stop_runtime();
  }

  auto define_echo() {
    return define([this](self_pointer self, text_port client, nothing) //
                  -> body_behavior {
      return {
        [=](turn_input& x) { client.send("echo: " + client.read(x)); },
        [=](chunk_credit x) { client.on(x); },
        [=](caf::close_atom) { client.finish("done"); },
        [=, this](cancel_atom) {
          ++cancels;
          self->quit();
        },
      };
    });
  }

  /// Defines a flow that answers an input n with n numbers, in one turn.
  auto define_counter() {
    return define([this](self_pointer, int_port client, nothing) //
                  -> body_behavior {
      return {
        [=, this](turn_input& x) {
          ++inputs;
          const auto count = client.read(x);
          for (int i = 0; i < count; ++i)
            client.send(said++);
          client.end_turn();
          lag = client.lag();
        },
        [=, this](chunk_credit x) {
          client.on(x);
          lag = client.lag();
        },
        [=, this](caf::close_atom) { client.finish(said); },
        [=, this](cancel_atom) { ++cancels; },
      };
    });
  }

  /// Defines a body that calls `fn` for each input.
  template <class Fn>
  auto define_one(Fn fn) {
    return define([=](self_pointer self, int_port client, nothing) //
                  -> body_behavior {
      return {
        [=](turn_input& x) { fn(self, client, client.read(x)); },
        [=](chunk_credit x) { client.on(x); },
        [](caf::close_atom) {},
        [](cancel_atom) {},
      };
    });
  }

  int cancels = 0;
  int inputs = 0;
  int said = 0;
  std::size_t lag = 0;
};

} // namespace

// -- one conversation ---------------------------------------------------------

TEST_F(actor_bodies, an_echo_answers_each_input_until_its_client_closes) {
  auto client = open(define_echo());
  EXPECT_EQ(extra_actors(), 3u) << "client, connection and body";
  client.send("hello");
  client.send("world");
  client.close();
  EXPECT_EQ(client.received().chunks,
            (std::vector<std::string>{"echo: hello", "echo: world"}));
  EXPECT_EQ(client.output(), "done");
  EXPECT_EQ(client.received().ends, 1u);
  EXPECT_EQ(cancels, 0);
  EXPECT_EQ(extra_actors(), 1u);
}

TEST_F(actor_bodies, turns_end_behind_their_chunks) {
  auto client = open(define_counter());
  client.send(3);
  EXPECT_EQ(client.received().chunks, numbers(3));
  EXPECT_EQ(client.received().turns, 1u);
  client.send(0);
  EXPECT_EQ(client.received().turns, 2u);
  client.close();
  EXPECT_EQ(client.output(), 3);
}

TEST_F(actor_bodies, init_data_reaches_the_body) {
  using port = client_port<int, std::string, int>;
  const auto flow = define([](self_pointer, port client, std::string init) //
                           -> body_behavior {
    client.finish("init " + init);
    return {
      [](turn_input&) {},
      [=](chunk_credit x) { client.on(x); },
      [](caf::close_atom) {},
      [](cancel_atom) {},
    };
  });
  const auto init = with_init("data"s);
  auto client = open(flow, init);
  auto without = open(flow);
  EXPECT_EQ(client.output(), "init data");
  EXPECT_EQ(without.output(), "init ");
  EXPECT_EQ(extra_actors(), 2u);
}

TEST_F(actor_bodies, a_function_can_be_a_body) {
  struct local {
    static body_behavior body(self_pointer,
                              client_port<int, nothing, int> client, nothing) {
      return {
        [=](turn_input& x) { client.send(client.read(x) * 2); },
        [=](chunk_credit x) { client.on(x); },
        [=](caf::close_atom) { client.finish(); },
        [](cancel_atom) {},
      };
    }
  };
  auto client = open_to(&local::body);
  client.send(4);
  client.close();
  EXPECT_EQ(client.received().chunks, std::vector{8});
  EXPECT_EQ(client.output(), nothing{});
}

TEST_F(actor_bodies, the_state_of_a_stateful_body_dies_with_it) {
  struct counted_state {
    explicit counted_state(connection_actor::pointer) {}

    std::optional<departure> here;
    int sum = 0;
  };
  int left = 0;
  const auto flow
    = define([&](connection_actor::stateful_pointer<counted_state> self,
                 int_port client, nothing) -> body_behavior {
        self->state.here.emplace(left);
        return {
          [=](turn_input& x) { self->state.sum += client.read(x); },
          [=](chunk_credit x) { client.on(x); },
          [=](caf::close_atom) { client.finish(self->state.sum); },
          [](cancel_atom) {},
        };
      });
  auto client = open(flow);
  auto cancelled = open(flow);
  for (const auto x : {1, 2, 3}) {
    client.send(x);
  }
  client.close();
  EXPECT_EQ(client.output(), 6);
  EXPECT_EQ(left, 1);
  cancelled.cancel();
  EXPECT_EQ(left, 2);
  EXPECT_EQ(extra_actors(), 2u);
}

TEST_F(actor_bodies, a_body_is_described_as_a_coroutine_would_be) {
  const auto flow = define_counter();
  EXPECT_EQ(flow.info().key, "/bidi-flow/flow1");
  EXPECT_EQ(flow.info().input_schema, schema_of<int>());
}

// -- backpressure -------------------------------------------------------------

TEST_F(actor_bodies, what_the_client_has_no_room_for_is_kept) {
  auto client = open(define_counter(), with_chunk_window(10));
  client.send(1'000);
  EXPECT_EQ(client.received().chunks, numbers(10));
  EXPECT_GT(lag, 900u);
  client.grant(500);
  EXPECT_EQ(client.received().chunks, numbers(510));
  client.grant(500);
  EXPECT_EQ(client.received().chunks, numbers(1'000));
  EXPECT_EQ(client.received().turns, 1u);
  EXPECT_EQ(lag, 0u);
}

TEST_F(actor_bodies, an_end_waits_for_the_chunks_that_are_kept) {
  for (const auto fails : {false, true}) {
    auto client = open(define_one([=](self_pointer, int_port port, int count) {
                         for (int i = 0; i < count; ++i)
                           port.send(i);
                         if (fails)
                           port.fail(errc::out_of_range, "too far");
                         else
                           port.finish(count);
                         port.send(-1);
                         port.end_turn();
                         port.finish(-1);
                         port.fail(errc::internal, "too late");
                       }),
                       with_chunk_window(2));
    client.send(500);
    EXPECT_EQ(client.received().chunks, numbers(2));
    EXPECT_EQ(client.received().ends, 0u);
    client.grant(498);
    EXPECT_EQ(client.received().chunks, numbers(500));
    EXPECT_EQ(client.received().turns, 0u);
    EXPECT_EQ(client.received().end->length, 500u);
    EXPECT_EQ(client.received().end->inputs, 1u);
    if (fails) {
      EXPECT_EQ(client.code(), errc::out_of_range);
      EXPECT_EQ(to_status(client.received().end->reason).message(), "too far");
    } else {
      EXPECT_EQ(client.output(), 500);
    }
    EXPECT_EQ(extra_actors(), 1u);
  }
}

TEST_F(actor_bodies, a_window_of_zero_sends_only_what_was_asked_for) {
  auto client
    = open(define_counter(), with_chunk_window(0), with_input_window(0));
  EXPECT_EQ(client.received().input_credit, 1u);
  client.send(3);
  EXPECT_TRUE(client.received().chunks.empty());
  for (int i = 1; i <= 3; ++i) {
    client.grant(1);
    EXPECT_EQ(client.received().chunks, numbers(i));
  }
  EXPECT_EQ(client.received().turns, 0u);
  client.grant(1);
  EXPECT_EQ(client.received().turns, 1u);
}

TEST_F(actor_bodies, an_answer_that_is_kept_keeps_further_inputs_away) {
  auto client
    = open(define_counter(), with_chunk_window(0), with_input_window(8));
  for (int i = 0; i < 8; ++i)
    client.send(100);
  // Reading the first input requested the second one, before the first was
  // answered.
  EXPECT_EQ(inputs, 2);
  EXPECT_EQ(lag, 202u - 64u);
  for (int i = 0; i < 8; ++i) {
    client.grant(101);
  }
  EXPECT_EQ(inputs, 8);
  EXPECT_EQ(client.received().chunks, numbers(800));
  EXPECT_EQ(client.received().turns, 8u);
}

TEST_F(actor_bodies, inputs_beyond_the_bodys_window_wait_for_it) {
  // Never reads, so never gives credit back.
  auto flow = define([this](self_pointer, int_port client, nothing) //
                     -> body_behavior {
    return {
      [this](turn_input&) { ++inputs; },
      [=](chunk_credit x) { client.on(x); },
      [=](caf::close_atom) { client.finish(0); },
      [](cancel_atom) {},
    };
  });
  auto client = open(flow, with_input_window(8));
  for (int i = 0; i < 8; ++i)
    client.send(i);
  EXPECT_EQ(inputs, 1);
  EXPECT_LE(client.received().input_credit, 2u);
  client.cancel();
  EXPECT_EQ(client.code(), errc::cancelled);
  EXPECT_EQ(extra_actors(), 1u);
}

TEST_F(actor_bodies, inputs_accepted_before_a_close_are_delivered) {
  auto client = open(define_counter(), with_input_window(8));
  for (int i = 0; i < 8; ++i)
    client.post(1);
  client.close();
  EXPECT_EQ(client.output(), 8);
  EXPECT_EQ(client.received().chunks, numbers(8));
}

// -- other ends ---------------------------------------------------------------

TEST_F(actor_bodies, a_body_that_ends_without_a_last_word_has_an_error) {
  const std::pair<void (*)(self_pointer), errc> rows[] = {
    {[](self_pointer self) {
       caf::anon_send_exit(self, caf::exit_reason::kill);
     },
     errc::aborted},
    {[](self_pointer) { throw std::runtime_error{"bad luck"}; },
     errc::internal},
    {[](self_pointer self) { self->quit(); }, errc::aborted},
  };
  for (const auto& [fail, code] : rows) {
    auto client
      = open(define_one([fail = fail](self_pointer self, int_port port, int) {
          port.send(1);
          fail(self);
        }));
    client.send(0);
    EXPECT_EQ(client.received().chunks, std::vector{1});
    EXPECT_EQ(client.code(), code);
    EXPECT_EQ(client.received().ends, 1u);
    EXPECT_EQ(extra_actors(), 1u);
  }
}

TEST_F(actor_bodies, a_body_that_throws_before_it_begins_is_internal) {
  auto client = open_to([](self_pointer, int_port, nothing) -> body_behavior {
    throw std::runtime_error{"bad start"};
  });
  EXPECT_EQ(client.code(), errc::internal);
  EXPECT_EQ(extra_actors(), 1u);
}

TEST_F(actor_bodies, an_input_of_another_shape_does_not_reach_the_body) {
  auto client = open(define_counter());
  caf::anon_send(client.connection(),
                 turn_input{payload::encoded(R"({"a":1})")});
  run();
  EXPECT_EQ(client.code(), errc::invalid_argument);
  EXPECT_EQ(inputs, 0);
  EXPECT_EQ(extra_actors(), 1u);
}

// -- cancel -------------------------------------------------------------------

TEST_F(actor_bodies, a_body_that_ignores_a_cancel_ends_all_the_same) {
  auto client = open(define_counter(), with_chunk_window(0));
  client.send(1'000);
  client.cancel();
  EXPECT_EQ(client.code(), errc::cancelled);
  EXPECT_EQ(cancels, 1);
  EXPECT_EQ(extra_actors(), 1u);
}

TEST_F(actor_bodies, a_body_is_cancelled_whatever_ends_its_connection) {
  const auto flow = define_echo();
  auto cancelled = open(flow);
  auto late = open(flow, with_deadline(1s));
  auto killed = open(flow);
  auto dying = open(flow);
  cancelled.cancel();
  EXPECT_EQ(cancelled.code(), errc::cancelled);
  EXPECT_EQ(cancels, 1);
  advance(1s);
  EXPECT_EQ(late.code(), errc::deadline_exceeded);
  EXPECT_EQ(cancels, 2);
  kill(killed.connection());
  EXPECT_EQ(killed.code(), errc::aborted);
  EXPECT_EQ(cancels, 3);
  dying.die();
  EXPECT_EQ(cancels, 4);
  EXPECT_EQ(extra_actors(), 3u) << "the clients";
}

TEST_F(actor_bodies, a_runtime_that_stops_takes_every_body_along) {
  auto client = open(define_echo());
  rt->stop();
  run();
  EXPECT_EQ(client.code(), errc::unavailable);
  EXPECT_EQ(cancels, 1);
}

TEST_F(actor_bodies, a_flow_can_call_one_whose_body_is_an_actor) {
  const auto inner = define_counter();
  auto client = open_to([=](context ctx, input<int>, output<int> out) //
                        -> task<int> {
    auto talk = co_await inner.open(ctx);
    for (const auto count : {2, 3}) {
      co_await talk.send(count);
      while (auto x = co_await talk.next())
        co_await out.send(*x);
    }
    talk.close();
    co_return co_await talk.output();
  });
  EXPECT_EQ(client.output(), 5);
  EXPECT_EQ(client.received().chunks, numbers(5));
  EXPECT_EQ(extra_actors(), 1u);
}

} // namespace tertulia::test::actor_bodies_tests
