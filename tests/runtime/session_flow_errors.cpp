// SPDX-License-Identifier: BSD-3-Clause

#include <limits>
#include <stdexcept>
#include <string>

#include "support/conversations.hpp"

using namespace std::literals;

namespace tertulia::test::session_flow_errors_tests {

namespace {

constexpr auto nan = std::numeric_limits<double>::quiet_NaN();

/// Stores each text as a progress value. `nan` cannot be encoded as JSON: the
/// body then repairs the state and continues.
task<> repair(context ctx, ai::flow_session<phase> sess,
              ai::flow_responder<phase> out) {
  const witness here;
  for (auto again = true; again;) {
    again = false;
    try {
      co_await sess.run_turns(
        ctx, [&](context, const ai::conversation_input& input) -> task<> {
          const auto text = input.messages.back().text();
          const auto done = text == "nan" ? nan : std::stod(text);
          co_await sess.patch_custom([&](phase& x) { x.done = done; });
        });
    } catch (const status_error& error) {
      again = error.code() == errc::invalid_argument;
      if (!again)
        throw;
    }
    if (again) {
      co_await sess.set_custom("repaired", 0.0);
      co_await out.send_status("repaired", 0.0);
    }
  }
}

using session_flow_errors = conversations;

/// Takes a turn that ends with an error, and returns the error.
/// @param received the texts that must arrive before it.
template <class Talk>
status_error
error_in(Talk& talk, const std::string& input, const texts& received) {
  talk.send_text(input);
  texts read;
  auto result = error_of([&] {
    for (const auto& x : talk.responses(patience))
      read.push_back(x.chunk ? x.chunk->text() : "other");
  });
  EXPECT_EQ(read, received);
  return result;
}

} // namespace

TEST_F(session_flow_errors, an_error_in_a_turn_reaches_iterator_and_output) {
  auto talk = define_flow(repeat_in_turns).stream_bidi();
  hear(talk, "a");
  EXPECT_EQ(error_text(error_in(talk, "fail", {"re: fail"})),
            "out_of_range: as you say");
  EXPECT_EQ(error_of([&] { talk.output(patience); }).message(), "as you say");
  EXPECT_EQ(code_from([&] { talk.send_text("more"); }), errc::out_of_range);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(session_flow_errors, any_exception_is_an_error_of_the_turn) {
  auto talk = define_flow(repeat_in_turns).stream_bidi();
  EXPECT_TRUE(
    has(error_in(talk, "throw", {"re: throw"}).message(), "as you say"));
  EXPECT_NE(code_from([&] { talk.output(patience); }), errc::ok);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(session_flow_errors, the_last_good_state_can_still_be_had) {
  const auto flow = define_flow(repeat_in_turns);
  auto talk = flow.stream_bidi(my_session);
  const auto good = snapshot_after(talk, "a");
  error_in(talk, "fail", {"re: fail"});
  const texts wanted{"user: a", "model: re: a", "user: b", "model: re: b"};
  const auto by_snapshot = say(flow.stream_bidi(with_snapshot_id(good)), {"b"});
  EXPECT_EQ(told_of(by_snapshot.state.messages), wanted);
  auto other = flow.stream_bidi(with_session_id("other"));
  hear(other, "a");
  error_in(other, "fail", {"re: fail"});
  const auto by_session
    = say(flow.stream_bidi(with_session_id("other")), {"b"});
  EXPECT_EQ(told_of(by_session.state.messages), wanted);
}

TEST_F(session_flow_errors, a_turn_that_fails_marks_its_span) {
  const auto recorder = listen();
  auto talk = define_flow(repeat_in_turns).stream_bidi();
  hear(talk, "a");
  error_in(talk, "fail", {"re: fail"});
  ASSERT_TRUE(nothing_is_left());
  const auto whole = recorder->find("/session-flow/chat");
  const auto turns = recorder->children_of(whole->context.span);
  ASSERT_EQ(turns.size(), 2u);
  EXPECT_EQ(turns[0]->status, errc::ok);
  const auto& failed = turns[1];
  EXPECT_EQ(failed->status, errc::out_of_range);
  EXPECT_EQ(failed->find("genkit:metadata:snapshotId"), nullptr);
}

TEST_F(session_flow_errors, a_state_without_json_fails_its_turn) {
  const auto flow = define_turns<phase>(
    [](context, auto sess, const auto& input, auto&) -> task<> {
      const auto text = input.messages.back().text();
      const auto done = text == "nan" ? nan : std::stod(text);
      co_await sess.set_custom(text, done);
    });
  auto talk = flow.stream_bidi();
  const auto good = snapshot_after(talk, "0.5");
  auto other = flow.stream_bidi();
  hear(other, "0.25");
  EXPECT_EQ(error_in(talk, "nan", {}).code(), errc::invalid_argument);
  EXPECT_EQ(code_from([&] { talk.output(patience); }), errc::invalid_argument);
  const auto again = say(flow.stream_bidi(with_snapshot_id(good)), {"0.75"});
  EXPECT_EQ(again.state.custom.done, 0.75);
  EXPECT_EQ(say(std::move(other), {"1"}).state.custom.done, 1)
    << "another session is another session";
}

TEST_F(session_flow_errors, a_body_can_repair_its_state_and_go_on) {
  auto talk = define_flow(repair).stream_bidi();
  EXPECT_EQ(snapshots_in(hear(talk, "0.5")).size(), 1u);
  talk.send_text("nan");
  EXPECT_EQ(told_of(hear(talk, "0.75")),
            (texts{R"({"status":{"name":"repaired","done":0}})",
                   R"({"snapshotCreated":"<id>"})", R"({"endTurn":true})"}));
  const auto result = finish(talk);
  EXPECT_EQ(result.state.custom, (phase{"repaired", 0.75}));
  EXPECT_EQ(told_of(result.state.messages),
            (texts{"user: 0.5", "user: nan", "user: 0.75"}));
  EXPECT_EQ(ask_store("/snapshot-store/chat/getSnapshot",
                      {{"snapshotId", result.snapshot_id.str()}})
              .at("turnIndex"),
            1)
    << "the turn that failed was none";
}

TEST_F(session_flow_errors, a_state_without_json_fails_the_end_of_a_flow) {
  const auto flow = define_flow([](context, ai::flow_session<phase> sess,
                                   ai::flow_responder<phase>) -> task<> {
    co_await sess.set_custom("x", nan);
  });
  EXPECT_EQ(code_from([&] { say(flow.stream_bidi(), {}); }),
            errc::invalid_argument);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(session_flow_errors, an_exception_of_a_callback_is_one_of_its_turn) {
  const auto flow = define_flow(
    repeat_in_turns,
    with_snapshot_callback([](const ai::snapshot_context<notebook>& x) {
      if (x.state().messages().back().text() == "re: b")
        throw std::runtime_error("not b");
      return true;
    }));
  auto talk = flow.stream_bidi();
  auto other = flow.stream_bidi();
  const auto good = snapshot_after(talk, "a");
  EXPECT_TRUE(has(error_in(talk, "b", {"re: b"}).message(), "not b"));
  EXPECT_NE(code_from([&] { talk.output(patience); }), errc::ok);
  EXPECT_EQ(say(std::move(other), {"c"}).state.messages.size(), 2u);
  EXPECT_EQ(
    say(flow.stream_bidi(with_snapshot_id(good)), {"c"}).state.messages.size(),
    4u);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(session_flow_errors, a_turn_can_be_ended_again_after_a_repair) {
  const auto chat = define_stored_chat(
    [](context, ai::chat_session<phase> sess, input<ai::conversation_input> in,
       ai::chat_responder<phase> out) -> task<> {
      while (const auto input = co_await in.next()) {
        co_await sess.set_custom("broken", nan);
        const auto failed = co_await as_expected(out.end_turn());
        EXPECT_FALSE(failed);
        if (!failed) {
          EXPECT_EQ(code_of(failed.error()), errc::invalid_argument);
        }
        co_await sess.set_custom("whole", 1.0);
        const auto made = co_await out.end_turn();
        EXPECT_FALSE(made.empty());
        const auto index = co_await sess.turn_index();
        co_await out.send_status("turn", static_cast<double>(index));
      }
    },
    each_time);
  auto talk = chat.stream_bidi(with_chunk_window(1));
  for (int turn = 0; turn < 3; ++turn) {
    const auto chunks = hear(talk, "x");
    EXPECT_EQ(snapshots_in(chunks).size(), turn == 0 ? 1u : 0u);
    EXPECT_TRUE(chunks.back().end_turn);
  }
  talk.close();
  EXPECT_EQ(told_of(hear(talk)),
            texts{R"({"status":{"name":"turn","done":3}})"});
  EXPECT_EQ(talk.output(patience).snapshot_ids.size(), 1u);
}

} // namespace tertulia::test::session_flow_errors_tests
