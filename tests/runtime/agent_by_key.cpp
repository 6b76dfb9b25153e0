// SPDX-License-Identifier: BSD-3-Clause

// Descriptor of an agent, and actions on its store, found by key.

#include <tertulia/descriptor.hpp>

#include <caf/timestamp.hpp>

#include <cstddef>
#include <string>

#include "support/conversations.hpp"

namespace tertulia::test::agent_tests {

using agent = conversations;

TEST_F(agent, a_tool_gets_a_snapshot_by_key) {
  const auto notes = define_kept_notes();
  const auto made = finish(notes.stream_bidi(my_session), {"a", "b"});
  const auto found = ask_store("/snapshot-store/notes/getSnapshot",
                               {{"snapshotId", made.snapshot_ids.at(1).str()}});
  EXPECT_EQ(found.at("id"), made.snapshot_ids.at(1).str());
  EXPECT_EQ(found.at("parentId"), made.snapshot_ids.at(0).str());
  EXPECT_EQ(found.at("sessionId"), "mine");
  EXPECT_EQ(found.at("state"), json::parse(R"({"count":2,"words":"ab"})"));
  EXPECT_EQ(found.at("index"), 1);
  EXPECT_EQ(found.at("turnIndex"), 1);
  EXPECT_EQ(found.at("event"), "turnEnd");
  const auto made_at = parse_rfc3339(found.at("createdAt").get<std::string>());
  EXPECT_LT(caf::make_timestamp() - made_at, patience);
  EXPECT_FALSE(found.contains("orphaned"));
  EXPECT_EQ(code_from([&] {
              ask_store("/snapshot-store/notes/getSnapshot",
                        {{"snapshotId", "unknown"}});
            }),
            errc::not_found);
}

TEST_F(agent, what_cannot_be_defined_whole_is_not_defined) {
  const auto count = [&] { return rt->actions().size(); };
  (void)ai::define_chat_agent(
    *rt, "x",
    [](context, ai::chat_session<nothing>, input<ai::conversation_input>,
       ai::chat_responder<nothing>) -> task<> { co_return; },
    with_snapshot_store(store));
  const auto before = count();
  // The agent's own key is free, but a key of its store is not.
  EXPECT_EQ(code_from([&] {
              (void)ai::define_session_flow(
                *rt, "x",
                [](context, ai::flow_session<nothing>,
                   ai::flow_responder<nothing>) -> task<> { co_return; },
                with_snapshot_store(store));
            }),
            errc::already_exists);
  // The agent's own name is short enough, but the key of its store is too long.
  EXPECT_EQ(code_from([&] { define_notes(std::string(120, 'x')); }),
            errc::invalid_argument);
  EXPECT_EQ(count(), before);
  EXPECT_FALSE(rt->find_action("/session-flow/x"));
}

TEST_F(agent, a_tool_gets_a_session_by_key) {
  const auto notes = define_kept_notes();
  const auto made = finish(notes.stream_bidi(my_session), {"a"});
  const auto found = session_of("mine");
  EXPECT_EQ(found.at("id"), "mine");
  EXPECT_EQ(found.at("state"), json::parse(R"({"count":1,"words":"a"})"));
  EXPECT_EQ(found.at("turnIndex"), 1);
  EXPECT_EQ(found.at("lastSnapshot").at("id"), made.snapshot_ids.at(0).str());
  EXPECT_EQ(code_from([&] { session_of("unknown"); }), errc::not_found);
  EXPECT_TRUE(snapshots_of("unknown").empty());
}

TEST_F(agent, a_session_that_is_ahead_of_its_snapshot_shows_both) {
  const auto notes = define_stored(
    take_notes, with_snapshot_callback([](const snapshot_context<notebook>& x) {
      return x.turn_index() == 0;
    }));
  finish(notes.stream_bidi(my_session), {"a", "b"});
  const auto found = session_of("mine");
  EXPECT_EQ(found.at("state").at("words"), "ab");
  EXPECT_EQ(found.at("lastSnapshot").at("state").at("words"), "a");
  const auto again = finish(notes.stream_bidi(my_session), {"c"});
  EXPECT_EQ(again.state.words, "abc");
}

TEST_F(agent, a_session_list_of_many_pages_comes_whole) {
  finish(define_kept_notes().stream_bidi(my_session), texts(1'100, "x"));
  const auto found = snapshots_of("mine");
  ASSERT_EQ(found.size(), 1'100u);
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_EQ(found[i].at("index"), i);
}

TEST_F(agent, only_an_agent_with_a_store_has_actions_on_it) {
  define_notes("kept");
  define_agent(*rt, "loose", take_notes);
  EXPECT_EQ(keys_of(*rt), (texts{"/agent/kept", "/agent/loose",
                                 "/snapshot-store/kept/getSession",
                                 "/snapshot-store/kept/getSnapshot",
                                 "/snapshot-store/kept/listSnapshots",
                                 "/snapshot-store/kept/restoreSnapshot"}));
}

TEST_F(agent, a_descriptor_says_what_goes_in_and_out) {
  const auto notes
    = define_stored(take_notes, with_description("Takes notes."));
  const auto found = rt->find_action("/agent/notes");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->key, notes.info().key);
  const auto info = to_json(*found);
  EXPECT_EQ(info.at("description"), "Takes notes.");
  EXPECT_EQ(info.at("inputSchema").at("type"), "string");
  EXPECT_EQ(info.at("streamSchema").at("type"), "string");
  EXPECT_TRUE(info.at("initSchema").at("properties").contains("words"));
  const auto out = info.at("outputSchema").at("properties");
  for (const auto* member :
       {"sessionId", "output", "state", "artifacts", "snapshotIds"})
    EXPECT_TRUE(out.contains(member)) << member;
}

TEST_F(agent, a_json_client_talks_to_an_agent) {
  define_kept_notes();
  texts chunks;
  const auto result = rt->run_action(
    "/agent/notes", {json("a"), json("b")},
    [&](const json& x) { chunks.push_back(x.get<std::string>()); }, my_session,
    with_init(json::parse(R"({"count":4,"words":"x"})")));
  EXPECT_EQ(chunks, (texts{"xa", "xab"}));
  EXPECT_EQ(result.at("sessionId"), "mine");
  EXPECT_EQ(result.at("output"), 6);
  EXPECT_EQ(result.at("state").at("words"), "xab");
  EXPECT_EQ(result.at("snapshotIds").size(), 2u);
  EXPECT_TRUE(
    has(error_text(opening_error(
          "/agent/notes", with_init(json::parse(R"({"count":"four"})")))),
        "invalid_argument: ", "$.count"));
}

} // namespace tertulia::test::agent_tests
