// SPDX-License-Identifier: BSD-3-Clause

// Calls that need a node whose link is lost, and the ways back to it.

#include <tertulia/actor_client.hpp>
#include <tertulia/detail/backoff.hpp>
#include <tertulia/remote_runtime.hpp>

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <future>
#include <set>
#include <vector>

#include "support/lost_links.hpp"

using namespace std::literals;

namespace tertulia::test::lost_openings_tests {

namespace {

using lost_openings = lost_links;

} // namespace

TEST_F(lost_openings, a_client_comes_back_by_another_address) {
  cut_link second{port};
  auto talk = counter_at({endpoint{"127.0.0.1", link->port()},
                          endpoint{"127.0.0.1", second.port()}})
                .stream_bidi(with_keep(1min));
  const auto read = [&] {
    std::vector<int> received;
    for (const auto x : talk.responses(patience))
      received.push_back(x);
    return received;
  };
  talk.send(2);
  EXPECT_EQ(read(), (std::vector{0, 1}));
  link->refuse();
  talk.send(2);
  EXPECT_EQ(read(), (std::vector{2, 3}));
  link->accept();
  second.refuse();
  talk.send(1);
  talk.close();
  EXPECT_EQ(read(), std::vector{4});
  EXPECT_EQ(talk.output(patience), 5);
  EXPECT_EQ(inputs, 3);
}

TEST_F(lost_openings, a_client_knows_two_addresses_of_its_server) {
  cut_link other{port};
  const auto first = link->port();
  const auto second = other.port();
  auto& system = there;
  // --(endpoints-begin)--
  const std::vector<tertulia::endpoint> addresses{{"127.0.0.1", first},
                                                  {"127.0.0.1", second}};
  const tertulia::remote_runtime server{
    system, addresses, tertulia::reconnect_policy{.patience = 2min}};
  // --(endpoints-end)--
  auto talk = server.action<counter_flow>("/bidi-flow/counter").stream_bidi();
  talk.close();
  EXPECT_EQ(talk.output(patience), 0);
}

TEST_F(lost_openings, an_opening_waits_until_the_link_is_back) {
  const auto far = counter();
  lose_link(far);
  const auto back = accept_later();
  auto talk = far.stream_bidi();
  talk.close();
  EXPECT_EQ(talk.output(patience), 0);
}

TEST_F(lost_openings, an_opening_of_a_body_waits_until_the_link_is_back) {
  const auto far = counter();
  runtime near{there};
  const auto mirror = near.define_bidi_flow(
    "mirror", [far](context ctx, input<int>, output<int>) -> task<int> {
      auto talk = co_await far.open(ctx);
      talk.close();
      co_return co_await talk.output();
    });
  lose_link(far);
  const auto back = accept_later();
  EXPECT_EQ(mirror.stream_bidi().output(patience), 0);
}

TEST_F(lost_openings, an_opening_of_an_actor_waits_until_the_link_is_back) {
  struct opener : actor_client<counter_flow> {
    using actor_client::actor_client;

    void on_open(const open_result&) override {
      close();
    }

    void on_chunk(int&) override {}

    void on_output(int& x) override {
      output->set_value(x);
      self()->quit();
    }

    void on_error(const status_error& x) override {
      output->set_exception(std::make_exception_ptr(x));
      self()->quit();
    }

    std::promise<int>* output = nullptr;
  };
  const auto far = counter();
  lose_link(far);
  const auto back = accept_later();
  std::promise<int> output;
  there.spawn([&](caf::stateful_actor<opener>* self) {
    self->state.output = &output;
    far.open(self->state);
    return caf::behavior{self->state.handlers()};
  });
  auto result = output.get_future();
  ASSERT_EQ(result.wait_for(patience), std::future_status::ready);
  EXPECT_EQ(result.get(), 0);
}

TEST_F(lost_openings, the_patience_of_an_opening_ends_with_unavailable) {
  const auto far = counter(100ms);
  lose_link(far);
  EXPECT_EQ(code_from([&] { (void)far.stream_bidi(); }), errc::unavailable);
  EXPECT_GT(link->refusals(), 1);
}

TEST_F(lost_openings, pauses_grow_up_to_the_longest_and_are_partly_random) {
  const detail::backoff::time_point begin{1h};
  detail::backoff pauses{reconnect_policy{10s, 100ms, 1s}, begin};
  std::set<std::int64_t> in_part;
  for (const auto whole : {100ms, 200ms, 400ms, 800ms, 1000ms, 1000ms}) {
    const auto pause = pauses.next(begin + 8s);
    ASSERT_TRUE(pause);
    EXPECT_GE(*pause, whole / 2);
    EXPECT_LE(*pause, whole);
    in_part.insert(*pause * 1'000 / whole);
  }
  EXPECT_GT(in_part.size(), 1u);
  EXPECT_TRUE(pauses.next(begin + 9s)) << "it ends with the patience";
  EXPECT_FALSE(pauses.next(begin + 9'001ms));
  detail::backoff endless{reconnect_policy{caf::timespan::max()}, begin};
  EXPECT_TRUE(endless.next(begin + 24h * 365));
}

} // namespace tertulia::test::lost_openings_tests
