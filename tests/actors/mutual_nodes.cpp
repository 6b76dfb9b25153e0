// SPDX-License-Identifier: BSD-3-Clause

// Two nodes that are servers and clients of each other.

#include <tertulia/remote_runtime.hpp>
#include <tertulia/runtime.hpp>

#include <caf/actor_system.hpp>

#include <cstdint>
#include <future>
#include <latch>
#include <string>
#include <utility>

#include "support/network_config.hpp"
#include "support/threaded.hpp"
#include <gtest/gtest.h>

namespace tertulia::test::mutual_nodes_tests {

namespace {

/// Node with a flow that prefixes a word with the name of the node.
struct node {
  using flow_type = bidi_flow<nothing, std::string, std::string, nothing>;

  explicit node(std::string name)
    : name(std::move(name)),
      flow(rt.define_bidi_flow("name",
                               [this](context, input<std::string> in,
                                      output<nothing>) -> task<std::string> {
                                 co_return this->name + *co_await in.next();
                               })),
      port(rt.publish()) {}

  /// Calls the flow of another node, over a new link.
  [[nodiscard]] std::string call(const node& other) {
    const remote_runtime there{system, "127.0.0.1", other.port};
    auto talk = there.action<flow_type>("/bidi-flow/name").stream_bidi();
    talk.send(name);
    talk.close();
    return talk.output(patience);
  }

  std::string name;
  network_config cfg;
  caf::actor_system system{cfg};
  runtime rt{system};
  flow_type flow;
  std::uint16_t port;
};

} // namespace

TEST(mutual_nodes, may_connect_to_each_other_at_once) {
  for (int round = 0; round < 20; ++round) {
    node a{"a"};
    node b{"b"};
    std::latch both{2};
    const auto call = [&](node& from, const node& to) {
      return std::async(std::launch::async, [&] {
        both.arrive_and_wait();
        return from.call(to);
      });
    };
    auto there = call(a, b);
    auto back = call(b, a);
    EXPECT_EQ(there.get(), "ba") << round;
    EXPECT_EQ(back.get(), "ab") << round;
  }
}

} // namespace tertulia::test::mutual_nodes_tests
