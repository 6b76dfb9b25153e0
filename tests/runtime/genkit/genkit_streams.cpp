// SPDX-License-Identifier: BSD-3-Clause

// Durable streams of Genkit's clients.

#include <atomic>
#include <chrono>
#include <string>

#include "support/has.hpp"
#include "support/web_fixture.hpp"

namespace tertulia::test::genkit_stream_tests {

namespace {

const std::string event_stream = "Accept: text/event-stream\r\n";

struct genkit_streams : web {};

} // namespace

TEST_F(genkit_streams, are_found_again_by_clients_that_have_lost_them) {
  auto at = serve();
  std::atomic<bool> gate = false;
  rt.define_bidi_flow(
    "slow", [&](context ctx, input<int>, output<int> out) -> task<int> {
      const witness alive;
      co_await out.send(1);
      out.flush();
      while (!gate)
        co_await ctx.sleep(std::chrono::milliseconds{1});
      co_await out.send(2);
      co_return 3;
    });
  const std::string target = "/genkit/bidi-flow/slow?durable=true";
  const std::string field = "x-genkit-stream-id: ";
  at.ask("POST", target, "{}", event_stream);
  const auto head = at.read_until("{\"message\":1}");
  at.close();
  const auto begin = head.find(field) + field.size();
  ASSERT_TRUE(has(head, field)) << head;
  const auto id = head.substr(begin, head.find('\r', begin) - begin);
  auto again = client();
  again.ask("POST", target, "{}", event_stream + field + id + "\r\n");
  EXPECT_TRUE(has(again.read_until("{\"message\":1}"), field + id));
  EXPECT_EQ(witness::alive(), 1) << "it was not run again";
  gate = true;
  EXPECT_TRUE(has(again.read_until("{\"result\":3}"), "{\"message\":2}"));
  auto other = client();
  EXPECT_EQ(other
              .call("POST", target, "{}",
                    event_stream + field + "no such stream\r\n")
              .status,
            204u);
  auto plain = client();
  EXPECT_TRUE(has(plain
                    .call("POST", "/genkit/bidi-flow/slow", "{}",
                          event_stream + field + id + "\r\n")
                    .body,
                  "{\"result\":3}"))
    << "a stream that is not durable is run again";
}

TEST_F(genkit_streams, end_with_a_run_that_takes_too_long) {
  auto at = serve({.max_grace = std::chrono::milliseconds{50}});
  rt.define_bidi_flow("endless",
                      [](context ctx, input<int>, output<int>) -> task<int> {
                        const witness alive;
                        co_await ctx.sleep(std::chrono::hours{1});
                        co_return 1;
                      });
  at.ask("POST", "/genkit/bidi-flow/endless?durable=true", "{}", event_stream);
  EXPECT_TRUE(has(at.read_until("DEADLINE_EXCEEDED"), "DEADLINE_EXCEEDED"));
  EXPECT_TRUE(eventually([] { return witness::alive() == 0; }));
}

} // namespace tertulia::test::genkit_stream_tests
