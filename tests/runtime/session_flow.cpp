// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/span_recorder.hpp>
#include <tertulia/when.hpp>

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "support/chat.hpp"

using namespace std::literals;

namespace tertulia::test::session_flow_tests {

namespace {

using flow_session = ai::flow_session<mood>;
using flow_responder = ai::flow_responder<phase>;
using flow_context = ai::snapshot_context<mood>;

/// Repeats the last message of the client.
task<> repeat(context ctx, flow_session sess, flow_responder out) {
  const witness here;
  co_await sess.run(ctx,
                    [&](context, const ai::conversation_input& said) -> task<> {
                      const auto answer = "re: " + said.messages.back().text();
                      co_await out.send_text(answer);
                      co_await sess.add_messages(ai::model_text(answer));
                      co_await sess.patch_custom([](mood& x) { ++x.number; });
                    });
}

struct session_flow : conversations {
  template <class Body, class... Options>
  auto define(Body body, const Options&... options) {
    return ai::define_session_flow(*rt, "chat", std::move(body),
                                   with_snapshot_store(store), options...);
  }

  std::shared_ptr<span_recorder> listen() {
    auto result = std::make_shared<span_recorder>();
    listening = rt->traces().listen(result);
    return result;
  }

  tracer::subscription listening;

  json snapshot_of(const snapshot_id& id) {
    return ask_store("/snapshot-store/chat/getSnapshot",
                     {{"snapshotId", id.str()}});
  }
};

std::string text_of(const span_data& x, std::string_view key) {
  const auto* value = x.find(key);
  return value != nullptr ? std::get<std::string>(*value) : "none";
}

/// Returns the snapshot ID in the metadata of the last message.
std::string tag_of(const ai::message_log& log) {
  const auto found = log.back().metadata.find("snapshotId");
  return found != log.back().metadata.end() ? found->second.get<std::string>()
                                            : "none";
}

} // namespace

// -- turns --------------------------------------------------------------------

TEST_F(session_flow, run_adds_the_messages_and_ends_the_turn) {
  const auto flow = define(repeat);
  auto talk = flow.stream_bidi();
  for (const auto* text : {"a", "b"}) {
    talk.send_text(text);
    EXPECT_EQ(told_of(hear(talk)),
              (texts{R"({"chunk":{"content":[{"text":"re: )"s + text
                       + R"("}],"role":"model","index":0}})",
                     R"({"snapshotCreated":"<id>"})", R"({"endTurn":true})"}));
  }
  talk.close();
  const auto state = talk.output(patience).state;
  EXPECT_EQ(told_of(state.messages),
            (texts{"user: a", "model: re: a", "user: b", "model: re: b"}));
  EXPECT_EQ(state.custom.number, 2);
}

TEST_F(session_flow, an_input_without_messages_is_a_turn) {
  const auto flow
    = define([](context ctx, flow_session sess, flow_responder) -> task<> {
        co_await sess.run(
          ctx, [&](context, const ai::conversation_input&) -> task<> {
            co_await sess.patch_custom([](mood& x) { ++x.number; });
          });
      });
  auto talk = flow.stream_bidi();
  talk.send(ai::conversation_input{});
  EXPECT_EQ(hear(talk).size(), 2u);
  talk.close();
  const auto result = talk.output(patience);
  EXPECT_TRUE(result.state.messages.empty());
  EXPECT_TRUE(is_uuid(result.snapshot_id.str())) << "with nothing to tag";
}

TEST_F(session_flow, each_iteration_of_tools_in_a_turn_has_a_snapshot) {
  std::vector<snapshot_event> events;
  const auto flow = define(
    [](context ctx, flow_session sess, flow_responder) -> task<> {
      co_await sess.run(
        ctx, [&](context turn, const ai::conversation_input&) -> task<> {
          for (int i = 0; i < 2; ++i) {
            co_await sess.add_messages(ai::model_text("tool?"));
            co_await trigger_snapshot(turn, snapshot_event::tool_iteration_end);
          }
          co_await sess.add_messages(ai::model_text("done"));
        });
    },
    with_snapshot_callback([&](const flow_context& x) {
      events.push_back(x.event());
      return x.event() != snapshot_event::invocation_end;
    }));
  auto talk = flow.stream_bidi();
  talk.send_text("go");
  const auto made = snapshots_in(hear(talk));
  talk.close();
  talk.output(patience);
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
  const auto flow = define(repeat);
  auto talk = flow.stream_bidi();
  std::vector<snapshot_id> made;
  for (const auto* text : {"a", "b"}) {
    talk.send_text(text);
    made.push_back(snapshots_in(hear(talk)).at(0));
  }
  talk.close();
  talk.output(patience);
  ASSERT_TRUE(nothing_is_left());
  const auto whole = recorder->find("/session-flow/chat");
  ASSERT_TRUE(whole);
  const auto turns = recorder->children_of(whole->context.span);
  ASSERT_EQ(turns.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(turns[i]->name, "sessionFlow/turn/" + std::to_string(i));
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
      co_await sess.run(ctx,
                        [](context, const ai::conversation_input&) -> task<> {
                          co_return;
                        });
    });
  const auto speak = [&] {
    std::vector<ai::message> messages(1, ai::user_text("hot"));
    const auto nan = std::numeric_limits<double>::quiet_NaN();
    messages.front().content.push_back(ai::part::data(nan));
    auto talk = flow.stream_bidi();
    talk.send_messages(std::move(messages));
    hear(talk);
    talk.close();
    return talk.output(patience).state.messages.size();
  };
  EXPECT_EQ(speak(), 1u) << "without a store nobody needs its JSON";
  const auto recorder = listen();
  EXPECT_EQ(speak(), 1u);
  ASSERT_TRUE(nothing_is_left());
  const auto span = recorder->find("sessionFlow/turn/0");
  ASSERT_TRUE(span);
  ASSERT_EQ(span->events.size(), 1u);
  EXPECT_EQ(span->events.front().name, "input without JSON");
}

TEST_F(session_flow, steps_of_a_turn_are_children_of_its_span) {
  const auto recorder = listen();
  const auto flow
    = define([](context ctx, flow_session sess, flow_responder) -> task<> {
        co_await sess.run(
          ctx, [](context turn, const ai::conversation_input&) -> task<> {
            co_await turn.run("step", [] {});
          });
      });
  say(flow.stream_bidi(), {"a"});
  ASSERT_TRUE(nothing_is_left());
  const auto turn = recorder->find("sessionFlow/turn/0");
  ASSERT_TRUE(turn && recorder->find("step"));
  EXPECT_EQ(recorder->find("step")->parent, turn->context.span);
}

TEST_F(session_flow, turns_are_counted_on_in_a_second_loop) {
  const auto recorder = listen();
  const auto flow
    = define([](context ctx, flow_session sess, flow_responder) -> task<> {
        for (auto again = true; again;) {
          again = false;
          try {
            co_await sess.run(
              ctx, [](context, const ai::conversation_input& said) -> task<> {
                if (said.messages.at(0).text() == "leave")
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
  talk.close();
  talk.output(patience);
  ASSERT_TRUE(nothing_is_left());
  const auto whole = recorder->find("/session-flow/chat");
  texts names;
  for (const auto& x : recorder->children_of(whole->context.span))
    names.push_back(x->name);
  EXPECT_EQ(names, (texts{"sessionFlow/turn/0", "sessionFlow/turn/1",
                          "sessionFlow/turn/1", "sessionFlow/turn/2"}))
    << "the turn that failed was none";
}

// -- concurrent changes -------------------------------------------------------

TEST_F(session_flow, parts_of_a_body_patch_without_losing_a_change) {
  const auto add = [](flow_session sess) -> task<> {
    for (int i = 0; i < 50; ++i)
      co_await sess.patch_custom([](mood& x) { ++x.number; });
  };
  const auto flow
    = define([add](context ctx, flow_session sess, flow_responder) -> task<> {
        co_await sess.run(
          ctx, [&](context, const ai::conversation_input&) -> task<> {
            co_await when_all(add(sess), add(sess), add(sess), add(sess));
          });
      });
  EXPECT_EQ(say(flow.stream_bidi(), {"a", "b"}).state.custom.number, 400);
}

TEST_F(session_flow, nested_flows_patch_without_losing_a_change) {
  const auto tool = rt->define_bidi_flow(
    "tool", [](context ctx, input<int>, output<int>) -> task<> {
      const auto sess = ctx.session<ai::session<mood>>();
      for (int i = 0; sess && i < 50; ++i)
        co_await sess->patch_custom([](mood x) {
          ++x.number;
          return x;
        });
    });
  const auto use = [tool](context ctx) -> task<> {
    auto talk = co_await tool.open(ctx);
    talk.close();
    co_await talk.output();
  };
  const auto flow
    = define([use](context ctx, flow_session sess, flow_responder) -> task<> {
        co_await sess.run(
          ctx, [&](context turn, const ai::conversation_input&) -> task<> {
            co_await when_all(use(turn), use(turn), use(turn), use(turn));
          });
      });
  EXPECT_EQ(say(flow.stream_bidi(), {"a", "b"}).state.custom.number, 400);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(session_flow, a_patch_that_throws_changes_nothing) {
  const auto flow
    = define([](context, flow_session sess, flow_responder) -> task<> {
        co_await sess.set_custom(1, "one");
        auto failing = sess.patch_custom([](mood& x) {
          x.number = 2;
          throw status_error{errc::aborted, "no"};
        });
        const auto done = co_await as_expected(std::move(failing));
        EXPECT_FALSE(done);
      });
  EXPECT_EQ(say(flow.stream_bidi(), {}).state.custom, (mood{1, "one"}));
}

// -- snapshots ----------------------------------------------------------------

TEST_F(session_flow, a_snapshot_is_tagged_alike_in_store_and_view) {
  const auto flow = define(repeat);
  auto talk = flow.stream_bidi();
  talk.send_text("a");
  const auto first = snapshots_in(hear(talk)).at(0);
  talk.send_text("b");
  const auto second = snapshots_in(hear(talk)).at(0);
  talk.close();
  const auto result = talk.output(patience);
  EXPECT_TRUE(is_uuid(first.str())) << first.str();
  EXPECT_TRUE(is_uuid(second.str()));
  EXPECT_NE(first, second);
  EXPECT_EQ(result.snapshot_id, second);
  EXPECT_EQ(tag_of(result.state.messages), second.str());
  EXPECT_EQ(tag_of(result.state.messages.prefix(2)), first.str())
    << "each turn can be gone back to";
  EXPECT_EQ(snapshot_of(second).at("state"), to_json(result.state));
  EXPECT_EQ(snapshot_of(first).at("state").at("messages"),
            to_json(result.state.messages.prefix(2)));
}

TEST_F(session_flow, a_body_sees_the_tag_in_the_next_turn) {
  const auto flow
    = define([](context ctx, flow_session sess, flow_responder out) -> task<> {
        co_await sess.run(
          ctx, [&](context, const ai::conversation_input&) -> task<> {
            const auto log = co_await sess.messages();
            const auto before = log.prefix(log.size() - 1);
            const auto tag = before.empty() ? "first"s : tag_of(before);
            co_await out.send_text(tag);
          });
      });
  auto talk = flow.stream_bidi();
  talk.send_text("a");
  const auto first = hear(talk);
  EXPECT_EQ(first.at(0).chunk.value().text(), "first");
  talk.send_text("b");
  EXPECT_EQ(hear(talk).at(0).chunk.value().text(),
            snapshots_in(first).at(0).str());
}

TEST_F(session_flow, a_change_behind_the_loop_is_in_a_snapshot_of_the_end) {
  const auto recorder = listen();
  const auto flow
    = define([](context ctx, flow_session sess, flow_responder out) -> task<> {
        co_await repeat(ctx, sess, out);
        co_await sess.set_custom(7, "end");
      });
  auto talk = flow.stream_bidi();
  talk.send_text("a");
  const auto turn = snapshots_in(hear(talk)).at(0);
  talk.close();
  const auto end = snapshots_in(hear(talk)).at(0);
  const auto result = talk.output(patience);
  EXPECT_EQ(result.snapshot_id, end);
  EXPECT_NE(turn, end);
  EXPECT_EQ(tag_of(result.state.messages), end.str());
  const auto found = snapshot_of(end);
  EXPECT_EQ(found.at("state"), to_json(result.state));
  EXPECT_EQ(found.at("parentId"), turn.str());
  EXPECT_EQ(found.at("turnIndex"), 1);
  ASSERT_TRUE(nothing_is_left());
  EXPECT_EQ(text_of(*recorder->find("/session-flow/chat"),
                    "genkit:metadata:snapshotId"),
            end.str());
}

TEST_F(session_flow, a_turn_that_changes_nothing_makes_no_snapshot) {
  const auto flow = define([](context ctx, flow_session sess,
                              flow_responder) -> task<> {
    co_await sess.run(
      ctx, [](context, const ai::conversation_input&) -> task<> { co_return; });
  });
  auto talk = flow.stream_bidi();
  talk.send_text("a");
  const auto made = snapshots_in(hear(talk));
  ASSERT_EQ(made.size(), 1u);
  talk.send(ai::conversation_input{});
  EXPECT_EQ(told_of(hear(talk)), texts{R"({"endTurn":true})"});
  talk.close();
  EXPECT_EQ(talk.output(patience).snapshot_id, made[0]);
}

TEST_F(session_flow, a_callback_can_say_no) {
  const auto flow
    = define(repeat, with_snapshot_callback([](const flow_context& x) {
               return x.turn_index() == 1
                      && x.event() == snapshot_event::turn_end;
             }));
  auto talk = flow.stream_bidi();
  std::vector<std::size_t> made;
  for (const auto* text : {"a", "b", "c"}) {
    talk.send_text(text);
    made.push_back(snapshots_in(hear(talk)).size());
  }
  talk.close();
  EXPECT_EQ(made, (std::vector<std::size_t>{0, 1, 0}));
  const auto result = talk.output(patience);
  EXPECT_TRUE(result.snapshot_id.empty()) << "no snapshot has the last state";
  EXPECT_EQ(tag_of(result.state.messages), "none");
}

TEST_F(session_flow, the_response_names_the_snapshot_of_its_state) {
  const auto flow = define(
    repeat, with_snapshot_callback(snapshot_on{snapshot_event::turn_end}));
  auto talk = flow.stream_bidi();
  talk.send_text("a");
  const auto made = snapshots_in(hear(talk)).at(0);
  talk.close();
  EXPECT_EQ(talk.output(patience).snapshot_id, made)
    << "nobody wanted another at the end, and none is needed";
}

TEST_F(session_flow, without_a_store_there_are_no_snapshots) {
  const auto flow = ai::define_session_flow(*rt, "chat", repeat);
  auto talk = flow.stream_bidi();
  talk.send_text("a");
  EXPECT_EQ(snapshots_in(hear(talk)).size(), 0u);
  talk.close();
  const auto result = talk.output(patience);
  EXPECT_TRUE(result.snapshot_id.empty());
  EXPECT_EQ(tag_of(result.state.messages), "none");
  EXPECT_FALSE(to_json(result).contains("snapshotId"));
  EXPECT_EQ(
    code_from([&] { (void)flow.stream_bidi(with_snapshot_id("unknown")); }),
    errc::failed_precondition);
}

// -- continuation -------------------------------------------------------------

TEST_F(session_flow, a_flow_goes_on_from_a_snapshot) {
  const auto recorder = listen();
  const auto flow = define(repeat);
  const auto first = say(flow.stream_bidi(), {"a", "b"});
  auto talk = flow.stream_bidi(with_snapshot_id(first.snapshot_id));
  talk.send_text("c");
  const auto made = snapshots_in(hear(talk)).at(0);
  talk.close();
  const auto second = talk.output(patience);
  EXPECT_EQ(second.state.messages.prefix(4), first.state.messages);
  EXPECT_EQ(second.state.messages.size(), 6u);
  EXPECT_EQ(second.state.custom.number, 3);
  const auto found = snapshot_of(made);
  EXPECT_EQ(found.at("parentId"), first.snapshot_id.str());
  EXPECT_EQ(found.at("turnIndex"), 2);
  ASSERT_TRUE(nothing_is_left());
  EXPECT_TRUE(recorder->find("sessionFlow/turn/2"));
  EXPECT_FALSE(recorder->find("sessionFlow/turn/3"));
}

TEST_F(session_flow, going_on_and_saying_nothing_yields_the_same_snapshot) {
  const auto flow = define(repeat);
  const auto first = say(flow.stream_bidi(), {"a"});
  const auto second
    = say(flow.stream_bidi(with_snapshot_id(first.snapshot_id)), {});
  EXPECT_EQ(second, first);
}

TEST_F(session_flow, whatever_is_wanted_the_response_names_what_there_is) {
  const auto flow = define(
    repeat, with_snapshot_callback(snapshot_on{snapshot_event::turn_end}));
  const auto first = say(flow.stream_bidi(), {"a"});
  ASSERT_FALSE(first.snapshot_id.empty());
  const auto second
    = say(flow.stream_bidi(with_snapshot_id(first.snapshot_id)), {});
  EXPECT_EQ(second, first) << "no turn, but its snapshot is there";
}

TEST_F(session_flow, an_unknown_snapshot_fails_at_once) {
  const auto flow = define(repeat);
  EXPECT_EQ(
    code_from([&] { (void)flow.stream_bidi(with_snapshot_id("unknown")); }),
    errc::not_found);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(session_flow, two_flows_from_one_snapshot_are_apart) {
  const auto flow = define(repeat);
  const auto root = say(flow.stream_bidi(), {"root"});
  auto one = flow.stream_bidi(with_snapshot_id(root.snapshot_id));
  auto two = flow.stream_bidi(with_snapshot_id(root.snapshot_id));
  const auto left = say(std::move(one), {"1"});
  const auto right = say(std::move(two), {"2"});
  EXPECT_EQ(
    told_of(left.state.messages),
    (texts{"user: root", "model: re: root", "user: 1", "model: re: 1"}));
  EXPECT_EQ(
    told_of(right.state.messages),
    (texts{"user: root", "model: re: root", "user: 2", "model: re: 2"}));
  EXPECT_EQ(snapshot_of(root.snapshot_id).at("state"), to_json(root.state));
}

TEST_F(session_flow, a_client_can_keep_the_state_itself) {
  const auto flow = define(repeat, with_client_states{});
  const auto first = say(flow.stream_bidi(), {"a"});
  const auto kept = to_json_text(first.state);
  const auto second = say(flow.stream_bidi(ai::with_state(first.state)), {"b"});
  EXPECT_EQ(second.state.messages.prefix(2), first.state.messages);
  EXPECT_EQ(to_json_text(first.state), kept);
  EXPECT_EQ(code_from([&] {
              (void)flow.stream_bidi(ai::with_state(first.state),
                                     with_snapshot_id(first.snapshot_id));
            }),
            errc::invalid_argument);
}

TEST_F(session_flow, a_json_client_gets_what_the_seed_says) {
  define(repeat);
  const auto said
    = json::parse(R"({"messages":[{"content":[{"text":"a"}],"role":"user"}]})");
  const auto result = rt->run("/session-flow/chat", {said});
  texts members;
  for (const auto& x : result.items())
    members.push_back(x.key());
  EXPECT_EQ(members, (texts{"snapshotId", "state"}));
  auto found
    = snapshot_of(snapshot_id{result.at("snapshotId").get<std::string>()});
  EXPECT_EQ(found.at("state"), result.at("state"));
  members.clear();
  for (const auto& x : found.items())
    members.push_back(x.key());
  EXPECT_EQ(members, (texts{"createdAt", "snapshotId", "state", "turnIndex"}));
  texts keys;
  for (const auto& x : rt->actions())
    keys.push_back(x.key);
  EXPECT_EQ(keys,
            (texts{"/session-flow/chat", "/snapshot-store/chat/getSnapshot"}));
}

} // namespace tertulia::test::session_flow_tests
