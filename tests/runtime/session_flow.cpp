// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/span_recorder.hpp>
#include <tertulia/when.hpp>

#include <chrono>
#include <limits>
#include <string>
#include <vector>

#include "support/conversations.hpp"

using namespace std::literals;

namespace tertulia::test::session_flow_tests {

namespace {

using flow_context = ai::snapshot_context<notebook>;

using session_flow = conversations;

std::string text_of(const span_data& x, std::string_view key) {
  const auto* value = x.find(key);
  return value != nullptr ? std::get<std::string>(*value) : "none";
}

} // namespace

// -- turns --------------------------------------------------------------------

TEST_F(session_flow, run_adds_the_messages_and_ends_the_turn) {
  auto talk = define_flow(repeat_in_turns).stream_bidi();
  for (const auto* text : {"a", "b"}) {
    EXPECT_EQ(told_of(hear(talk, text)),
              (texts{R"({"chunk":{"content":[{"text":"re: )"s + text
                       + R"("}],"role":"model","index":0}})",
                     R"({"snapshotCreated":"<id>"})", R"({"endTurn":true})"}));
  }
  const auto state = finish(talk).state;
  EXPECT_EQ(told_of(state.messages),
            (texts{"user: a", "model: re: a", "user: b", "model: re: b"}));
  EXPECT_EQ(state.custom.count, 2);
}

TEST_F(session_flow, run_text_returns_all_that_happened) {
  const auto spans = std::make_shared<span_recorder>();
  const auto listening = rt->traces().listen(spans);
  const auto flow = define_flow(repeat_in_turns);
  const auto first = flow.run_text("a", with_session_id("s"));
  EXPECT_EQ(first.text, "re: a");
  EXPECT_TRUE(first.questions.empty());
  EXPECT_EQ(first.session_id, session_id{"s"});
  EXPECT_EQ(first.output.session_id, session_id{"s"});
  EXPECT_TRUE(is_uuid(first.snapshot_id.str()));
  EXPECT_EQ(first.snapshot_id, first.output.snapshot_id);
  const auto traced = spans->spans();
  ASSERT_FALSE(traced.empty());
  EXPECT_EQ(first.trace_id, to_string(traced.front()->context.trace));

  const auto second = flow.run_text("b", with_session_id("s"));
  EXPECT_EQ(told_of(second.output.state.messages),
            (texts{"user: a", "model: re: a", "user: b", "model: re: b"}));
  EXPECT_NE(second.snapshot_id, first.snapshot_id);
  EXPECT_NE(second.trace_id, first.trace_id);
}

TEST_F(session_flow, a_turn_function_may_be_const_and_refer_to_its_context) {
  struct doubled {
    flow_session sess;

    task<> operator()(const context& ctx, const ai::conversation_input& input) {
      EXPECT_FALSE(ctx.cancelled());
      co_await ctx.sleep(1ms);
      EXPECT_FALSE(ctx.cancelled()); // the context outlives a pause
      const auto text = input.messages.back().text();
      co_await sess.add_messages(ai::model_text(text + text));
    }
  };
  const auto flow
    = define_flow([](context ctx, flow_session sess, flow_responder) -> task<> {
        const doubled turn{sess};
        co_await sess.run_turns(ctx, turn);
      });
  EXPECT_EQ(told_of(flow.run_text("a").output.state.messages),
            (texts{"user: a", "model: aa"}));
}

TEST_F(session_flow, an_output_has_the_messages_that_its_client_wants) {
  const auto flow = define_flow(repeat_in_turns);
  const auto run = [&](std::string text, const auto&... options) {
    const auto result
      = flow.run_text(std::move(text), with_session_id("s"), options...);
    return told_of(result.output.state.messages);
  };
  const texts all{"user: a", "model: re: a", "user: b", "model: re: b"};
  EXPECT_EQ(run("a", ai::with_output_messages{1}), texts{"model: re: a"});
  EXPECT_EQ(run("b", ai::with_output_messages{4}), all);
  EXPECT_EQ(run("c", ai::with_output_messages{2}),
            (texts{"user: c", "model: re: c"}));
  EXPECT_EQ(run("d").size(), 8u); // the session has all of them
  EXPECT_THROW(ai::with_output_messages{0}, status_error);
}

TEST_F(session_flow, only_an_output_with_messages_has_fewer) {
  define_notes("plain");
  const auto plain = rt->action("/agent/plain");
  try {
    static_cast<void>(plain.stream_bidi(ai::with_output_messages{1}));
    FAIL();
  } catch (const status_error& x) {
    EXPECT_EQ(x.code(), errc::invalid_argument);
  }
}

TEST_F(session_flow, snapshots_are_listed_and_restored) {
  const auto flow = define_flow(repeat_in_turns);
  const auto first = flow.run_text("a", with_session_id("s"));
  const auto second = flow.run_text("b", with_session_id("s"));
  const auto all = flow.snapshots(session_id{"s"});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].snapshot_id, first.snapshot_id);
  EXPECT_EQ(all[1].snapshot_id, second.snapshot_id);
  EXPECT_EQ(told_of(all[0].state.messages), (texts{"user: a", "model: re: a"}));
  EXPECT_TRUE(flow.snapshots(session_id{"unknown"}).empty());

  EXPECT_EQ(flow.restore(first.snapshot_id).snapshot_id, first.snapshot_id);
  const auto third = flow.run_text("c", with_session_id("s"));
  EXPECT_EQ(told_of(third.output.state.messages),
            (texts{"user: a", "model: re: a", "user: c", "model: re: c"}));
  EXPECT_EQ(flow.snapshots(session_id{"s"}).size(), 3u) << "b is a branch";
}

TEST_F(session_flow, a_live_session_is_not_restored) {
  const auto flow = define_flow(repeat_in_turns);
  const auto first = flow.run_text("a", with_session_id("s"));
  auto talk = flow.stream_bidi(with_session_id("s"));
  EXPECT_EQ(
    code_from([&] { return flow.restore(first.snapshot_id, session_id{"s"}); }),
    errc::failed_precondition);
  EXPECT_EQ(code_from([&] { return flow.restore(snapshot_id{"unknown"}); }),
            errc::not_found);
  talk.send_text("b");
  EXPECT_EQ(finish(talk).state.messages.size(), 4u);
}

TEST_F(session_flow, without_a_store_there_is_nothing_to_restore) {
  const auto flow = ai::define_session_flow(*rt, "loose", repeat_in_turns);
  EXPECT_EQ(code_from([&] { return flow.snapshots(session_id{"s"}); }),
            errc::not_found);
}

TEST_F(session_flow, the_session_is_known_from_the_opening_on) {
  auto talk = define_flow(repeat_in_turns).stream_bidi();
  const auto id = talk.session();
  EXPECT_TRUE(is_uuid(id.str()));
  EXPECT_EQ(talk.trace_id(), "") << "nobody listens";
  EXPECT_TRUE(talk.last_snapshot().empty());
  const auto seen = snapshots_in(hear(talk, "a"));
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(talk.last_snapshot(), seen.front());
  EXPECT_EQ(finish(talk).session_id, id);
}

TEST_F(session_flow, an_input_without_messages_is_a_turn) {
  const auto flow = define_turns(
    [](context, flow_session sess, const auto&, auto&) -> task<> {
      co_await sess.patch_custom([](notebook& x) { ++x.count; });
    });
  auto talk = flow.stream_bidi();
  talk.send(ai::conversation_input{});
  EXPECT_EQ(hear(talk).size(), 2u);
  const auto result = finish(talk);
  EXPECT_TRUE(result.state.messages.empty());
  EXPECT_TRUE(is_uuid(result.snapshot_id.str())) << "with nothing to tag";
}

TEST_F(session_flow, each_iteration_of_tools_in_a_turn_has_a_snapshot) {
  std::vector<snapshot_event> events;
  const auto flow = define_turns(
    [](context turn, flow_session sess, const auto&, auto&) -> task<> {
      for (int i = 0; i < 2; ++i) {
        co_await sess.add_messages(ai::model_text("tool?"));
        co_await trigger_snapshot(turn, snapshot_event::tool_iteration_end);
      }
      co_await sess.add_messages(ai::model_text("done"));
    },
    with_snapshot_callback([&](const flow_context& x) {
      events.push_back(x.event());
      return x.event() != snapshot_event::invocation_end;
    }));
  auto talk = flow.stream_bidi();
  const auto made = snapshots_in(hear(talk, "go"));
  finish(talk);
  ASSERT_EQ(made.size(), 3u);
  EXPECT_EQ(events, (std::vector{snapshot_event::tool_iteration_end,
                                 snapshot_event::tool_iteration_end,
                                 snapshot_event::turn_end,
                                 snapshot_event::invocation_end}));
  for (std::size_t i = 0; i < made.size(); ++i) {
    const auto x = snapshot_of(made[i]);
    EXPECT_EQ(x.at("state").at("messages").size(), i + 2);
    if (i != 0) {
      EXPECT_EQ(x.at("parentId"), made[i - 1].str());
    }
  }
}

TEST_F(session_flow, each_turn_has_a_span_that_names_its_snapshot) {
  const auto recorder = listen();
  const auto flow = define_flow(repeat_in_turns);
  auto talk = flow.stream_bidi();
  std::vector<snapshot_id> made;
  for (const auto* text : {"a", "b"}) {
    made.push_back(snapshot_after(talk, text));
  }
  finish(talk);
  ASSERT_TRUE(nothing_is_left());
  const auto whole = recorder->find("/session-flow/chat");
  ASSERT_TRUE(whole);
  const auto turns = recorder->children_of(whole->context.span);
  ASSERT_EQ(turns.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(turns[i]->name, "sessionFlow/turn");
    EXPECT_EQ(text_of(*turns[i], "genkit:name"),
              "sessionFlow/turn/" + std::to_string(i));
    EXPECT_EQ(*turns[i]->find("tertulia.turn.index"),
              attribute_value{static_cast<std::int64_t>(i)});
    EXPECT_EQ(text_of(*turns[i], "genkit:metadata:snapshotId"), made[i].str());
    EXPECT_EQ(text_of(*turns[i], "genkit:metadata:sessionFlow"), "chat");
    EXPECT_EQ(turns[i]->find("genkit:metadata:agent"), nullptr);
  }
  EXPECT_EQ(
    text_of(*turns[0], "genkit:input"),
    to_json_text(ai::conversation_input{std::vector{ai::user_text("a")}}));
  EXPECT_EQ(whole->find("genkit:metadata:snapshotId"), nullptr)
    << "the end changed nothing";
}

TEST_F(session_flow, who_watches_changes_nothing) {
  const auto flow = ai::define_session_flow(
    *rt, "chat", [](context ctx, flow_session sess, flow_responder) -> task<> {
      co_await sess.run_turns(
        ctx,
        [](context, const ai::conversation_input&) -> task<> { co_return; });
    });
  const auto speak = [&] {
    std::vector<ai::message> messages(1, ai::user_text("hot"));
    const auto nan = std::numeric_limits<double>::quiet_NaN();
    messages.front().content.push_back(ai::part::data(nan));
    auto talk = flow.stream_bidi();
    talk.send_messages(std::move(messages));
    hear(talk);
    return finish(talk).state.messages.size();
  };
  EXPECT_EQ(speak(), 1u) << "without a store nobody needs its JSON";
  const auto recorder = listen();
  EXPECT_EQ(speak(), 1u);
  ASSERT_TRUE(nothing_is_left());
  const auto span = recorder->find("sessionFlow/turn");
  ASSERT_TRUE(span);
  ASSERT_EQ(span->events.size(), 1u);
  EXPECT_EQ(span->events.front().name, "value not recorded");
}

TEST_F(session_flow, steps_of_a_turn_are_children_of_its_span) {
  const auto recorder = listen();
  const auto flow = define_turns(
    [](context turn, flow_session, const auto&, auto&) -> task<> {
      co_await turn.run_step("step", [] {});
    });
  say(flow.stream_bidi(), {"a"});
  ASSERT_TRUE(nothing_is_left());
  const auto turn = recorder->find("sessionFlow/turn");
  ASSERT_TRUE(turn && recorder->find("step"));
  EXPECT_EQ(recorder->find("step")->parent, turn->context.span);
}

TEST_F(session_flow, turns_are_counted_on_in_a_second_loop) {
  const auto recorder = listen();
  const auto flow
    = define_flow([](context ctx, flow_session sess, flow_responder) -> task<> {
        for (auto again = true; again;) {
          again = false;
          try {
            co_await sess.run_turns(
              ctx, [](context, const ai::conversation_input& input) -> task<> {
                if (input.messages.at(0).text() == "leave")
                  throw status_error{errc::aborted, "this loop"};
                co_return;
              });
          } catch (const status_error&) {
            again = true;
          }
        }
      });
  auto talk = flow.stream_bidi();
  for (const auto* text : {"a", "leave", "b", "c"})
    talk.send_text(text);
  finish(talk);
  ASSERT_TRUE(nothing_is_left());
  const auto whole = recorder->find("/session-flow/chat");
  texts names;
  for (const auto& x : recorder->children_of(whole->context.span))
    names.push_back(text_of(*x, "genkit:name"));
  EXPECT_EQ(names, (texts{"sessionFlow/turn/0", "sessionFlow/turn/1",
                          "sessionFlow/turn/1", "sessionFlow/turn/2"}))
    << "the turn that failed was none";
}

// -- concurrent changes -------------------------------------------------------

TEST_F(session_flow, parts_of_a_body_patch_without_losing_a_change) {
  const auto add = [](flow_session sess) -> task<> {
    for (int i = 0; i < 50; ++i)
      co_await sess.patch_custom([](notebook& x) { ++x.count; });
  };
  const auto flow = define_turns(
    [add](context, flow_session sess, const auto&, auto&) -> task<> {
      co_await when_all(add(sess), add(sess), add(sess), add(sess));
    });
  EXPECT_EQ(say(flow.stream_bidi(), {"a", "b"}).state.custom.count, 400);
}

TEST_F(session_flow, nested_flows_patch_without_losing_a_change) {
  const auto tool = rt->define_bidi_flow(
    "tool", [](context ctx, input<int>, output<int>) -> task<> {
      const auto sess = ctx.session<ai::chat_session<notebook>>();
      for (int i = 0; sess && i < 50; ++i)
        co_await sess->patch_custom([](notebook x) {
          ++x.count;
          return x;
        });
    });
  const auto use = [tool](context ctx) -> task<> {
    auto talk = co_await tool.open(ctx);
    talk.close();
    co_await talk.output();
  };
  const auto flow = define_turns(
    [use](context turn, flow_session, const auto&, auto&) -> task<> {
      co_await when_all(use(turn), use(turn), use(turn), use(turn));
    });
  EXPECT_EQ(say(flow.stream_bidi(), {"a", "b"}).state.custom.count, 400);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(session_flow, a_patch_that_throws_changes_nothing) {
  const auto flow
    = define_flow([](context, flow_session sess, flow_responder) -> task<> {
        co_await sess.set_custom(1, "one");
        auto failing = sess.patch_custom([](notebook& x) {
          x.count = 2;
          throw status_error{errc::aborted, "no"};
        });
        const auto done = co_await as_expected(std::move(failing));
        EXPECT_FALSE(done);
      });
  EXPECT_EQ(say(flow.stream_bidi(), {}).state.custom, (notebook{1, "one"}));
}

} // namespace tertulia::test::session_flow_tests
