// SPDX-License-Identifier: BSD-3-Clause

#include "support/faults.hpp"

using namespace std::literals;

namespace tertulia::test::faults_waits_tests {

namespace {

using int_input = input<int>;
using int_output = output<int>;

/// Every kind of wait, as the body of a flow that never ends by itself.
struct waits {
  faults& test;

  auto on_input() const {
    return [&test = test](context, int_input in, int_output) -> task<> {
      test.reach();
      co_await in.next();
    };
  }

  auto on_credit() const {
    return [&test = test](context, int_input, int_output out) -> task<> {
      test.reach();
      for (;;)
        co_await out.send(1);
    };
  }

  auto on_sleep() const {
    return [&test = test](context ctx, int_input, int_output) -> task<> {
      test.reach();
      co_await ctx.sleep(1h);
    };
  }

  auto on_ask(caf::actor silent) const {
    return
      [&test = test, silent](context ctx, int_input, int_output) -> task<> {
        test.reach();
        co_await ctx.ask<int>(silent, 1h, 1);
      };
  }

  /// Returns a body whose blocking job stops on request.
  auto on_blocking_job() const {
    return [&test = test](context ctx, int_input, int_output) -> task<> {
      int on_the_frame = 0;
      co_await ctx.run_blocking([&](std::stop_token stop) {
        test.reach();
        while (!stop.stop_requested())
          ++on_the_frame;
      });
    };
  }

  template <class Flow>
  auto on_nested_flow(Flow inner) const {
    return [&test = test, inner](context ctx, int_input, int_output) -> task<> {
      auto deep = co_await inner.open(ctx);
      test.reach();
      co_await deep.next();
    };
  }

  template <class Flow>
  auto on_nested_output(Flow inner) const {
    return [&test = test, inner](context ctx, int_input, int_output) -> task<> {
      auto deep = co_await inner.open(ctx);
      test.reach();
      co_await deep.output();
    };
  }

  auto on_several() const {
    return [&test = test](context ctx, int_input in, int_output) -> task<> {
      test.reach();
      co_await when_all(in.next(), ctx.sleep(1h), ctx.sleep(2h));
    };
  }
};

struct faults_of_waits : faults {
  const waits waiting{*this};

  template <class Body>
  void client_cancels(Body body) {
    auto talk = define(body).stream_bidi();
    ASSERT_TRUE(reached());
    talk.cancel();
    expect_end(talk, errc::cancelled, "the client cancelled");
    EXPECT_EQ(seen(), errc::cancelled);
  }

  template <class Body>
  void client_drops(Body body) {
    {
      auto talk = define(body).stream_bidi();
      ASSERT_TRUE(reached());
    }
    EXPECT_TRUE(nothing_is_left());
    EXPECT_EQ(seen(), errc::cancelled);
  }

  template <class Body>
  void deadline(Body body) {
    auto talk = define(body).stream_bidi(with_deadline(20ms));
    expect_end(talk, errc::deadline_exceeded,
               "the connection's deadline has passed");
    EXPECT_EQ(seen(), errc::deadline_exceeded);
  }

  /// Returns an actor that never answers.
  caf::actor spawn_silent() {
    return system.spawn<caf::hidden>(
      [](caf::event_based_actor* self) -> caf::behavior {
        self->set_default_handler(caf::skip);
        return {[](caf::get_atom) {}};
      });
  }
};

} // namespace

// -- the client cancels -------------------------------------------------------

TEST_F(faults_of_waits, client_cancels_while_body_waits_on_input) {
  client_cancels(waiting.on_input());
}

TEST_F(faults_of_waits, client_cancels_while_body_waits_on_credit) {
  client_cancels(waiting.on_credit());
}

TEST_F(faults_of_waits, client_cancels_while_body_waits_on_sleep) {
  client_cancels(waiting.on_sleep());
}

TEST_F(faults_of_waits, client_cancels_while_body_waits_on_ask) {
  client_cancels(waiting.on_ask(spawn_silent()));
}

TEST_F(faults_of_waits, client_cancels_while_body_waits_on_blocking_job) {
  client_cancels(waiting.on_blocking_job());
}

TEST_F(faults_of_waits, client_cancels_while_body_waits_on_nested_flow) {
  client_cancels(waiting.on_nested_flow(define_echo()));
}

TEST_F(faults_of_waits, client_cancels_while_body_waits_on_nested_output) {
  client_cancels(waiting.on_nested_output(define_echo()));
}

TEST_F(faults_of_waits, client_cancels_while_body_waits_on_several) {
  client_cancels(waiting.on_several());
}

// -- the client is dropped ----------------------------------------------------

TEST_F(faults_of_waits, client_dropped_while_body_waits_on_input) {
  client_drops(waiting.on_input());
}

TEST_F(faults_of_waits, client_dropped_while_body_waits_on_credit) {
  client_drops(waiting.on_credit());
}

TEST_F(faults_of_waits, client_dropped_while_body_waits_on_sleep) {
  client_drops(waiting.on_sleep());
}

TEST_F(faults_of_waits, client_dropped_while_body_waits_on_ask) {
  client_drops(waiting.on_ask(spawn_silent()));
}

TEST_F(faults_of_waits, client_dropped_while_body_waits_on_blocking_job) {
  client_drops(waiting.on_blocking_job());
}

TEST_F(faults_of_waits, client_dropped_while_body_waits_on_nested_flow) {
  client_drops(waiting.on_nested_flow(define_echo()));
}

// -- the deadline passes ------------------------------------------------------

TEST_F(faults_of_waits, deadline_while_body_waits_on_input) {
  deadline(waiting.on_input());
}

TEST_F(faults_of_waits, deadline_while_body_waits_on_sleep) {
  deadline(waiting.on_sleep());
}

TEST_F(faults_of_waits, deadline_while_body_waits_on_ask) {
  deadline(waiting.on_ask(spawn_silent()));
}

TEST_F(faults_of_waits, deadline_while_body_waits_on_blocking_job) {
  deadline(waiting.on_blocking_job());
}

TEST_F(faults_of_waits, deadline_while_body_waits_on_nested_flow) {
  deadline(waiting.on_nested_flow(define_echo()));
}

TEST_F(faults_of_waits, deadline_while_body_waits_on_credit) {
  auto talk = define(waiting.on_credit()).stream_bidi(with_deadline(20ms));
  ASSERT_TRUE(talk.wait_until_done(patience));
  int count = 0;
  EXPECT_EQ(code_from([&] {
              for ([[maybe_unused]] auto chunk : talk.responses(patience))
                ++count;
            }),
            errc::deadline_exceeded);
  EXPECT_EQ(count, 64) << "what was sent before comes before";
  expect_end(talk, errc::deadline_exceeded,
             "the connection's deadline has passed");
}

TEST_F(faults_of_waits, deadline_while_body_never_waits) {
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

} // namespace tertulia::test::faults_waits_tests
