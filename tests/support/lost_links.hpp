// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/descriptor.hpp>
#include <tertulia/remote_runtime.hpp>
#include <tertulia/runtime.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "support/cut_link.hpp"
#include "support/network_config.hpp"
#include "support/refusal.hpp"
#include "support/threaded.hpp"
#include <gtest/gtest.h>

namespace tertulia::test {

using counter_flow = bidi_flow<nothing, int, int, int>;

/// Fixture with a flow on another node, and a link to it that can be cut.
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
    link.emplace(port = rt.publish());
  }

  counter_flow counter(caf::timespan patience = std::chrono::seconds{20}) {
    return counter_at({endpoint{"127.0.0.1", link->port()}}, patience);
  }

  counter_flow counter_at(std::vector<endpoint> all,
                          caf::timespan patience = std::chrono::seconds{20}) {
    client.emplace(there, std::move(all),
                   reconnect_policy{patience, std::chrono::milliseconds{1},
                                    std::chrono::milliseconds{20}});
    return client->action<counter_flow>("/bidi-flow/counter");
  }

  /// Refuses connections, and waits until a client has noticed.
  void lose_link(const counter_flow& of) {
    auto talk = of.stream_bidi();
    link->refuse();
    EXPECT_EQ(code_from([&] { talk.output(patience); }), errc::unavailable);
  }

  /// Accepts connections once some attempts were refused.
  std::jthread accept_later() {
    return std::jthread{[this, before = link->refusals()] {
      EXPECT_TRUE(eventually([&] { return link->refusals() > before + 2; }));
      link->accept();
    }};
  }

  network_config here_cfg;
  network_config there_cfg;
  caf::actor_system here;
  caf::actor_system there;
  std::atomic<int> inputs = 0;
  runtime rt;
  std::uint16_t port = 0;
  std::optional<cut_link> link;
  std::optional<remote_runtime> client;
};

} // namespace tertulia::test
