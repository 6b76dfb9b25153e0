// SPDX-License-Identifier: BSD-3-Clause

// Actors on the threads of the connections, and those that are too slow for it.

#include <tertulia/detail/send_here.hpp>
#include <tertulia/detail/without_clock.hpp>

#include <caf/event_based_actor.hpp>
#include <caf/execution_unit.hpp>
#include <caf/scoped_actor.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "runtime/http/server/io_thread.hpp"
#include "support/valve.hpp"
#include "support/web_fixture.hpp"
#include <boost/asio/post.hpp>

using namespace std::literals;

namespace tertulia::test::io_thread_tests {

/// Returns the processor time of the calling thread.
std::chrono::nanoseconds processor_time() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds{now.tv_sec}
         + std::chrono::nanoseconds{now.tv_nsec};
}

struct io_threads : web {
  io_threads() {
    rt.define_bidi_flow("place",
                        [this](context, input<int>, output<int>) -> task<int> {
                          body = std::this_thread::get_id();
                          co_return 1;
                        });
    rt.define_bidi_flow("wait",
                        [this](context, input<int>, output<int>) -> task<int> {
                          auto& gate = gates.at(waiting);
                          ++waiting;
                          gate.wait();
                          ++ended;
                          co_return 2;
                        });
  }

  web_client serve() {
    http_server_options options;
    options.authorize = [this](const access_request&) {
      connection = std::this_thread::get_id();
      return true;
    };
    return web::serve(std::move(options));
  }

  /// Returns whether a body runs on the thread of its connection, now or soon:
  /// after one that is slow, further ones do not for a while.
  ::testing::AssertionResult is_at_home(web_client& at) {
    const auto is_equal = [&] {
      at.call("POST", "/actions/bidi-flow/place");
      return body.load() == connection.load();
    };
    return eventually(is_equal) ? ::testing::AssertionSuccess()
                                : ::testing::AssertionFailure();
  }

  std::atomic<std::thread::id> body;
  std::atomic<std::thread::id> connection;
  std::atomic<std::size_t> waiting = 0;
  std::atomic<std::size_t> ended = 0;
  std::array<valve, 3> gates;
};

TEST_F(io_threads, run_the_actors_of_their_requests) {
  auto at = serve();
  EXPECT_TRUE(is_at_home(at));
}

// Too short for the other thread to take over.
TEST_F(io_threads, leave_bodies_that_compute_to_other_threads) {
  rt.define_bidi_flow("compute",
                      [](context, input<int>, output<int>) -> task<int> {
                        const auto end = processor_time() + 2ms;
                        while (processor_time() < end) {
                        }
                        co_return 1;
                      });
  auto at = serve();
  EXPECT_TRUE(eventually([&] {
    for (auto i = 0; i < 10; ++i)
      at.call("POST", "/actions/bidi-flow/compute");
    at.call("POST", "/actions/bidi-flow/place");
    return body.load() != connection.load();
  }));
  EXPECT_TRUE(is_at_home(at));
}

// Each time another thread of the two takes over.
TEST_F(io_threads, are_not_held_back_by_a_body_that_waits) {
  auto at = serve();
  for (std::size_t time = 0; time < gates.size(); ++time) {
    ASSERT_TRUE(is_at_home(at)) << time;
    auto other = client();
    auto first = client();
    first.ask("POST", "/actions/bidi-flow/wait");
    EXPECT_TRUE(eventually([&] { return waiting == time + 1; }));
    EXPECT_EQ(other.call("GET", "/healthz").status, 200u);
    EXPECT_EQ(other.call("POST", "/actions" + echo).status, 200u);
    EXPECT_EQ(at.call("POST", "/actions/bidi-flow/place").status, 200u);
    EXPECT_EQ(ended, time) << "it waits still";
    gates.at(time).open();
    EXPECT_EQ(first.read().document()["output"], 2);
  }
}

TEST_F(io_threads, end_when_a_body_that_waits_has_ended) {
  auto at = serve();
  at.ask("POST", "/actions/bidi-flow/wait");
  EXPECT_TRUE(eventually([&] { return waiting == 1; }));
  at.close();
  const std::jthread later{[this] { gates.front().open(); }};
  server.reset();
  EXPECT_TRUE(eventually([&] { return ended == 1; }));
}

// The job that opens the gate waits behind the body, on the same thread, until
// the other thread takes over.
TEST_F(io_threads, end_when_a_body_waits_for_another_job) {
  const std::array<gate, 20> opened{};
  const auto opener = system.spawn([opened] {
    return caf::behavior{[opened, next = std::size_t{0}](caf::ok_atom) mutable {
      opened.at(next++).open();
    }};
  });
  rt.define_bidi_flow("depend",
                      [&](context, input<int>, output<int>) -> task<int> {
                        detail::send_here(opener, caf::ok_atom_v);
                        opened.at(waiting++).wait();
                        ++ended;
                        co_return 1;
                      });
  for (std::size_t i = 1; i <= opened.size(); ++i) {
    auto at = web::serve({.drain_within = 0s});
    at.ask("POST", "/actions/bidi-flow/depend");
    EXPECT_TRUE(eventually([&] { return waiting == i; }));
    server.reset();
    EXPECT_TRUE(eventually([&] { return ended == i; }));
  }
}

// The same within the time in which the other thread does not take over yet.
TEST_F(io_threads, pass_on_waiting_jobs_at_their_end) {
  const gate begun;
  const gate opened;
  const auto spawn_idle = [&](const std::function<void()>& call) {
    const auto result = system.spawn([call] {
      return caf::behavior{[call](caf::ok_atom) { call(); },
                           [](caf::ping_atom) { return caf::pong_atom_v; }};
    });
    caf::scoped_actor {
      system
      } -> request(result, patience, caf::ping_atom_v)
        .receive([](caf::pong_atom) {}, [](const caf::error&) { FAIL(); });
    return result;
  };
  const auto dependent = spawn_idle([=] {
    begun.open();
    opened.wait();
  });
  const auto opener = spawn_idle([=] { opened.open(); });
  tertulia::web::io_thread thread{system, true};
  boost::asio::post(thread.context(), [=] {
    detail::send_here(dependent, caf::ok_atom_v);
    detail::send_here(opener, caf::ok_atom_v);
  });
  thread.start();
  begun.wait();
  thread.join();
  opened.wait();
}

/// Actors that are spawned on one thread of a server, and woken by an actor on
/// another one.
struct two_io_threads : io_threads {
  two_io_threads() {
    first->start();
    second->start();
    kept = spawn_on(*first, [this] {
      ran_on = detail::execution_here();
      ++runs;
    });
    waker = spawn_on(*second, [] {});
  }

  /// Returns an actor that has run on a thread.
  caf::actor spawn_on(tertulia::web::io_thread& on,
                      const std::function<void()>& call) {
    std::promise<caf::actor> result;
    boost::asio::post(on.context(), [&] {
      result.set_value(detail::spawn_here(
        system, [call](detail::without_clock<caf::event_based_actor>* self) {
          return caf::behavior{[call](caf::ok_atom) { call(); },
                               [self](caf::forward_atom, const caf::actor& to) {
                                 self->send(to, caf::ok_atom_v);
                               }};
        }));
    });
    return result.get_future().get();
  }

  /// Returns where the first actor runs when the other one sends to it; null
  /// for a thread of CAF.
  caf::execution_unit* wake() {
    const auto before = runs.load();
    boost::asio::post(second->context(), [&] {
      detail::send_here(waker, caf::forward_atom_v, kept);
    });
    EXPECT_TRUE(eventually([&] { return runs != before; }));
    return ran_on;
  }

  std::unique_ptr<tertulia::web::io_thread> first
    = std::make_unique<tertulia::web::io_thread>(system, false);
  std::unique_ptr<tertulia::web::io_thread> second
    = std::make_unique<tertulia::web::io_thread>(system, false);
  std::atomic<caf::execution_unit*> ran_on = nullptr;
  std::atomic<std::size_t> runs = 0;
  caf::actor kept;
  caf::actor waker;
};

// Not at once: while a thread has no processor, its actors run elsewhere.
TEST_F(two_io_threads, keep_the_actors_that_they_have_spawned) {
  for (int i = 0; i < 20; ++i)
    EXPECT_TRUE(eventually([&] { return wake() == first.get(); }));
}

TEST_F(two_io_threads, leave_actors_behind_that_work_on) {
  first.reset();
  EXPECT_EQ(wake(), nullptr);
}

TEST_F(io_threads, move_bytes_beside_an_actor_that_is_never_idle) {
  const auto ends = std::make_shared<std::atomic<bool>>(false);
  const auto actor = system.spawn([ends](caf::event_based_actor* self) {
    return caf::behavior{[ends, self](caf::tick_atom) {
      if (!*ends)
        self->send(self, caf::tick_atom_v);
    }};
  });
  rt.define_bidi_flow("wind-up",
                      [&](context, input<int>, output<int>) -> task<int> {
                        detail::send_here(actor, caf::tick_atom_v);
                        co_return 1;
                      });
  auto at = serve();
  EXPECT_TRUE(is_at_home(at));
  EXPECT_EQ(at.call("POST", "/actions/bidi-flow/wind-up").status, 200u);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(at.call("GET", "/healthz").status, 200u);
  *ends = true;
}

} // namespace tertulia::test::io_thread_tests
