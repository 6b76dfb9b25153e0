// SPDX-License-Identifier: BSD-3-Clause

#include <future>
#include <memory>
#include <thread>

#include "support/threaded.hpp"

using namespace std::literals;

namespace tertulia::test::connection_threads_tests {

namespace {

struct connection_threads : threaded {
  /// Defines a flow that returns every input as a chunk.
  auto define_mirror() {
    return rt->define_bidi_flow(
      "mirror", [](context, input<int> in, output<int> out) -> task<int> {
        const witness here;
        int count = 0;
        while (auto x = co_await in.next()) {
          ++count;
          co_await out.send(*x);
        }
        co_return count;
      });
  }

  /// Defines a flow that reads nothing and does not end by itself.
  auto define_deaf() {
    return rt->define_bidi_flow(
      "deaf", [](context ctx, input<int>, output<int>) -> task<int> {
        const witness here;
        co_await ctx.sleep(1h);
        co_return 0;
      });
  }

  /// Defines a flow that blocks a thread until the gate opens and ignores a
  /// cancel.
  auto define_blocked(std::shared_ptr<gate> begun, std::shared_ptr<gate> open) {
    return rt->define_bidi_flow("blocked",
                                [begun, open](context ctx, input<int>,
                                              output<int>) -> task<int> {
                                  const witness here;
                                  int on_the_frame = 0;
                                  co_await ctx.run_blocking([&] {
                                    begun->open();
                                    open->wait();
                                    on_the_frame = 1;
                                  });
                                  co_return on_the_frame;
                                });
  }
};

} // namespace

// -- concurrent use -----------------------------------------------------------

TEST_F(connection_threads, eight_threads_send_and_each_input_comes_once) {
  constexpr int senders = 8;
  constexpr int each = 2'000;
  auto flow = define_mirror();
  for (const auto window : {0u, 1u, 64u}) {
    SCOPED_TRACE(window);
    auto talk = flow.stream_bidi(with_input_window(window));
    std::vector<std::jthread> threads;
    std::atomic<int> left = senders;
    for (int sender = 0; sender < senders; ++sender)
      threads.emplace_back([&, sender] {
        for (int i = 0; i < each; ++i)
          talk.send(sender * each + i);
        if (--left == 0)
          talk.close();
      });
    std::vector<int> next(senders);
    int count = 0;
    for (auto x : talk.responses(patience)) {
      ASSERT_EQ(x % each, next[static_cast<std::size_t>(x / each)]++);
      ++count;
    }
    EXPECT_EQ(count, senders * each);
    EXPECT_EQ(talk.output(patience), senders * each);
  }
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(connection_threads, a_rendezvous_on_both_sides_makes_progress) {
  auto talk
    = define_mirror().stream_bidi(with_input_window(0), with_chunk_window(0));
  std::jthread sender{[&] {
    for (int i = 0; i < 5'000; ++i)
      talk.send(i);
    talk.close();
  }};
  int expected = 0;
  for (auto x : talk.responses(patience))
    ASSERT_EQ(x, expected++);
  EXPECT_EQ(expected, 5'000);
  EXPECT_EQ(talk.output(patience), 5'000);
}

TEST_F(connection_threads, a_reader_may_leave_and_come_while_others_send) {
  auto talk = define_mirror().stream_bidi(with_chunk_window(2));
  std::jthread sender{[&] {
    for (int i = 0; i < 3'000; ++i)
      talk.send(i);
    talk.close();
  }};
  int expected = 0;
  while (!talk.finished())
    for (auto x : talk.responses(patience)) {
      ASSERT_EQ(x, expected++);
      if (x % 3 == 0)
        break;
    }
  EXPECT_EQ(expected, 3'000);
}

TEST_F(connection_threads, a_cancel_frees_all_who_wait_to_send) {
  auto talk = define_deaf().stream_bidi();
  talk.send(0);
  std::vector<std::future<errc>> senders;
  for (int i = 0; i < 4; ++i)
    senders.push_back(std::async(std::launch::async, [&] {
      return code_from([&] { talk.send_within(patience, 1); });
    }));
  talk.cancel();
  for (auto& sender : senders)
    EXPECT_EQ(sender.get(), errc::cancelled);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(connection_threads, completion_frees_all_who_wait_to_send) {
  const auto begun = std::make_shared<gate>();
  const auto open = std::make_shared<gate>();
  auto talk = define_blocked(begun, open).stream_bidi();
  talk.send(0);
  std::vector<std::future<errc>> senders;
  for (int i = 0; i < 4; ++i)
    senders.push_back(std::async(std::launch::async, [&] {
      return code_from([&] { talk.send_within(patience, 1); });
    }));
  open->open();
  for (auto& sender : senders)
    EXPECT_EQ(sender.get(), errc::failed_precondition);
  EXPECT_EQ(talk.output(patience), 1);
}

TEST_F(connection_threads, everybody_who_waits_hears_of_the_end) {
  auto talk = define_deaf().stream_bidi();
  const auto waits = [&](auto wait) {
    return std::async(std::launch::async,
                      [wait] { return code_from([&] { wait(); }); });
  };
  auto first = waits([&] { talk.output(patience); });
  auto second = waits([&] { talk.output(patience); });
  auto reader = waits([&] { read_turn(talk); });
  auto done = std::async(std::launch::async,
                         [&] { return talk.wait_until_done(patience); });
  talk.cancel();
  EXPECT_EQ(first.get(), errc::cancelled);
  EXPECT_EQ(second.get(), errc::cancelled);
  EXPECT_EQ(reader.get(), errc::cancelled);
  EXPECT_TRUE(done.get());
}

TEST_F(connection_threads, connections_come_and_go_on_many_threads) {
  auto flow = define_mirror();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 300; ++round) {
        auto talk = flow.stream_bidi();
        talk.send(round);
        switch (round % 4) {
          case 0:
            talk.close();
            ASSERT_EQ(talk.output(patience), 1);
            break;
          case 1: ASSERT_EQ(*talk.responses(patience).begin(), round); break;
          case 2: talk.cancel(); break;
          default: break;
        }
      }
    });
  threads.clear();
  EXPECT_TRUE(nothing_is_left());
}

// -- lifetimes ----------------------------------------------------------------

TEST_F(connection_threads, a_stopping_runtime_ends_what_is_open) {
  auto talk = define_mirror().stream_bidi();
  auto waiting = std::async(std::launch::async,
                            [&] { return error_of([&] { read_turn(talk); }); });
  rt.reset();
  const auto error = waiting.get();
  EXPECT_EQ(error.code(), errc::unavailable);
  const auto again = error_of([&] { talk.output(patience); });
  EXPECT_EQ(again.code(), errc::unavailable);
  EXPECT_EQ(again.message(), error.message());
  EXPECT_EQ(witness::alive(), 0) << "the destructor waits for the bodies";
}

TEST_F(connection_threads, a_finished_connection_outlives_its_runtime) {
  auto talk = define_mirror().stream_bidi();
  talk.send(1);
  talk.close();
  EXPECT_TRUE(talk.wait_until_done(patience));
  rt.reset();
  EXPECT_EQ(read_turn(talk), std::vector{1});
  EXPECT_EQ(talk.output(patience), 1);
  talk.cancel();
  talk.close();
}

TEST_F(connection_threads, a_stopped_runtime_opens_nothing) {
  auto flow = define_mirror();
  rt->stop();
  rt->stop();
  EXPECT_EQ(code_from([&] { static_cast<void>(flow.stream_bidi()); }),
            errc::unavailable);
  rt.reset();
  EXPECT_EQ(code_from([&] { static_cast<void>(flow.stream_bidi()); }),
            errc::unavailable)
    << "an action outlives its runtime";
}

TEST_F(connection_threads, connections_open_while_the_runtime_stops) {
  for (int round = 0; round < 50; ++round) {
    auto flow = rt->new_bidi_action(
      "mirror", [](context, input<int> in, output<int>) -> task<int> {
        const witness here;
        while (co_await in.next())
          ;
        co_return 0;
      });
    std::jthread opener{[&] {
      for (;;) {
        try {
          auto talk = flow.stream_bidi();
          talk.close();
          talk.output(patience);
        } catch (const status_error& error) {
          EXPECT_EQ(error.code(), errc::unavailable);
          return;
        }
      }
    }};
    { auto talk = flow.stream_bidi(); }
    rt->stop();
    opener.join();
    restart({});
  }
  EXPECT_EQ(witness::alive(), 0);
}

// -- a body as a client -------------------------------------------------------

TEST_F(connection_threads, an_opening_that_nobody_awaits_leaves_nothing) {
  auto deaf = define_deaf();
  auto flow = rt->define_bidi_flow(
    "opener", [deaf](context ctx, input<int> in, output<int> out) -> task<int> {
      for (int i = 0; i < 100; ++i)
        co_await when_any(deaf.open(ctx), ctx.sleep(0s));
      co_await out.send(1);
      co_await in.next();
      co_return 0;
    });
  auto talk = flow.stream_bidi();
  EXPECT_EQ(*talk.responses(patience).begin(), 1);
  EXPECT_TRUE(eventually([] { return witness::alive() == 0; }))
    << witness::alive();
}

} // namespace tertulia::test::connection_threads_tests
