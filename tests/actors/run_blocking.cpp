// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/descriptor.hpp>

#include <caf/scoped_actor.hpp>

#include <barrier>
#include <condition_variable>
#include <mutex>
#include <stdexcept>

#include "support/threaded.hpp"

using namespace std::literals;

namespace tertulia::test::run_blocking_tests {

namespace {

struct run_blocking : threaded {
  template <class Body>
  auto define(Body body) {
    return rt->define_bidi_flow("flow" + std::to_string(++defined_),
                                std::move(body));
  }

  /// Opens a connection as an actor does, to get a handle to it.
  template <class Flow>
  connection_actor open(const Flow& flow) {
    auto said = std::make_shared<std::promise<caf::error>>();
    last_word = said->get_future();
    const auto sink = system.spawn([said](chunk_sink::pointer self) //
                                   -> chunk_sink::behavior_type {
      return {
        [](const chunk_batch&) {},
        [](input_credit) {},
        [](turn_end) {},
        [=](completion& x) {
          said->set_value(std::move(x.reason));
          self->quit();
        },
      };
    });
    connection_actor result;
    caf::scoped_actor self{system};
    self
      ->request(rt->front_desk(), caf::duration{patience},
                flow.opening_for(sink))
      .receive([&](const open_result& x) { result = x.connection; },
               [](const caf::error& reason) {
                 ADD_FAILURE() << to_status(reason).message();
               });
    return result;
  }

  std::future<caf::error> last_word;
  gate started;
  gate release;

private:
  int defined_ = 0;
};

} // namespace

// -- outcomes -----------------------------------------------------------------

TEST_F(run_blocking, it_yields_what_the_function_returns) {
  const auto flow = define([](context ctx, input<int>, output<int>) //
                           -> task<std::string> {
    const witness here;
    const auto text = co_await ctx.run_blocking([] { return "text"s; });
    auto box
      = co_await ctx.run_blocking([] { return std::make_unique<int>(7); });
    int counter = 0;
    co_await ctx.run_blocking([&] { ++counter; });
    co_await ctx.run_blocking(
      [&](std::stop_token stop) { counter += stop.stop_requested() ? 10 : 1; });
    co_return text + std::to_string(*box + counter);
  });
  auto talk = flow.stream_bidi();
  EXPECT_EQ(talk.output(patience), "text9");
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(run_blocking, it_throws_what_the_function_throws) {
  const auto flow = define([](context ctx, input<int>, output<int>) //
                           -> task<std::string> {
    std::string seen;
    try {
      co_await ctx.run_blocking([] { throw std::out_of_range{"foreign"}; });
    } catch (const std::out_of_range& x) {
      seen = x.what();
    }
    co_await ctx.run_blocking([] {
      throw status_error{errc::data_loss, "the disk", R"({"at":1})"};
    });
    co_return seen;
  });
  auto talk = flow.stream_bidi();
  const auto error = error_of([&] { talk.output(patience); });
  EXPECT_EQ(error.code(), errc::data_loss);
  EXPECT_EQ(error.details(), R"({"at":1})");
}

TEST_F(run_blocking, calls_of_one_body_block_at_the_same_time) {
  std::barrier meeting{3};
  const auto flow = define([&](context ctx, input<int>, output<int>) //
                           -> task<int> {
    const auto meet = [&] {
      meeting.arrive_and_wait();
      return 1;
    };
    const auto [x, y]
      = co_await when_all(ctx.run_blocking(meet), ctx.run_blocking(meet));
    co_return x + y;
  });
  auto talk = flow.stream_bidi();
  meeting.arrive_and_wait();
  EXPECT_EQ(talk.output(patience), 2);
}

TEST_F(run_blocking, the_body_goes_on_with_its_other_parts_meanwhile) {
  const auto echo = [](input<int> in, output<int> out) -> task<> {
    while (auto x = co_await in.next())
      co_await out.send(*x);
  };
  const auto flow = define([&](context ctx, input<int> in, output<int> out) //
                           -> task<> {
    co_await when_all(ctx.run_blocking([&] {
      started.open();
      release.wait();
    }),
                      echo(in, out));
  });
  auto talk = flow.stream_bidi();
  started.wait();
  talk.send(5);
  EXPECT_EQ(*talk.responses(patience).begin(), 5);
  release.open();
  talk.close();
  EXPECT_EQ(talk.output(patience), nothing{});
}

// -- cancel -------------------------------------------------------------------

TEST_F(run_blocking, a_cancel_asks_the_function_to_stop) {
  const auto flow = define([&](context ctx, input<int>, output<int>) //
                           -> task<> {
    const witness here;
    co_await ctx.run_blocking([&](std::stop_token stop) {
      std::mutex mutex;
      std::condition_variable_any stopped;
      started.open();
      std::unique_lock guard{mutex};
      stopped.wait(guard, stop, [] { return false; });
    });
  });
  auto talk = flow.stream_bidi();
  started.wait();
  talk.cancel();
  EXPECT_EQ(code_from([&] { talk.output(patience); }), errc::cancelled);
  EXPECT_TRUE(nothing_is_left());
}

// The client learns of the cancel at once. The body ends only after the
// function no longer refers to it.
TEST_F(run_blocking, a_body_outlives_the_function_that_refers_to_it) {
  bool returned = false;
  bool returned_before = false;
  const auto flow = define([&](context ctx, input<int>, output<int>) //
                           -> task<> {
    const witness here;
    std::vector<int> ours(1'000);
    try {
      co_await ctx.run_blocking([&] {
        started.open();
        release.wait();
        std::fill(ours.begin(), ours.end(), 1);
        returned = true;
      });
    } catch (const status_error&) {
      returned_before = returned;
      throw;
    }
  });
  auto talk = flow.stream_bidi();
  started.wait();
  talk.cancel();
  EXPECT_EQ(code_from([&] { talk.output(patience); }), errc::cancelled);
  EXPECT_EQ(witness::alive(), 1);
  release.open();
  EXPECT_TRUE(nothing_is_left());
  EXPECT_TRUE(returned_before);
}

TEST_F(run_blocking, who_lost_a_race_has_returned_when_it_is_over) {
  std::atomic<bool> returned = false;
  const auto flow = define([&](context ctx, input<int> in, output<int>) //
                           -> task<bool> {
    co_await when_any(in.next(), ctx.run_blocking([&](std::stop_token stop) {
      started.open();
      while (!stop.stop_requested())
        std::this_thread::yield();
      returned = true;
      return 1;
    }));
    co_return returned.load();
  });
  auto talk = flow.stream_bidi();
  started.wait();
  talk.send(1);
  EXPECT_TRUE(talk.output(patience));
}

TEST_F(run_blocking, a_killed_body_waits_for_the_function_too) {
  std::atomic<int> filled = 0;
  const auto flow = define([&](context ctx, input<int>, output<int>) //
                           -> task<> {
    const witness here;
    std::vector<int> ours(1'000);
    co_await ctx.run_blocking([&] {
      started.open();
      release.wait();
      std::fill(ours.begin(), ours.end(), 1);
      filled = static_cast<int>(std::count(ours.begin(), ours.end(), 1));
    });
  });
  const auto connection = open(flow);
  started.wait();
  caf::anon_send_exit(connection, caf::exit_reason::kill);
  ASSERT_EQ(last_word.wait_for(patience), std::future_status::ready);
  EXPECT_EQ(code_of(last_word.get()), errc::aborted);
  EXPECT_EQ(witness::alive(), 1);
  release.open();
  EXPECT_TRUE(eventually([] { return witness::alive() == 0; }));
  EXPECT_EQ(filled, 1'000);
}

TEST_F(run_blocking, a_runtime_that_stops_waits_for_the_function) {
  std::atomic<bool> returned = false;
  const auto flow = define([&](context ctx, input<int>, output<int>) //
                           -> task<> {
    co_await ctx.run_blocking([&] {
      started.open();
      release.wait();
      returned = true;
    });
  });
  auto talk = flow.stream_bidi();
  started.wait();
  auto stopped = std::async(std::launch::async, [&] { rt.reset(); });
  EXPECT_EQ(code_from([&] { talk.output(patience); }), errc::unavailable);
  EXPECT_EQ(stopped.wait_for(0s), std::future_status::timeout);
  release.open();
  stopped.get();
  EXPECT_TRUE(returned);
}

TEST_F(run_blocking, a_desk_that_stops_waits_for_all_of_its_connections) {
  const auto blocked = define([&](context ctx, input<int>, output<int>) //
                              -> task<> {
    co_await ctx.run_blocking([&] {
      started.open();
      release.wait();
    });
  });
  const auto idle = define([](context, input<int> in, output<int>) //
                           -> task<> { co_await in.next(); });
  auto talk = blocked.stream_bidi();
  const auto other = open(idle);
  started.wait();
  caf::scoped_actor self{system};
  self->monitor(other);
  rt->stop();
  self->receive([](const caf::down_msg&) {}); // the desk receives it, too
  for (int i = 0; i < 10; ++i)
    self->request(rt->front_desk(), caf::duration{patience}, list_atom_v)
      .receive([](const action_list&) {},
               [](const caf::error& reason) {
                 ADD_FAILURE() << to_status(reason).message();
               });
  release.open();
}

} // namespace tertulia::test::run_blocking_tests
