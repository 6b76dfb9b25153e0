// SPDX-License-Identifier: BSD-3-Clause

// Clients of another node whose link is lost while their run goes on.

#include <tertulia/remote_runtime.hpp>

#include <caf/io/middleman.hpp>

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/cut_link.hpp"
#include "support/network_config.hpp"
#include "support/refusal.hpp"
#include "support/threaded.hpp"
#include <gtest/gtest.h>

using namespace std::literals;

namespace tertulia::test::lost_links_tests {

namespace {

using counter_flow = bidi_flow<nothing, int, int, int>;

struct lost_links : ::testing::Test {
  lost_links() : here(here_cfg), there(there_cfg), rt(here) {
    rt.define_bidi_flow(
      "counter", [this](context, input<int> in, output<int> out) -> task<int> {
        const witness alive;
        int next = 0;
        while (const auto count = co_await in.next()) {
          ++inputs;
          for (int i = 0; i < *count; ++i)
            co_await out.send(next++);
          co_await out.end_turn();
        }
        co_return next;
      });
    link.emplace(rt.publish());
  }

  counter_flow counter(caf::timespan patience = 20s) {
    client.emplace(there, std::vector{endpoint{"127.0.0.1", link->port()}},
                   reconnect_policy{patience, 1ms, 20ms});
    return client->action<counter_flow>("/bidi-flow/counter");
  }

  network_config here_cfg;
  network_config there_cfg;
  caf::actor_system here;
  caf::actor_system there;
  std::atomic<int> inputs = 0;
  runtime rt;
  std::optional<cut_link> link;
  std::optional<remote_runtime> client;
};

} // namespace

TEST_F(lost_links, a_client_of_a_kept_run_does_not_notice) {
  constexpr int turns = 20;
  constexpr int chunks = 1'000;
  auto talk = counter().stream_bidi(with_keep(1min));
  std::vector<int> received;
  for (int turn = 0; turn < turns; ++turn) {
    talk.send(chunks);
    int in_turn = 0;
    for (const auto x : talk.responses(patience)) {
      received.push_back(x);
      if (++in_turn == 100 + turn * 37)
        link->cut();
    }
  }
  ASSERT_EQ(received.size(), static_cast<std::size_t>(turns * chunks));
  for (int i = 0; i < turns * chunks; ++i)
    ASSERT_EQ(received[static_cast<std::size_t>(i)], i);
  talk.close();
  EXPECT_EQ(talk.output(patience), turns * chunks);
  EXPECT_EQ(inputs, turns);
  const auto flow = client->action<counter_flow>("/bidi-flow/counter");
  EXPECT_TRUE(eventually([&] {
    return code_from([&] { (void)flow.find_run(talk.position().run); })
           == errc::not_found;
  }))
    << "its end was heard";
}

TEST_F(lost_links, an_input_is_taken_once_wherever_the_link_is_cut) {
  constexpr int turns = 200;
  auto talk = counter().stream_bidi(with_keep(1min), with_input_window(4));
  std::jthread cutter{[this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const auto before = inputs.load();
      link->cut();
      while (!stop.stop_requested() && inputs < before + 7)
        std::this_thread::yield();
    }
  }};
  std::jthread sender{[&] {
    for (int turn = 0; turn < turns; ++turn)
      talk.send(1);
    talk.close();
  }};
  std::vector<int> received;
  do {
    for (const auto x : talk.responses(patience))
      received.push_back(x);
  } while (!talk.finished());
  EXPECT_EQ(talk.output(patience), turns);
  EXPECT_EQ(received.size(), static_cast<std::size_t>(turns));
  EXPECT_EQ(inputs, turns);
}

TEST_F(lost_links, a_client_waits_until_the_link_is_back) {
  auto talk = counter().stream_bidi(with_keep(1min));
  link->refuse();
  std::jthread back{[this] {
    // The client notices the loss, and has tried in vain.
    EXPECT_TRUE(eventually([] { return witness::alive() == 1; }));
    link->accept();
  }};
  talk.send(3);
  std::vector<int> received;
  for (const auto x : talk.responses(patience))
    received.push_back(x);
  EXPECT_EQ(received, (std::vector{0, 1, 2}));
}

TEST_F(lost_links, patience_ends_with_unavailable) {
  auto talk = counter(100ms).stream_bidi(with_keep(1min));
  link->refuse();
  EXPECT_EQ(code_from([&] { talk.output(patience); }), errc::unavailable);
  link->accept();
  auto again = rt.action("/bidi-flow/counter");
  EXPECT_EQ(again.abort(talk.position().run).status, run_status::running)
    << "the run goes on";
}

TEST_F(lost_links, a_run_that_is_not_kept_is_cancelled) {
  auto talk = counter().stream_bidi();
  EXPECT_TRUE(eventually([] { return witness::alive() == 1; }));
  link->cut();
  EXPECT_EQ(code_from([&] { talk.output(patience); }), errc::unavailable);
  EXPECT_TRUE(eventually([] { return witness::alive() == 0; }));
}

TEST_F(lost_links, a_client_that_was_replaced_meanwhile_hears_so) {
  auto talk = counter().stream_bidi(with_keep(1min));
  const auto run = talk.position().run;
  link->refuse();
  auto other = rt.action("/bidi-flow/counter").stream_bidi(with_run(run));
  link->accept();
  EXPECT_EQ(code_from([&] { talk.output(patience); }), errc::aborted);
  other.send(json(2));
  other.close();
  EXPECT_EQ(other.output(patience), json(2));
}

TEST_F(lost_links, a_detached_client_leaves_the_run_alone) {
  auto flow = counter();
  auto talk = flow.stream_bidi(with_keep(1min));
  talk.send(5);
  const auto place = talk.detach();
  const auto found = flow.find_run(place.run);
  EXPECT_EQ(found.status, run_status::running);
  EXPECT_EQ(found.key, "/bidi-flow/counter");
  auto next = flow.stream_bidi(with_cursor(place));
  std::vector<int> received;
  for (const auto x : next.responses(patience))
    received.push_back(x);
  EXPECT_EQ(received, (std::vector{0, 1, 2, 3, 4}));
  EXPECT_EQ(code_from([&] { talk.send(1); }), errc::failed_precondition);
  EXPECT_EQ(flow.abort(place.run).id, place.run);
  EXPECT_EQ(code_from([&] { next.output(patience); }), errc::aborted);
  EXPECT_EQ(code_from([&] { (void)flow.find_run(run_id{"none"}); }),
            errc::not_found);
}

} // namespace tertulia::test::lost_links_tests
