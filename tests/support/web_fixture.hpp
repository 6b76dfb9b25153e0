// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/config.hpp>
#include <tertulia/genkit_protocol.hpp>
#include <tertulia/http_server.hpp>
#include <tertulia/runtime.hpp>

#include <optional>
#include <string>
#include <utility>

#include "support/refusal.hpp"
#include "support/threaded.hpp"
#include "support/web_client.hpp"
#include <gtest/gtest.h>

namespace tertulia::test {

/// Fixture with a web server and a few flows.
struct web : ::testing::Test {
  web() {
    rt.define_bidi_flow(
      "counter",
      [this](context, input<int> in, output<int> out) -> task<int> {
        const witness alive;
        int total = 0;
        while (const auto count = co_await in.next()) {
          ++inputs;
          for (int i = 0; i < *count; ++i)
            co_await out.send(total++);
          co_await out.end_turn();
        }
        co_return total;
      },
      "Counts");
    rt.define_bidi_action(
      "echo",
      [](context, input<std::string> in,
         output<std::string>) -> task<std::string> {
        auto text = co_await in.next();
        if (text && *text == "fail")
          throw status_error{errc::out_of_range, "too far", R"({"by":3})"};
        if (text && *text == "crash")
          throw std::runtime_error{"a secret"};
        co_return text.value_or("nothing");
      });
  }

  /// Starts the server, which speaks to clients of Genkit as well.
  web_client serve(http_server_options options = {}) {
    options.protocols.emplace_back(genkit_protocol());
    server.emplace(rt, std::move(options));
    return client();
  }

  /// Adds a flow that does not end by itself.
  void define_sleeper() {
    rt.define_bidi_flow("sleeper",
                        [](context ctx, input<int>, output<int>) -> task<int> {
                          const witness alive;
                          co_await ctx.sleep(std::chrono::hours{1});
                          co_return 1;
                        });
  }

  /// Sends a request whose run does not end by itself, and waits for its body.
  void begin_to_sleep(web_client& at) {
    define_sleeper();
    at.ask("POST", "/actions/bidi-flow/sleeper", "{}");
    EXPECT_TRUE(eventually([] { return witness::alive() == 1; }));
  }

  web_client client() {
    return web_client{server->port()};
  }

  config cfg;
  caf::actor_system system{cfg};
  std::atomic<int> inputs = 0;
  runtime rt{system};
  std::optional<tertulia::http_server> server;
};

inline const std::string counter = "/bidi-flow/counter";
inline const std::string echo = "/bidi-action/echo";
inline const std::string sleeper = "/bidi-flow/sleeper";

} // namespace tertulia::test
