// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/chat_agent.hpp>
#include <tertulia/ai/session_flow.hpp>
#include <tertulia/define_agent.hpp>

#include <caf/all.hpp>

#include <cstdint>
#include <utility>
#include <vector>

#include "support/threaded.hpp"

namespace tertulia::test::unread_inputs_tests {

namespace {

struct unread_inputs : threaded {
  /// Defines a flow that reads inputs up to the first zero and returns their
  /// number.
  auto define_reader() {
    return rt->define_bidi_flow(
      "reader", [](context, input<int> in, output<int>) -> task<std::uint64_t> {
        const witness here;
        std::uint64_t count = 0;
        while (const auto x = co_await in.next()) {
          ++count;
          if (*x == 0)
            break;
        }
        co_return count;
      });
  }

  /// Sends four inputs, and then lets the body continue.
  template <class Talk>
  void send_four(Talk& talk) {
    for (const auto* text : {"a", "b", "c", "d"}) {
      std::vector<ai::message> messages;
      messages.push_back(ai::user_text(text));
      talk.send_within(patience, ai::conversation_input{std::move(messages)});
    }
    all_are_sent.open();
  }

  gate all_are_sent;
};

} // namespace

TEST_F(unread_inputs, are_none_if_all_were_read) {
  const auto reader = define_reader();
  auto talk = reader.stream_bidi();
  talk.send(1);
  talk.send(0);
  EXPECT_EQ(talk.output(patience), 2u);
  EXPECT_EQ(talk.unread_inputs(), 0u);
}

TEST_F(unread_inputs, are_counted_if_they_came_before_the_end) {
  const auto reader = rt->define_bidi_flow(
    "reader", [this](context ctx, input<int> in, output<int>) -> task<> {
      const witness here;
      co_await in.next();
      co_await ctx.run_blocking([&] { all_are_sent.wait(); });
    });
  auto talk = reader.stream_bidi(with_input_window(4));
  for (int i = 0; i < 4; ++i)
    talk.send_within(patience, i);
  all_are_sent.open();
  talk.output(patience);
  EXPECT_EQ(talk.unread_inputs(), 3u);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(unread_inputs, are_counted_however_late_they_come) {
  const auto reader = define_reader();
  for (int i = 0; i < 300; ++i) {
    auto talk = reader.stream_bidi();
    std::uint64_t sent = 0;
    auto code = errc::ok;
    // The body ends at the third input, but the client sends until it is
    // rejected.
    while (code == errc::ok) {
      code = code_from([&] { talk.send_within(patience, sent == 2 ? 0 : 1); });
      if (code == errc::ok)
        ++sent;
    }
    ASSERT_EQ(code, errc::failed_precondition);
    ASSERT_EQ(talk.output(patience), 3u);
    ASSERT_EQ(talk.unread_inputs(), sent - 3);
  }
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(unread_inputs, of_an_agent_are_counted) {
  const auto agent
    = define_agent(*rt, "agent",
                   [this](context ctx, agent_session<int>, input<int> in,
                          agent_responder<int>) -> task<int> {
                     const witness here;
                     co_await in.next();
                     co_await ctx.run_blocking([&] { all_are_sent.wait(); });
                     co_return 1;
                   });
  auto talk = agent.stream_bidi(with_input_window(4));
  for (int i = 0; i < 4; ++i)
    talk.send_within(patience, i);
  all_are_sent.open();
  EXPECT_EQ(talk.output(patience).output, 1);
  EXPECT_EQ(talk.unread_inputs(), 3u);
}

TEST_F(unread_inputs, of_a_chat_agent_are_counted) {
  const auto chat = ai::define_chat_agent(
    *rt, "chat",
    [this](context ctx, ai::chat_session<nothing> sess,
           input<ai::conversation_input> in,
           ai::chat_responder<nothing>) -> task<> {
      const witness here;
      const auto input = co_await in.next();
      co_await sess.add_messages(input->messages);
      co_await ctx.run_blocking([&] { all_are_sent.wait(); });
    });
  auto talk = chat.stream_bidi(with_input_window(4));
  send_four(talk);
  EXPECT_EQ(talk.output(patience).state.messages.size(), 1u);
  EXPECT_EQ(talk.unread_inputs(), 3u);
}

TEST_F(unread_inputs, of_a_session_flow_are_counted) {
  const auto flow = ai::define_session_flow(
    *rt, "flow",
    [this](context ctx, ai::flow_session<nothing> sess,
           ai::flow_responder<nothing>) -> task<> {
      const witness here;
      co_await sess.run_turns(
        ctx, [&](context turn, const ai::conversation_input&) -> task<> {
          co_await turn.run_blocking([&] { all_are_sent.wait(); });
          throw status_error{errc::permission_denied, "enough"};
        });
    });
  auto talk = flow.stream_bidi(with_input_window(4));
  send_four(talk);
  EXPECT_EQ(code_from([&] { talk.output(patience); }), errc::permission_denied);
  EXPECT_EQ(talk.unread_inputs(), 3u);
}

TEST_F(unread_inputs, of_another_flow_are_counted_by_its_client) {
  const auto reader = define_reader();
  const auto outer = rt->define_bidi_flow(
    "outer", [&](context ctx, input<int>, output<int>) -> task<std::uint64_t> {
      auto talk = co_await reader.open(ctx);
      std::uint64_t sent = 0;
      try {
        for (; sent < 10; ++sent)
          co_await talk.send(0);
      } catch (const status_error&) {
        // the flow has finished
      }
      const auto read = co_await talk.output();
      co_return sent - read - talk.unread_inputs();
    });
  auto talk = outer.stream_bidi();
  EXPECT_EQ(talk.output(patience), 0u);
}

} // namespace tertulia::test::unread_inputs_tests
