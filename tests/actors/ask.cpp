// SPDX-License-Identifier: BSD-3-Clause

#include "support/flows.hpp"

using namespace std::literals;

namespace tertulia::test::ask_tests {

namespace {

using oracle
  = caf::typed_actor<caf::replies_to<int, int>::with<int>,
                     caf::reacts_to<caf::put_atom, int>,
                     caf::replies_to<caf::get_atom>::with<int, std::string>,
                     caf::replies_to<std::string>::with<std::string>,
                     caf::reacts_to<caf::publish_atom, std::string>>;

/// State of an oracle: the number it was given, and the request that it has not
/// answered yet.
struct memory {
  int put = 0;
  caf::typed_response_promise<std::string> owed;
};

oracle::behavior_type think(oracle::pointer self,
                            const std::shared_ptr<memory>& of) {
  return {
    [](int x, int y) -> caf::result<int> {
      if (y == 0)
        return fail(errc::already_exists, "zero is there", R"({"y":0})");
      return x / y;
    },
    [=](caf::put_atom, int x) { of->put = x; },
    [=](caf::get_atom) -> caf::result<int, std::string> {
      return {of->put, "put"s};
    },
    [=](const std::string&) {
      of->owed = self->make_response_promise<std::string>();
      return of->owed;
    },
    [=](caf::publish_atom, std::string& text) {
      of->owed.deliver(std::move(text));
    },
  };
}

struct ask : flows {
  ask() : it(system.spawn(think, known)) {
    run();
  }

  ~ask() override {
    caf::anon_send_exit(it, caf::exit_reason::kill);
  }

  void answer(std::string text) {
    caf::anon_send(it, caf::publish_atom_v, std::move(text));
    run();
  }

  std::shared_ptr<memory> known = std::make_shared<memory>();
  oracle it;
};

} // namespace

// -- answers ------------------------------------------------------------------

TEST_F(ask, a_typed_actors_answer_has_its_type) {
  auto client = open_to([this](context ctx, input<int>, output<int>) //
                        -> task<std::string> {
    const auto quotient = co_await ctx.ask(it, 1s, 12, 4);
    static_assert(std::is_same_v<decltype(quotient), const int>);
    static_assert(std::is_void_v<decltype(ctx.ask(it, 1s, caf::put_atom_v, 5)
                                            .await_resume())>);
    co_await ctx.ask(it, 1s, caf::put_atom_v, 5);
    auto [number, text] = co_await ctx.ask(it, 1s, caf::get_atom_v);
    co_return std::to_string(quotient) + text + std::to_string(number);
  });
  EXPECT_EQ(client.output(), "3put5");
}

TEST_F(ask, an_untyped_actor_is_asked_for_a_type) {
  auto echo = system.spawn([]() -> caf::behavior {
    return {[](int x) { return x + 1; },
            [](const std::string& x, int y) { return caf::make_message(y, x); },
            [](caf::ok_atom) {}};
  });
  auto client = open_to([=](context ctx, input<int>, output<int>) //
                        -> task<std::string> {
    const auto next = co_await ctx.ask<int>(echo, 1s, 1);
    co_await ctx.ask<void>(echo, 1s, caf::ok_atom_v);
    auto [number, text]
      = co_await ctx.ask<std::tuple<int, std::string>>(echo, 1s, "text"s, next);
    co_return text + std::to_string(number);
  });
  EXPECT_EQ(client.output(), "text2");
}

TEST_F(ask, an_answer_of_another_type_is_an_error_at_once) {
  auto echo = system.spawn([]() -> caf::behavior {
    return {[](int x) { return std::to_string(x); }};
  });
  auto client = open_to([=](context ctx, input<int>, output<int>) //
                        -> task<> { co_await ctx.ask<int>(echo, 1h, 1); });
  EXPECT_EQ(client.code(), errc::unknown);
}

TEST_F(ask, a_question_that_nobody_understands_is_unimplemented) {
  auto deaf = system.spawn([](caf::event_based_actor* self) -> caf::behavior {
    self->set_default_handler(caf::drop);
    return {[](int x) { return x; }};
  });
  auto client = open_to([=](context ctx, input<int>, output<int>) -> task<> {
    co_await ctx.ask<int>(deaf, 1h, "what"s);
  });
  EXPECT_EQ(client.code(), errc::unimplemented);
}

// -- errors -------------------------------------------------------------------

TEST_F(ask, an_error_keeps_code_message_and_details) {
  auto client
    = open_to([this](context ctx, input<int>, output<int>) //
              -> task<int> { co_return co_await ctx.ask(it, 1s, 1, 0); });
  const auto status = to_status(client.received().end.value().reason);
  EXPECT_EQ(status.code(), errc::already_exists);
  EXPECT_EQ(status.message(), "zero is there");
  EXPECT_EQ(status.details(), R"({"y":0})");
}

TEST_F(ask, no_answer_in_time_is_deadline_exceeded) {
  auto client = open_to(
    [this](context ctx, input<int>, output<int>) //
    -> task<std::string> { co_return co_await ctx.ask(it, 1s, "?"s); });
  advance(999ms);
  EXPECT_EQ(client.received().ends, 0u);
  advance(1ms);
  EXPECT_EQ(client.code(), errc::deadline_exceeded);
}

TEST_F(ask, every_question_has_a_time_of_its_own) {
  auto client = open_to([this](context ctx, input<int>, output<int> out) //
                        -> task<> {
    const auto late = [&](int seconds) -> task<> {
      const auto answer = co_await as_expected(ctx.ask(it, seconds * 1s, "?"s));
      co_await out.send(answer ? 0 : seconds);
    };
    co_await when_all(late(3), late(1), late(2));
  });
  const auto& chunks = client.received().chunks;
  advance(999ms);
  EXPECT_EQ(chunks, std::vector<int>{});
  advance(1ms);
  EXPECT_EQ(chunks, std::vector{1});
  advance(1s);
  EXPECT_EQ(chunks, (std::vector{1, 2}));
  advance(1s);
  EXPECT_EQ(chunks, (std::vector{1, 2, 3}));
  EXPECT_EQ(client.received().ends, 1u);
}

TEST_F(ask, the_time_of_an_answered_question_is_not_that_of_the_next) {
  auto client = open_to([this](context ctx, input<int> in, output<int> out) //
                        -> task<> {
    while (auto seconds = co_await in.next()) {
      co_await ctx.ask(it, 2s, 6, 3);
      const auto answer
        = co_await as_expected(ctx.ask(it, *seconds * 1s, "?"s));
      co_await out.send(answer ? 0 : *seconds);
    }
  });
  const auto& chunks = client.received().chunks;
  client.send(1);
  advance(1s);
  EXPECT_EQ(chunks, std::vector{1});
  client.send(3);
  advance(2999ms);
  EXPECT_EQ(chunks, std::vector{1});
  advance(1ms);
  EXPECT_EQ(chunks, (std::vector{1, 3}));
}

TEST_F(ask, to_wait_for_no_time_at_all_is_deadline_exceeded) {
  auto client = open_to(
    [this](context ctx, input<int>, output<int>) //
    -> task<std::string> { co_return co_await ctx.ask(it, 0s, "?"s); });
  advance(0s); // the clock fires time-outs only when it is advanced
  ASSERT_EQ(client.received().ends, 1u);
  EXPECT_EQ(client.code(), errc::deadline_exceeded);
}

TEST_F(ask, a_dead_actor_is_unavailable) {
  kill(it);
  auto client
    = open_to([this](context ctx, input<int>, output<int>) //
              -> task<int> { co_return co_await ctx.ask(it, 1h, 1, 1); });
  EXPECT_EQ(client.code(), errc::unavailable);
}

TEST_F(ask, an_actor_that_dies_with_the_question_unread_is_unavailable) {
  auto client = open_to([this](context ctx, input<int>, output<int>) //
                        -> task<int> {
    caf::anon_send_exit(it, caf::exit_reason::kill);
    co_return co_await ctx.ask(it, 1h, 1, 1);
  });
  EXPECT_EQ(client.code(), errc::unavailable);
}

TEST_F(ask, no_actor_at_all_is_an_invalid_argument) {
  auto client = open_to(
    [](context ctx, input<int>, output<int>) //
    -> task<int> { co_return co_await ctx.ask<int>(caf::actor{}, 1h, 1); });
  EXPECT_EQ(client.code(), errc::invalid_argument);
}

// -- late answers -------------------------------------------------------------

TEST_F(ask, an_answer_after_the_time_is_up_is_dropped) {
  auto client = open_to([this](context ctx, input<int> in, output<int>) //
                        -> task<std::string> {
    const auto late = co_await as_expected(ctx.ask(it, 1s, "?"s));
    co_await in.next();
    co_return late ? "in time" : "late";
  });
  advance(1s);
  answer("too late");
  EXPECT_EQ(client.received().ends, 0u);
  client.close();
  EXPECT_EQ(client.output(), "late");
}

TEST_F(ask, an_answer_to_who_has_lost_a_race_is_dropped) {
  auto client = open_to([this](context ctx, input<int> in, output<int>) //
                        -> task<std::string> {
    auto first = co_await when_any(ctx.ask(it, 1h, "?"s), in.next());
    // It must not be taken for the answer to the first request.
    auto second = co_await ctx.ask(it, 1h, 6, 3);
    co_await in.next();
    co_return std::to_string(first.index()) + std::to_string(second);
  });
  client.send(1);
  answer("too late");
  EXPECT_EQ(client.received().ends, 0u);
  client.close();
  EXPECT_EQ(client.output(), "12");
}

TEST_F(ask, an_answer_to_who_was_cancelled_is_dropped) {
  int left = 0;
  auto client = open_to([&](context ctx, input<int>, output<int>) //
                        -> task<std::string> {
    const departure here{left};
    co_return co_await ctx.ask(it, 1h, "?"s);
  });
  client.cancel();
  EXPECT_EQ(client.code(), errc::cancelled);
  EXPECT_EQ(left, 1);
  answer("too late");
  advance(1h);
  EXPECT_EQ(client.received().ends, 1u);
}

TEST_F(ask, answers_find_those_who_asked_in_any_order) {
  auto other = system.spawn(think, std::make_shared<memory>());
  auto client = open_to([=, this](context ctx, input<int>, output<int>) //
                        -> task<std::string> {
    auto [x, y, z] = co_await when_all(
      ctx.ask(it, 1h, "?"s), ctx.ask(other, 1s, 8, 2), ctx.ask(it, 1s, 9, 3));
    co_return x + std::to_string(y) + std::to_string(z);
  });
  answer("at last");
  EXPECT_EQ(client.output(), "at last43");
  caf::anon_send_exit(other, caf::exit_reason::kill);
}

// -- actors that refuse or die ------------------------------------------------

namespace {

enum class oven_errc : std::uint8_t { none, locked };

/// Actor that refuses a request with an error of its own category, or quits
/// with a reason.
caf::behavior run_oven(caf::event_based_actor* self) {
  return {
    [](int) -> caf::result<int> {
      return caf::error{static_cast<std::uint8_t>(oven_errc::locked),
                        caf::atom("oven"),
                        caf::make_message("the oven is locked"s)};
    },
    [=](const std::string& why) -> caf::result<int> {
      self->quit(fail(errc::aborted, why));
      return self->make_response_promise();
    },
  };
}

} // namespace

TEST_F(ask, the_text_of_a_refusal_reaches_the_body) {
  const auto oven = system.spawn(run_oven);
  auto client = open_body([=](context ctx) -> task<int> {
    co_return co_await ctx.ask<int>(oven, 1s, 1);
  });
  EXPECT_EQ(client.error().code(), errc::unknown);
  EXPECT_EQ(client.error().message(), "the oven is locked");
  caf::anon_send_exit(oven, caf::exit_reason::kill);
}

TEST_F(ask, the_reason_of_a_death_reaches_the_body) {
  const auto oven = system.spawn(run_oven);
  auto client = open_body([=](context ctx) -> task<std::string> {
    // The second request is in the mailbox when the actor dies of the first.
    const auto both = co_await when_all(
      as_expected(ctx.ask<int>(oven, 1s, "the fuse has blown"s)),
      as_expected(ctx.ask<int>(oven, 1s, 1)));
    const auto late = co_await as_expected(ctx.ask<int>(oven, 1s, 1));
    const auto told = [](const caf::error& x) {
      const auto status = to_status(x);
      return std::string{to_string(status.code())} + ' ' + status.message()
             + '\n';
    };
    co_return told(std::get<1>(both).error()) + told(late.error());
  });
  const auto expected
    = "unavailable the actor was lost before it answered: the fuse has blown\n"s;
  EXPECT_EQ(client.output(), expected + expected);
}

TEST_F(ask, the_death_of_who_the_request_was_delegated_to_is_no_wait) {
  const auto dead = system.spawn(run_oven);
  kill(dead);
  const auto front
    = system.spawn([dead](caf::event_based_actor* self) -> caf::behavior {
        return {[=](int x) { return self->delegate(dead, x); }};
      });
  auto client = open_body([=](context ctx) -> task<int> {
    co_return co_await ctx.ask<int>(front, 1h, 1);
  });
  ASSERT_TRUE(client.received().end) << "the actor that was asked lives";
  EXPECT_EQ(client.code(), errc::unavailable);
  kill(front);
}

TEST_F(ask, who_delegates_and_finishes_is_answered_for) {
  const auto front
    = system.spawn([this](caf::event_based_actor* self) -> caf::behavior {
        return {[=, this](int x, int y) {
          self->quit();
          return self->delegate(it, x, y);
        }};
      });
  auto client = open_body([=](context ctx) -> task<int> {
    co_return co_await ctx.ask<int>(front, 1h, 8, 2);
  });
  EXPECT_EQ(client.output(), 4);
}

TEST_F(ask, a_client_that_the_body_has_asked_is_still_watched) {
  auto answers = [](caf::event_based_actor* self) -> caf::behavior {
    self->set_default_handler(caf::drop);
    return {[](int x) { return x; }};
  };
  const auto both = system.spawn(answers);
  auto left = 0;
  const auto flow
    = define([&, both](context ctx, input<int> in, output<int>) -> task<> {
        const departure here{left};
        co_await ctx.ask<int>(both, 1s, 1);
        co_await ctx.ask(it, 1s, 6, 2); // ends the watch of the first request
        co_await in.next();
      });
  auto request = flow.opening_for(caf::actor_cast<chunk_sink>(both));
  caf::anon_send(rt->front_desk(), std::move(request));
  run();
  EXPECT_EQ(left, 0);
  kill(both);
  EXPECT_EQ(left, 1);
}

} // namespace tertulia::test::ask_tests
