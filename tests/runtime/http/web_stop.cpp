// SPDX-License-Identifier: BSD-3-Clause

// The end of a web server, and of runs that nobody reads.

#include <atomic>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "support/has.hpp"
#include "support/web_fixture.hpp"

using namespace std::literals;

namespace tertulia::test::web_stop_tests {

TEST_F(web, lets_turns_end_when_it_stops) {
  auto at = serve();
  std::atomic<bool> gate = false;
  rt.define_bidi_flow("waiter",
                      [&](context ctx, input<int>, output<int>) -> task<int> {
                        const witness alive;
                        while (!gate)
                          co_await ctx.sleep(1ms);
                        co_return 7;
                      });
  at.ask("POST", "/actions/bidi-flow/waiter", "{}");
  auto idle = client();
  EXPECT_EQ(idle.call("GET", "/healthz").status, 200u);
  EXPECT_TRUE(eventually([] { return witness::alive() == 1; }));
  std::jthread stop{[&] { server->stop(); }};
  EXPECT_TRUE(idle.has_ended());
  gate = true;
  const auto result = at.read();
  EXPECT_EQ(result.document()["output"], 7);
  EXPECT_EQ(result.field("Connection"), "close");
}

TEST_F(web, does_not_wait_for_ever_when_it_stops) {
  auto at = serve({.drain_within = 10ms});
  begin_to_sleep(at);
  server.reset();
  EXPECT_TRUE(eventually([] { return witness::alive() == 0; }));
}

TEST_F(web, answers_what_it_reads_when_it_stops) {
  auto at = serve({.threads = 1, .drain_within = 20s});
  define_sleeper();
  const auto run = at.call("POST", "/runs/bidi-flow/sleeper", "{}").document();
  EXPECT_TRUE(eventually([] { return witness::alive() == 1; }));
  const auto begin
    = [](web_client& who, const std::string& what, std::size_t size) {
        who.send(what + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
                 + std::to_string(size) + "\r\nExpect: 100-continue\r\n\r\n");
        EXPECT_TRUE(has(who.read_until("\r\n\r\n"), "100")) << "it is read";
      };
  auto listener = client();
  begin(listener,
        "GET /events/bidi-flow/sleeper?run=" + run["run"].get<std::string>(),
        2);
  auto opener = client();
  begin(opener, "POST /runs/bidi-flow/sleeper", 2);
  auto caller = client();
  const std::string body = R"({"inputs":["hello"]})";
  begin(caller, "POST /actions" + echo, body.size());
  auto probe = client();
  begin(probe, "GET /readyz", 2);
  std::jthread stop{[&] { server->stop(); }};
  EXPECT_TRUE(at.has_ended());
  // The server has now told one connection that it stops. It answers this
  // request after it has told all of them, and its thread is the only one: the
  // next request is read by a connection that knows.
  probe.send("{}");
  EXPECT_EQ(probe.read().status, 503u) << "it is not ready";
  listener.send("{}");
  const auto left = listener.read();
  EXPECT_EQ(left.status, 503u) << "a run that is kept is not waited for";
  EXPECT_EQ(left.field("Retry-After"), "1");
  opener.send("{}");
  EXPECT_EQ(opener.read().status, 503u);
  EXPECT_EQ(witness::alive(), 1) << "no second run has begun";
  caller.send(body);
  EXPECT_EQ(caller.read().document()["output"], "hello");
}

TEST_F(web, waits_for_turns_that_nobody_listens_to) {
  auto at = serve({.drain_within = 1h});
  std::atomic<bool> gate = false;
  std::atomic<int> turns = 0;
  rt.define_bidi_flow(
    "gated", [&](context ctx, input<int> in, output<int> out) -> task<int> {
      while (co_await in.next()) {
        while (!gate)
          co_await ctx.sleep(1ms);
        ++turns;
        co_await out.end_turn();
      }
      co_return 1;
    });
  const auto opened
    = at.call("POST", "/runs/bidi-flow/gated", R"({"inputs":[1,2]})");
  EXPECT_EQ(opened.status, 201u) << opened.body;
  EXPECT_FALSE(rt.wait_for_turns(50ms));
  std::jthread stop{[&] { server->stop(); }};
  EXPECT_TRUE(at.has_ended());
  gate = true;
  stop.join();
  EXPECT_EQ(turns, 2);
  EXPECT_TRUE(rt.wait_for_turns(patience));
}

TEST_F(web, waits_for_such_turns_no_longer_than_it_may) {
  auto at = serve({.drain_within = 1s});
  std::atomic<bool> gate = false;
  rt.define_bidi_flow(
    "gated", [&](context ctx, input<int> in, output<int>) -> task<int> {
      co_await in.next();
      while (!gate)
        co_await ctx.sleep(1ms);
      co_return 1;
    });
  EXPECT_EQ(
    at.call("POST", "/runs/bidi-flow/gated", R"({"inputs":[1]})").status, 201u);
  const auto begin = std::chrono::steady_clock::now();
  server->stop();
  const auto middle = std::chrono::steady_clock::now();
  EXPECT_GE(middle - begin, 1s);
  server.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - middle, 1s)
    << "it does not wait again";
  gate = true;
  EXPECT_TRUE(rt.wait_for_turns(patience));
}

TEST_F(web, ends_runs_that_only_send_to_nobody) {
  auto at = serve();
  std::vector<std::string> runs;
  // More than there are threads.
  for (std::size_t i = 0; i < system.scheduler().num_workers() + 2; ++i) {
    const auto opened
      = at.call("POST", "/runs" + counter, R"({"inputs":[2000000000]})");
    runs.push_back(opened.document().at("run"));
  }
  for (const auto& run : runs)
    EXPECT_EQ(at.call("DELETE", "/runs" + counter + "?run=" + run).status,
              200u);
  EXPECT_TRUE(eventually([] { return witness::alive() == 0; }));
}

TEST_F(web, says_that_it_stops_before_it_does) {
  auto at = serve({.stop_delay = 1h});
  EXPECT_EQ(at.call("GET", "/readyz").status, 200u);
  std::jthread stop{[&] { server->stop(); }};
  EXPECT_TRUE(
    eventually([&] { return at.call("GET", "/readyz").status == 503; }));
  auto late = client();
  EXPECT_EQ(late.call("GET", "/healthz").status, 200u);
  EXPECT_EQ(late.call("POST", "/actions" + echo).document()["output"],
            "nothing");
  server->stop();
  EXPECT_TRUE(at.has_ended());
}

} // namespace tertulia::test::web_stop_tests
