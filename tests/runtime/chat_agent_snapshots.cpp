// SPDX-License-Identifier: BSD-3-Clause

#include <limits>
#include <string>
#include <vector>

#include "support/conversations.hpp"

using namespace std::literals;

namespace tertulia::test::chat_agent_snapshots_tests {

namespace {

struct chat_agent_snapshots : conversations {
  json snapshots_of(const session_id& id) {
    return ask_store("/snapshot-store/chat/listSnapshots",
                     json::object({{"sessionId", id.str()}}));
  }
};

/// Returns a message with values that could be lost on the way through JSON.
ai::message delicate() {
  ai::message result = ai::user_text("plain");
  result.content.push_back(ai::part::text("<b>", "text/html"));
  result.content.push_back(
    ai::part::data(std::numeric_limits<std::int64_t>::max()));
  result.content.push_back(
    ai::part::data(std::numeric_limits<std::int64_t>::min()));
  result.content.push_back(ai::part::request(
    "tool", json{{"big", (1ll << 53) + 1}, {"tenth", 0.1}}, "ref"));
  result.metadata["max"] = std::numeric_limits<std::uint64_t>::max();
  return result;
}

} // namespace

// -- creation -----------------------------------------------------------------

TEST_F(chat_agent_snapshots, without_a_callback_none_is_made) {
  const auto result = say(define_stored_chat(repeat).stream_bidi(), {"a", "b"});
  EXPECT_TRUE(result.snapshot_ids.empty());
  EXPECT_TRUE(snapshots_of(result.session_id).empty());
}

TEST_F(chat_agent_snapshots, a_callback_without_a_store_is_refused) {
  EXPECT_EQ(
    code_from([&] { ai::define_chat_agent(*rt, "chat", repeat, each_time); }),
    errc::invalid_argument);
}

TEST_F(chat_agent_snapshots, a_callback_sees_both_states_where_they_lie) {
  const auto chat = define_stored_chat(
    repeat, with_snapshot_callback([](const ai::snapshot_context<notebook>& x) {
      const auto before = x.prev_state();
      return !before
             || x.state().messages().size() >= before->messages().size() + 4;
    }));
  const auto result = say(chat.stream_bidi(), {"a", "b", "c", "d", "e"});
  texts turns;
  for (const auto& x : snapshots_of(result.session_id))
    turns.push_back(x.at("turnIndex").dump());
  EXPECT_EQ(turns, (texts{"0", "2", "4"}));
}

TEST_F(chat_agent_snapshots, an_id_is_the_hash_of_the_canonical_json) {
  const auto result = say(define_chat().stream_bidi(), {"a"});
  const auto text = R"({"messages":[{"content":[{"text":"a"}],"role":"user"},)"
                    R"({"content":[{"text":"re: a"}],"role":"model"}],)"
                    R"("custom":{"count":0,"words":""}})"s;
  EXPECT_EQ(to_json_text(result.state), text);
  EXPECT_EQ(result.snapshot_ids, std::vector{snapshot_id{hash_of(text)}});
}

TEST_F(chat_agent_snapshots, the_response_has_all_members_of_the_seed) {
  const auto result = say(define_chat().stream_bidi(my_session), {"a"});
  EXPECT_EQ(to_json_text(result),
            R"({"sessionId":"mine","state":)" + to_json_text(result.state)
              + R"(,"snapshotIds":[")" + result.snapshot_ids.at(0).str()
              + R"("]})");
  const auto none = say(define_chat("other").stream_bidi(), {});
  EXPECT_TRUE(is_uuid(none.session_id.str()));
  EXPECT_FALSE(to_json(none).contains("snapshotIds"));
}

// -- states kept by the client ------------------------------------------------

TEST_F(chat_agent_snapshots, a_client_can_keep_the_state_itself) {
  const auto chat = ai::define_chat_agent(*rt, "chat", repeat);
  const auto first = say(chat.stream_bidi(), {"a"});
  const auto kept = to_json_text(first.state);
  const auto second = say(chat.stream_bidi(ai::with_state(first.state)), {"b"});
  EXPECT_EQ(told_of(second.state.messages),
            (texts{"user: a", "model: re: a", "user: b", "model: re: b"}));
  EXPECT_EQ(to_json_text(first.state), kept) << "the caller's is the caller's";
  EXPECT_NE(first.session_id, second.session_id);
}

TEST_F(chat_agent_snapshots, two_conversations_from_one_state_are_apart) {
  const auto chat = ai::define_chat_agent(*rt, "chat", repeat);
  const notebook_state given{
    ai::message_log{std::vector{ai::user_text("before")}}, notebook{1, "x"},
    std::vector{text_artifact("a", "b")}};
  const auto kept = to_json_text(given);
  auto one = chat.stream_bidi(ai::with_state(given));
  auto two = chat.stream_bidi(ai::with_state(given));
  for (const auto* text : {"1", "2", "3"}) {
    one.send_text("one "s + text);
    two.send_text("two "s + text);
    hear(one);
    hear(two);
  }
  one.close();
  two.close();
  EXPECT_EQ(told_of(one.output(patience).state.messages),
            (texts{"user: before", "user: one 1", "model: re: one 1",
                   "user: one 2", "model: re: one 2", "user: one 3",
                   "model: re: one 3"}));
  EXPECT_EQ(told_of(two.output(patience).state.messages),
            (texts{"user: before", "user: two 1", "model: re: two 1",
                   "user: two 2", "model: re: two 2", "user: two 3",
                   "model: re: two 3"}));
  EXPECT_EQ(to_json_text(given), kept) << "the caller's is the caller's";
}

TEST_F(chat_agent_snapshots, a_given_state_has_no_parent) {
  const auto chat = define_chat();
  const auto first = say(chat.stream_bidi(), {"a"});
  const auto second = say(chat.stream_bidi(ai::with_state(first.state)), {"b"});
  const auto found = snapshot_of(second.snapshot_ids.at(0));
  EXPECT_FALSE(found.contains("parentId"));
  EXPECT_EQ(found.at("turnIndex"), 0);
  EXPECT_EQ(found.at("sessionId"), second.session_id.str());
}

// -- states kept by the store -------------------------------------------------

TEST_F(chat_agent_snapshots, a_conversation_goes_on_from_a_snapshot) {
  const auto chat = define_chat();
  const auto first = say(chat.stream_bidi(), {"a", "b"});
  const auto second
    = say(chat.stream_bidi(with_snapshot_id(first.snapshot_ids.at(0))), {"c"});
  EXPECT_EQ(second.session_id, first.session_id);
  EXPECT_EQ(told_of(second.state.messages),
            (texts{"user: a", "model: re: a", "user: c", "model: re: c"}));
  const auto found = snapshot_of(second.snapshot_ids.at(0));
  EXPECT_EQ(found.at("parentId"), first.snapshot_ids.at(0).str());
  EXPECT_EQ(found.at("turnIndex"), 1);
}

TEST_F(chat_agent_snapshots, branches_never_see_each_other) {
  const auto chat = define_chat();
  const auto root = say(chat.stream_bidi(), {"root"});
  const auto from = with_snapshot_id(root.snapshot_ids.at(0));
  auto one = chat.stream_bidi(from);
  auto two = chat.stream_bidi(from);
  for (const auto* text : {"1", "2"}) {
    one.send_text("one "s + text);
    hear(two, "two "s + text);
    hear(one);
  }
  one.close();
  two.close();
  const auto left = one.output(patience);
  const auto right = two.output(patience);
  EXPECT_EQ(told_of(left.state.messages),
            (texts{"user: root", "model: re: root", "user: one 1",
                   "model: re: one 1", "user: one 2", "model: re: one 2"}));
  EXPECT_EQ(told_of(right.state.messages),
            (texts{"user: root", "model: re: root", "user: two 1",
                   "model: re: two 1", "user: two 2", "model: re: two 2"}));
  for (const auto* branch : {&left, &right}) {
    ASSERT_EQ(branch->snapshot_ids.size(), 2u);
    EXPECT_EQ(snapshot_of(branch->snapshot_ids[0]).at("parentId"),
              root.snapshot_ids[0].str());
    EXPECT_EQ(snapshot_of(branch->snapshot_ids[1]).at("parentId"),
              branch->snapshot_ids[0].str());
    EXPECT_EQ(
      to_json_text(branch->state),
      to_json_text(
        say(chat.stream_bidi(with_snapshot_id(branch->snapshot_ids[1])), {})
          .state));
  }
}

TEST_F(chat_agent_snapshots, a_list_has_all_branches_oldest_first) {
  const auto chat = define_chat();
  const auto first = say(chat.stream_bidi(), {"a", "b"});
  const auto second
    = say(chat.stream_bidi(with_snapshot_id(first.snapshot_ids.at(0))), {"c"});
  texts ids;
  for (const auto& x : snapshots_of(first.session_id))
    ids.push_back(x.at("snapshotId").get<std::string>());
  EXPECT_EQ(ids,
            (texts{first.snapshot_ids[0].str(), first.snapshot_ids[1].str(),
                   second.snapshot_ids.at(0).str()}));
}

TEST_F(chat_agent_snapshots, a_snapshot_has_all_members_of_the_seed) {
  const auto made = say(define_chat().stream_bidi(my_session), {"a", "b"});
  const auto& ids = made.snapshot_ids;
  auto found = snapshot_of(ids.at(1));
  EXPECT_LT(caf::make_timestamp()
              - parse_rfc3339(found.at("createdAt").get<std::string>()),
            patience);
  found["createdAt"] = "";
  json wanted;
  wanted["snapshotId"] = ids.at(1).str();
  wanted["sessionId"] = "mine";
  wanted["parentId"] = ids.at(0).str();
  wanted["createdAt"] = "";
  wanted["turnIndex"] = 1;
  wanted["event"] = "turnEnd";
  wanted["state"] = to_json(made.state);
  EXPECT_EQ(found, wanted);
}

TEST_F(chat_agent_snapshots, what_is_delicate_survives_store_and_resume) {
  const auto chat = define_chat();
  auto talk = chat.stream_bidi(ai::with_state(notebook_state{
    {}, notebook{std::numeric_limits<std::int64_t>::max(), "\u00fc\n\0x"s}}));
  const std::vector<ai::message> sent(1, delicate());
  talk.send_messages(sent);
  const auto made = snapshots_in(hear(talk));
  finish(talk);
  EXPECT_EQ(sent.at(0), delicate()) << "the caller's is the caller's";
  auto again = chat.stream_bidi(with_snapshot_id(made.at(0)));
  const auto state = finish(again).state;
  EXPECT_EQ(*state.messages.begin(), delicate());
  EXPECT_EQ(state.custom.count, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(state.custom.words, "\u00fc\n\0x"s);
  const auto found = snapshot_of(made.at(0)).at("state");
  EXPECT_EQ(from_json<notebook_state>(found), state) << "as JSON, too";
  EXPECT_EQ(found.at("messages")[0].at("content")[1].at("contentType"),
            "text/html");
}

// -- start of a conversation --------------------------------------------------

TEST_F(chat_agent_snapshots, a_snapshot_and_a_state_are_refused) {
  const auto chat = define_chat();
  const auto made = say(chat.stream_bidi(), {"a"});
  const auto id = made.snapshot_ids.at(0);
  EXPECT_EQ(opening_code(chat, with_snapshot_id(id),
                         ai::with_state(made.state)),
            errc::invalid_argument);
  EXPECT_EQ(opening_code("/agent/chat",
                         with_init(json{{"snapshotId", id.str()},
                                        {"state", to_json(made.state)}})),
            errc::invalid_argument);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(chat_agent_snapshots, a_bad_snapshot_id_fails_at_the_opening) {
  const auto chat = define_chat();
  EXPECT_EQ(opening_code(chat, with_snapshot_id("unknown")), errc::not_found);
  EXPECT_EQ(opening_code("/agent/chat",
                         with_init(json{{"snapshotId", "unknown"}})),
            errc::not_found);
  const auto made = say(chat.stream_bidi(), {"a"});
  EXPECT_EQ(opening_code(chat, with_snapshot_id(made.snapshot_ids.at(0)),
                         with_session_id("another")),
            errc::invalid_argument);
  EXPECT_EQ(opening_code("/agent/chat", with_snapshot_id("another"),
                         with_init(json{{"snapshotId", "one"}})),
            errc::invalid_argument);
  const auto loose = ai::define_chat_agent(*rt, "loose", repeat);
  EXPECT_EQ(opening_code(loose, with_snapshot_id("x")),
            errc::failed_precondition);
}

TEST_F(chat_agent_snapshots, a_json_client_begins_with_a_snapshot_or_a_state) {
  const auto chat = define_chat();
  const auto made = say(chat.stream_bidi(), {"a"});
  const auto input
    = to_json(ai::conversation_input{std::vector{ai::user_text("b")}});
  texts received;
  const auto by_id = rt->run_action(
    "/agent/chat", {input},
    [&](const json& x) { received.push_back(x.begin().key()); },
    with_init(json{{"snapshotId", made.snapshot_ids.at(0).str()}}));
  const auto by_state
    = rt->run_action("/agent/chat", {input}, {},
                     with_init(json{{"state", to_json(made.state)}}));
  EXPECT_EQ(by_id.at("state"), by_state.at("state"));
  EXPECT_EQ(by_id.at("state").at("messages").size(), 4u);
  EXPECT_EQ(by_id.at("sessionId"), made.session_id.str());
  EXPECT_EQ(received, (texts{"chunk", "snapshotCreated"}));
}

TEST_F(chat_agent_snapshots, a_misspelt_member_begins_no_new_conversation) {
  const auto chat = define_chat();
  const auto made = say(chat.stream_bidi(), {"a"});
  const auto id = made.snapshot_ids.at(0).str();
  EXPECT_EQ(error_text(opening_error("/agent/chat",
                                     with_init(json{{"snapshotID", id}}))),
            "invalid_argument: $.snapshotID: expected one of \"snapshotId\", "
            "\"state\", found \"snapshotID\"");
  auto state = to_json(made.state);
  state["history"] = state["messages"];
  EXPECT_EQ(opening_code("/agent/chat", with_init(json{{"state", state}})),
            errc::invalid_argument);
  state = to_json(made.state);
  state["custom"]["more"] = 1;
  EXPECT_NE(opening_code("/agent/chat", with_init(json{{"state", state}})),
            errc::invalid_argument)
    << "what it keeps is a struct of its own";
  for (const auto* action : {"getSnapshot", "listSnapshots"})
    EXPECT_EQ(code_from([&] {
                (void)rt->run_action(
                  "/snapshot-store/chat/"s + action,
                  {json{{"snapshotId", id}, {"sessionID", "s"}}});
              }),
              errc::invalid_argument)
      << action;
}

TEST_F(chat_agent_snapshots, a_state_of_another_shape_is_refused) {
  define_chat();
  EXPECT_TRUE(
    has(error_text(opening_error(
          "/agent/chat",
          with_init(json::parse(R"({"state":{"custom":{"count":"one"}}})")))),
        "invalid_argument: ", "$.state.custom.count"));
}

TEST_F(chat_agent_snapshots,
       a_state_is_refused_beside_a_store_unless_it_was_agreed_on) {
  const auto strict = ai::define_chat_agent(
    *rt, "strict", repeat, with_snapshot_store(store), each_turn);
  EXPECT_EQ(
    error_text(opening_error(strict, ai::with_state(notebook_state{}))),
    "failed_precondition: /agent/strict keeps its states in a store and "
    "takes none from its clients");
  const auto as_json = json::object({{"state", to_json(notebook_state{})}});
  EXPECT_EQ(opening_code("/agent/strict", with_init(as_json)),
            errc::failed_precondition);
  // Also for a known session, where it would be ignored.
  say(strict.stream_bidi(my_session), {"a"});
  EXPECT_EQ(opening_code(strict, my_session, ai::with_state(notebook_state{})),
            errc::failed_precondition);
  EXPECT_EQ(code_from([&] {
              const auto flow = ai::define_session_flow(
                *rt, "strictFlow",
                [](context, ai::flow_session<notebook>,
                   ai::flow_responder<phase>) -> task<> { co_return; },
                with_snapshot_store(store));
              (void)flow.stream_bidi(ai::with_state(notebook_state{}));
            }),
            errc::failed_precondition);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(chat_agent_snapshots, a_session_goes_on_by_its_id) {
  const auto chat = define_chat();
  say(chat.stream_bidi(my_session), {"a"});
  const auto again = say(
    chat.stream_bidi(my_session, ai::with_state(notebook_state{})), {"b"});
  EXPECT_EQ(again.state.messages.size(), 4u) << "the state was ignored";
}

TEST_F(chat_agent_snapshots, only_an_agent_with_a_store_has_actions_on_it) {
  define_chat();
  ai::define_chat_agent(*rt, "loose", repeat);
  EXPECT_EQ(keys_of(*rt), (texts{"/agent/chat", "/agent/loose",
                                 "/snapshot-store/chat/getSnapshot",
                                 "/snapshot-store/chat/listSnapshots",
                                 "/snapshot-store/chat/restoreSnapshot"}));
}

TEST_F(chat_agent_snapshots, a_snapshot_notes_its_agent_on_the_span) {
  const auto recorder = listen();
  const auto chat = define_chat();
  const auto made = say(chat.stream_bidi(), {"a"});
  ASSERT_TRUE(nothing_is_left());
  const auto span = recorder->find("/agent/chat");
  ASSERT_TRUE(span);
  ASSERT_NE(span->find("genkit:metadata:snapshotId"), nullptr);
  EXPECT_EQ(*span->find("genkit:metadata:snapshotId"),
            attribute_value{made.snapshot_ids.at(0).str()});
  EXPECT_EQ(*span->find("genkit:metadata:agent"), attribute_value{"chat"s});
}

} // namespace tertulia::test::chat_agent_snapshots_tests
