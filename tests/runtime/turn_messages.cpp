// SPDX-License-Identifier: BSD-3-Clause

// Number of messages of one turn, as docs/engine.md lists them.

#include <tertulia/ai/session_flow.hpp>
#include <tertulia/define_agent.hpp>
#include <tertulia/memory_store.hpp>

#include <cstddef>
#include <string>

#include "support/flows.hpp"
#include "support/states.hpp"

namespace tertulia::test::turn_messages_tests {

namespace {

struct turn_messages : flows {
  /// Takes two turns and returns the number of messages of the second one: the
  /// first one starts actors. The test scheduler counts one message at a time.
  template <class Flow, class In>
  std::size_t count(const Flow& flow, const In& input) {
    auto client = open(flow);
    client.send(input);
    client.post(input);
    const auto messages = sched.run();
    EXPECT_EQ(client.received().turns, 2u);
    return messages;
  }

  template <class... Options>
  auto define_session_flow(const Options&... options) {
    return ai::define_session_flow(
      *rt, "flow",
      [](context ctx, flow_session mine, flow_responder out) -> task<> {
        const auto answer
          = [=](context, const ai::conversation_input&) -> task<> {
          co_await out.send_text("yes");
        };
        co_await mine.run_turns(ctx, answer);
      },
      options...);
  }

  template <class... Options>
  auto define_agent_that_counts(const Options&... options) {
    return define_agent(
      *rt, "agent",
      [](context, agent_session<int> mine, input<int> in,
         agent_responder<int> out) -> task<> {
        while (const auto x = co_await in.next()) {
          co_await mine.update([&](int& sum) { sum += *x; });
          co_await out.send(*x);
          co_await out.end_turn();
        }
      },
      options...);
  }
};

} // namespace

TEST_F(turn_messages, of_a_flow) {
  const auto flow
    = define([](context, input<int> in, output<int> out) -> task<> {
        while (const auto x = co_await in.next()) {
          co_await out.send(*x);
          co_await out.end_turn();
        }
      });
  EXPECT_EQ(count(flow, 1), 2u) << "input, end of the turn with the chunk";
}

TEST_F(turn_messages, of_a_session_flow_without_a_store) {
  EXPECT_EQ(count(define_session_flow(), remark("hello")), 4u);
}

TEST_F(turn_messages, of_a_session_flow_with_a_store) {
  const auto store = spawn_memory_store(system);
  EXPECT_EQ(count(define_session_flow(with_snapshot_store(store)),
                  remark("hello")),
            9u);
}

TEST_F(turn_messages, of_an_agent_without_a_store) {
  EXPECT_EQ(count(define_agent_that_counts(), 1), 8u)
    << "four for the change, and one for the credit that it delays";
}

} // namespace tertulia::test::turn_messages_tests
