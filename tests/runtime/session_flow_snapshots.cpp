// SPDX-License-Identifier: BSD-3-Clause

// Snapshots of a session flow, and its continuation from one.

#include <string>
#include <vector>

#include "support/conversations.hpp"

using namespace std::literals;

namespace tertulia::test::session_flow_tests {

namespace {

using flow_context = ai::snapshot_context<notebook>;
using session_flow = conversations;

/// Returns the snapshot ID in the metadata of the last message.
std::string tag_of(const ai::message_log& log) {
  const auto found = log.back().metadata.find("snapshotId");
  return found != log.back().metadata.end() ? found->second.get<std::string>()
                                            : "none";
}

} // namespace

// -- snapshots ----------------------------------------------------------------

TEST_F(session_flow, a_snapshot_is_tagged_alike_in_store_and_view) {
  auto talk = define_flow(repeat_in_turns).stream_bidi();
  const auto first = snapshot_after(talk, "a");
  const auto second = snapshot_after(talk, "b");
  const auto result = finish(talk);
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
  const auto flow = define_turns(
    [](context, flow_session sess, const auto&, auto& out) -> task<> {
      const auto log = co_await sess.messages();
      const auto before = log.prefix(log.size() - 1);
      const auto tag = before.empty() ? "first"s : tag_of(before);
      co_await out.send_text(tag);
    });
  auto talk = flow.stream_bidi();
  const auto first = hear(talk, "a");
  EXPECT_EQ(first.at(0).chunk.value().text(), "first");
  EXPECT_EQ(hear(talk, "b").at(0).chunk.value().text(),
            snapshots_in(first).at(0).str());
}

TEST_F(session_flow, a_change_behind_the_loop_is_in_a_snapshot_of_the_end) {
  const auto recorder = listen();
  const auto flow = define_flow(
    [](context ctx, flow_session sess, flow_responder out) -> task<> {
      co_await repeat_in_turns(ctx, sess, out);
      co_await sess.set_custom(7, "end");
    });
  auto talk = flow.stream_bidi();
  const auto turn = snapshot_after(talk, "a");
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
  EXPECT_EQ(
    *recorder->find("/session-flow/chat")->find("genkit:metadata:snapshotId"),
    attribute_value{end.str()});
}

TEST_F(session_flow, a_turn_that_changes_nothing_makes_no_snapshot) {
  const auto flow = define_turns(
    [](context, flow_session, const auto&, auto&) -> task<> { co_return; });
  auto talk = flow.stream_bidi();
  const auto made = snapshots_in(hear(talk, "a"));
  ASSERT_EQ(made.size(), 1u);
  talk.send(ai::conversation_input{});
  EXPECT_EQ(told_of(hear(talk)), texts{R"({"endTurn":true})"});
  EXPECT_EQ(finish(talk).snapshot_id, made[0]);
}

TEST_F(session_flow, a_callback_can_say_no) {
  const auto flow = define_flow(
    repeat_in_turns, with_snapshot_callback([](const flow_context& x) {
      return x.turn_index() == 1 && x.event() == snapshot_event::turn_end;
    }));
  auto talk = flow.stream_bidi();
  std::vector<std::size_t> made;
  for (const auto* text : {"a", "b", "c"}) {
    made.push_back(snapshots_in(hear(talk, text)).size());
  }
  talk.close();
  EXPECT_EQ(made, (std::vector<std::size_t>{0, 1, 0}));
  const auto result = talk.output(patience);
  EXPECT_TRUE(result.snapshot_id.empty()) << "no snapshot has the last state";
  EXPECT_EQ(tag_of(result.state.messages), "none");
}

TEST_F(session_flow, the_response_names_the_snapshot_of_its_state) {
  // The callback declines a snapshot at the end, and none is needed.
  const auto flow = define_flow(repeat_in_turns, each_turn);
  auto talk = flow.stream_bidi();
  const auto made = snapshot_after(talk, "a");
  const auto first = finish(talk);
  EXPECT_EQ(first.snapshot_id, made);
  EXPECT_EQ(say(flow.stream_bidi(with_snapshot_id(made)), {}), first)
    << "no turn, but its snapshot is there";
}

TEST_F(session_flow, without_a_store_there_are_no_snapshots) {
  const auto flow = ai::define_session_flow(*rt, "chat", repeat_in_turns);
  auto talk = flow.stream_bidi();
  EXPECT_EQ(snapshots_in(hear(talk, "a")).size(), 0u);
  const auto result = finish(talk);
  EXPECT_TRUE(result.snapshot_id.empty());
  EXPECT_EQ(tag_of(result.state.messages), "none");
  EXPECT_FALSE(to_json(result).contains("snapshotId"));
  EXPECT_EQ(opening_code(flow, with_snapshot_id("unknown")),
            errc::failed_precondition);
}

// -- continuation -------------------------------------------------------------

TEST_F(session_flow, a_flow_goes_on_from_a_snapshot) {
  const auto recorder = listen();
  const auto flow = define_flow(repeat_in_turns);
  const auto first = say(flow.stream_bidi(), {"a", "b"});
  auto talk = flow.stream_bidi(with_snapshot_id(first.snapshot_id));
  const auto made = snapshot_after(talk, "c");
  const auto second = finish(talk);
  EXPECT_EQ(second.state.messages.prefix(4), first.state.messages);
  EXPECT_EQ(second.state.messages.size(), 6u);
  EXPECT_EQ(second.state.custom.count, 3);
  const auto found = snapshot_of(made);
  EXPECT_EQ(found.at("parentId"), first.snapshot_id.str());
  EXPECT_EQ(found.at("turnIndex"), 2);
  ASSERT_TRUE(nothing_is_left());
  EXPECT_EQ(*recorder->find("sessionFlow/turn")->find("tertulia.turn.index"),
            attribute_value{std::int64_t{2}});
}

TEST_F(session_flow, going_on_and_saying_nothing_yields_the_same_snapshot) {
  const auto flow = define_flow(repeat_in_turns);
  const auto first = say(flow.stream_bidi(), {"a"});
  const auto second
    = say(flow.stream_bidi(with_snapshot_id(first.snapshot_id)), {});
  EXPECT_EQ(second, first);
}

TEST_F(session_flow, an_unknown_snapshot_fails_at_once) {
  const auto flow = define_flow(repeat_in_turns);
  EXPECT_EQ(opening_code(flow, with_snapshot_id("unknown")), errc::not_found);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(session_flow, two_flows_from_one_snapshot_are_apart) {
  const auto flow = define_flow(repeat_in_turns);
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
  const auto flow = define_flow(repeat_in_turns, with_client_states{});
  const auto first = say(flow.stream_bidi(), {"a"});
  const auto kept = to_json_text(first.state);
  const auto second = say(flow.stream_bidi(ai::with_state(first.state)), {"b"});
  EXPECT_EQ(second.state.messages.prefix(2), first.state.messages);
  EXPECT_EQ(to_json_text(first.state), kept);
  EXPECT_EQ(opening_code(flow, ai::with_state(first.state),
                         with_snapshot_id(first.snapshot_id)),
            errc::invalid_argument);
}

TEST_F(session_flow, a_json_client_gets_what_the_seed_says) {
  define_flow(repeat_in_turns);
  const auto said
    = json::parse(R"({"messages":[{"content":[{"text":"a"}],"role":"user"}]})");
  const auto result = rt->run_action("/session-flow/chat", {said});
  texts members;
  for (const auto& x : result.items())
    members.push_back(x.key());
  EXPECT_EQ(members, (texts{"sessionId", "snapshotId", "state"}));
  auto found
    = snapshot_of(snapshot_id{result.at("snapshotId").get<std::string>()});
  EXPECT_EQ(found.at("state"), result.at("state"));
  members.clear();
  for (const auto& x : found.items())
    members.push_back(x.key());
  EXPECT_EQ(members, (texts{"createdAt", "snapshotId", "state", "turnIndex"}));
  EXPECT_EQ(keys_of(*rt),
            (texts{"/session-flow/chat", "/snapshot-store/chat/getSnapshot",
                   "/snapshot-store/chat/listSnapshots",
                   "/snapshot-store/chat/restoreSnapshot"}));
}

} // namespace tertulia::test::session_flow_tests
