// SPDX-License-Identifier: BSD-3-Clause

// State that a client receives if it keeps the state itself and the
// conversation fails: the state after the last good turn.

#include <tertulia/ai/conversation_handle.hpp>
#include <tertulia/define_agent.hpp>

#include <string>
#include <utility>
#include <vector>

#include "support/conversations.hpp"

using namespace std::literals;

namespace tertulia::test::last_state_tests {

namespace {

/// Answers each message, and fails in the middle of the turn of "throw" or
/// "plain".
task<> answer(context, ai::chat_session<notebook> sess,
              input<ai::conversation_input> in, ai::chat_responder<phase> out) {
  while (const auto input = co_await in.next()) {
    co_await sess.add_messages(input->messages);
    co_await sess.patch_custom([](notebook& x) { ++x.count; });
    const auto last = input->messages.back().text();
    if (last == "throw")
      throw status_error{errc::out_of_range, "too far", R"({"why":"asked"})"};
    if (last == "plain")
      throw status_error{errc::out_of_range, "too far", "not JSON"};
    co_await sess.add_messages(ai::model_text("re: " + last));
    co_await out.end_turn();
  }
}

/// Answers each message as a session flow, and fails in the middle of the turn
/// of "throw".
task<> answer_in_turns(context ctx, ai::flow_session<notebook> sess,
                       ai::flow_responder<phase>) {
  co_await sess.run_turns(
    ctx, [&](context, const ai::conversation_input& input) -> task<> {
      const auto last = input.messages.back().text();
      co_await sess.patch_custom([](notebook& x) { ++x.count; });
      if (last == "throw")
        throw status_error{errc::out_of_range, "too far", R"({"why":"asked"})"};
      co_await sess.add_messages(ai::model_text("re: " + last));
    });
}

/// State after two good turns.
const notebook_state good{
  ai::message_log{std::vector{ai::user_text("a"), ai::model_text("re: a"),
                              ai::user_text("b"), ai::model_text("re: b")}},
  notebook{2, ""}};

struct last_state : conversations {
  auto define_chat() {
    return ai::define_chat_agent(*rt, "chat", answer);
  }

  auto define_flow() {
    return ai::define_session_flow(*rt, "chat", answer_in_turns);
  }

  /// Completes two good turns and sends the input of a third.
  template <class Talk>
  void talk_until(Talk& talk, const std::string& last) {
    for (const auto* text : {"a", "b"}) {
      hear(talk, text);
    }
    EXPECT_FALSE(talk.last_state()) << "it has not failed";
    talk.send_text(last);
  }

  /// Checks the error and the state that a client receives at the end.
  template <class Talk>
  void expect_kept(Talk& talk, errc code) {
    const auto error = error_of([&] { return talk.output(patience); });
    EXPECT_EQ(error.code(), code);
    EXPECT_EQ(parse_json<json>(error.details()).at("state"), to_json(good));
    ASSERT_TRUE(talk.last_state());
    EXPECT_EQ(*talk.last_state(), good);
    EXPECT_EQ(error_of([&] { talk.send_text("more"); }).details(),
              error.details());
  }
};

} // namespace

TEST_F(last_state, comes_with_the_error_of_a_turn_of_a_chat_agent) {
  const auto chat = define_chat();
  auto talk = chat.stream_bidi();
  talk_until(talk, "throw");
  expect_kept(talk, errc::out_of_range);
  const auto error = error_of([&] { return talk.output(patience); });
  EXPECT_EQ(parse_json<json>(error.details()).at("why"), "asked");
  // A conversation can continue from it.
  auto again = chat.stream_bidi(ai::with_state(*talk.last_state()));
  hear(again, "c");
  EXPECT_EQ(finish(again).state.messages.size(), 6u);
  EXPECT_FALSE(again.last_state()) << "there is an output";
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(last_state, comes_with_the_error_of_a_turn_of_a_session_flow) {
  const auto flow = define_flow();
  auto talk = flow.stream_bidi();
  talk_until(talk, "throw");
  expect_kept(talk, errc::out_of_range);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(last_state, comes_with_a_cancel_and_a_stop) {
  const auto chat = define_chat();
  auto cancelled = chat.stream_bidi();
  talk_until(cancelled, "c");
  hear(cancelled);
  cancelled.cancel();
  EXPECT_EQ(code_from([&] { cancelled.output(patience); }), errc::cancelled);
  EXPECT_EQ(cancelled.last_state()->messages.size(), 6u);
  auto stopped = chat.stream_bidi();
  for (const auto* text : {"a", "b"}) {
    hear(stopped, text);
  }
  rt->stop();
  expect_kept(stopped, errc::unavailable);
}

TEST_F(last_state, is_what_the_client_gave_if_the_first_turn_fails) {
  auto talk = define_chat().stream_bidi(ai::with_state(good));
  talk.send_text("plain");
  expect_kept(talk, errc::out_of_range);
  const auto error = error_of([&] { return talk.output(patience); });
  EXPECT_EQ(parse_json<json>(error.details()).at("details"), "not JSON");
}

TEST_F(last_state, of_an_agent_is_its_own) {
  const auto sum
    = define_agent(*rt, "sum",
                   [](context, agent_session<int> mine, input<int> in,
                      agent_responder<int> out) -> task<> {
                     while (const auto x = co_await in.next()) {
                       co_await mine.update([&](int& y) { y += *x; });
                       if (*x < 0)
                         throw status_error{errc::out_of_range, "nothing"};
                       co_await out.end_turn();
                     }
                   });
  auto talk = sum.stream_bidi(with_init(1));
  talk.send(2);
  read_turn(talk);
  talk.send(-1);
  const auto error = error_of([&] { return talk.output(patience); });
  EXPECT_EQ(error.details(), R"({"state":3})");
  EXPECT_EQ(talk.last_state(), 3);
}

TEST_F(last_state, comes_to_a_json_client_in_the_details) {
  define_flow();
  auto talk = rt->stream_bidi("/session-flow/chat");
  for (const auto* text : {"a", "b"}) {
    talk.send(
      to_json(ai::conversation_input{std::vector{ai::user_text(text)}}));
    read_turn(talk);
  }
  talk.send(
    to_json(ai::conversation_input{std::vector{ai::user_text("throw")}}));
  const auto error = error_of([&] { return talk.output(patience); });
  EXPECT_EQ(error.code(), errc::out_of_range);
  EXPECT_EQ(parse_json<json>(error.details()).at("state"), to_json(good));
  ASSERT_TRUE(talk.last_state());
  EXPECT_EQ(*talk.last_state(), to_json(good));
}

TEST_F(last_state, comes_to_a_body_that_is_the_client) {
  const auto chat = define_chat();
  const auto caller = rt->define_bidi_flow(
    "caller",
    [=](context ctx, input<std::string> in, output<std::string> out) -> task<> {
      auto talk = co_await chat.open(ctx);
      while (auto text = co_await in.next()) {
        std::vector<ai::message> added(1, ai::user_text(*text));
        co_await talk.send(std::move(added));
        const auto end = co_await as_expected(talk.next());
        if (end)
          continue;
        const auto last = talk.last_state();
        auto state = last ? to_json_text(*last) : "nothing"s;
        auto details = to_status(end.error()).details();
        co_await out.send(std::move(state));
        co_await out.send(std::move(details));
      }
    });
  auto talk = caller.stream_bidi();
  for (const auto* text : {"a", "b", "throw"})
    talk.send(text);
  talk.close();
  const auto received = read_turn(talk);
  ASSERT_EQ(received.size(), 2u);
  EXPECT_EQ(received[0], to_json_text(good));
  EXPECT_EQ(received[1], R"({"why":"asked"})") << "others may see this";
}

TEST_F(last_state, is_left_to_the_store_where_there_is_one) {
  auto talk
    = ai::define_chat_agent(*rt, "chat", answer, with_snapshot_store(store))
        .stream_bidi();
  talk_until(talk, "throw");
  const auto error = error_of([&] { return talk.output(patience); });
  EXPECT_EQ(error.details(), R"({"why":"asked"})");
  EXPECT_FALSE(talk.last_state());
}

} // namespace tertulia::test::last_state_tests
