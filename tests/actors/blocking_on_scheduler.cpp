// SPDX-License-Identifier: BSD-3-Clause

// Blocking a thread of CAF's scheduler is refused: the wait may depend on work
// that needs that thread. All other threads may block.

#include <tertulia/detail/blocking_caller.hpp>
#include <tertulia/memory_store.hpp>
#include <tertulia/session_file.hpp>

#include <sstream>

#include "support/blocking_connection.hpp"
#include "support/deterministic.hpp"

using namespace std::literals;

namespace tertulia::test::blocking_on_scheduler_tests {

namespace {

struct blocking_on_scheduler : threaded {
  /// Returns what `fn` throws when it runs on an actor.
  template <caf::spawn_options Options = caf::no_spawn_options, class Fn>
  errc code_on_actor(Fn fn) {
    return code_on_actor_of<Options>(system, std::move(fn));
  }

  template <caf::spawn_options Options = caf::no_spawn_options, class Fn>
  static errc code_on_actor_of(caf::actor_system& system, Fn fn) {
    auto result = std::make_shared<std::promise<errc>>();
    auto answer = result->get_future();
    system.spawn<Options>(
      [fn = std::move(fn), result](caf::event_based_actor*) {
        result->set_value(code_from(fn));
      });
    return answer.get();
  }
};

} // namespace

TEST_F(blocking_on_scheduler, a_body_cannot_open_a_connection_for_threads) {
  const auto inner = define_echo();
  const auto outer = rt->define_bidi_flow(
    "outer", [&](context, input<int>, output<int>) -> task<> {
      static_cast<void>(inner.stream_bidi());
      co_return;
    });
  auto talk = outer.stream_bidi();
  EXPECT_EQ(code_from([&] { talk.output(patience); }),
            errc::failed_precondition);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(blocking_on_scheduler, an_actor_cannot_wait_for_one_that_it_was_given) {
  auto talk = define_counter().stream_bidi();
  const auto refused = errc::failed_precondition;
  EXPECT_EQ(code_on_actor([&] { talk.send(2); }), refused);
  EXPECT_EQ(code_on_actor([&] { talk.send_within(1h, 2); }), refused);
  EXPECT_EQ(code_on_actor([&] { talk.output(); }), refused);
  EXPECT_EQ(code_on_actor([&] { talk.output(1h); }), refused);
  EXPECT_EQ(code_on_actor([&] { talk.wait_until_done(1h); }), refused);
  EXPECT_EQ(code_on_actor([&] { talk.responses().begin(); }), refused);
  talk.send(2);
  EXPECT_EQ(read_turn(talk), (std::vector{0, 1})) << "nothing was spoilt";
}

TEST_F(blocking_on_scheduler, an_actor_may_do_what_never_waits) {
  auto talk = define_counter().stream_bidi();
  EXPECT_EQ(code_on_actor([&] { talk.wait_until_done(0s); }), errc::ok);
  EXPECT_EQ(code_on_actor([&] { talk.send_within(0s, 2); }), errc::ok);
  EXPECT_EQ(code_on_actor([&] { talk.close(); }), errc::ok);
  EXPECT_EQ(talk.output(patience), 2);
  EXPECT_EQ(code_on_actor([&] { talk.output(); }), errc::ok) << "it has ended";
}

TEST_F(blocking_on_scheduler, actors_with_threads_of_their_own_may_block) {
  const auto echo = define_echo();
  const auto converse = [&] {
    auto talk = echo.stream_bidi();
    talk.send("hello");
    talk.close();
    talk.output(patience);
  };
  EXPECT_EQ(code_on_actor<caf::detached>(converse), errc::ok);
  auto result = std::make_shared<std::promise<errc>>();
  auto answer = result->get_future();
  system.spawn([converse, result](caf::blocking_actor*) {
    result->set_value(code_from(converse));
  });
  EXPECT_EQ(answer.get(), errc::ok);
  const auto outer = rt->define_bidi_flow(
    "outer", [&](context ctx, input<int>, output<int>) -> task<int> {
      co_return static_cast<int>(
        co_await ctx.run_blocking([&] { return code_from(converse); }));
    });
  EXPECT_EQ(outer.stream_bidi().output(patience), 0);
}

TEST_F(blocking_on_scheduler, a_body_cannot_wait_for_a_store) {
  const auto store = spawn_memory_store(system);
  EXPECT_EQ(code_on_actor([&] {
              std::ostringstream to;
              export_session(system, store,
                             session_ref{"/agent/a", session_id{"s"s}}, to);
            }),
            errc::failed_precondition);
}

TEST_F(blocking_on_scheduler, each_scheduler_that_has_threads_is_known) {
  config sharing;
  sharing.set("scheduler.policy", caf::atom("sharing"));
  caf::actor_system other{sharing};
  const auto check = [&] { detail::check_may_block(other); };
  EXPECT_EQ(code_on_actor_of(other, check), errc::failed_precondition);
  EXPECT_EQ(code_from(check), errc::ok);
  EXPECT_EQ(code_on_actor(check), errc::ok) << "a thread of another system";
  EXPECT_EQ(code_on_actor([&] { detail::check_may_block(system); }),
            errc::failed_precondition)
    << "the answer for one system is none for another";
}

using deterministic_scheduler = deterministic;

TEST_F(deterministic_scheduler, has_no_threads_that_could_block) {
  auto code = errc::internal;
  system.spawn([&](caf::event_based_actor* self) {
    code = code_from([&] { detail::check_may_block(self->system()); });
  });
  run();
  EXPECT_EQ(code, errc::ok);
}

} // namespace tertulia::test::blocking_on_scheduler_tests
