// SPDX-License-Identifier: BSD-3-Clause

// Commands on sessions: they are listed, shown and changed. The tool runs as a
// process, as users run it.

#include <algorithm>
#include <string>
#include <vector>

#include "support/raw_sqlite.hpp"
#include "support/tool_store.hpp"

namespace tertulia::test::tool_sessions_tests {

namespace {

using tool = a_tool;

strings ids_of(const std::vector<json>& lines) {
  strings result;
  for (const auto& x : lines)
    result.push_back(x.at("agent").get<std::string>() + ' '
                     + x.at("id").get<std::string>());
  return result;
}

} // namespace

// -- list ---------------------------------------------------------------------

TEST_F(tool, lists_sessions_as_a_table) {
  const auto text = output({"sessions", "list"});
  EXPECT_TRUE(has(text, "AGENT        SESSION  ABOUT",
                  "/agent/chat  s1       “oh”", "/agent/chat  s2       Second",
                  "/flow/draft  s1       “how?”"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
}

TEST_F(tool, lists_sessions_as_a_document_per_line) {
  const auto lines = documents({"sessions", "list"});
  EXPECT_EQ(ids_of(lines),
            (strings{"/agent/chat s1", "/agent/chat s2", "/flow/draft s1"}));
  EXPECT_EQ(lines[0].at("records"), 4);
  EXPECT_EQ(lines[0].at("messages"), 6);
  EXPECT_EQ(lines[1].at("title"), "Second");
  EXPECT_TRUE(lines[1].at("updatedAt").get<std::string>().ends_with("Z"));
}

TEST_F(tool, lists_only_the_sessions_that_are_asked_for) {
  EXPECT_EQ(ids_of(documents({"sessions", "list", "--agent", "/flow/draft"})),
            strings{"/flow/draft s1"});
  EXPECT_EQ(ids_of(documents({"sessions", "list", "--label", "good"})),
            strings{"/agent/chat s1"});
  EXPECT_EQ(documents({"sessions", "list", "--since", "1h"}).size(), 3u);
  EXPECT_EQ(documents({"sessions", "list", "--until", "1h"}).size(), 0u);
  EXPECT_EQ(documents({"sessions", "list", "--since", "2030-01-01"}).size(),
            0u);
  EXPECT_EQ(
    documents({"sessions", "list", "--until", "2100-01-01T00:00:00Z"}).size(),
    3u);
  EXPECT_EQ(output({"sessions", "list", "-q"}), "s1\ns2\ns1\n");
}

TEST_F(tool, goes_on_listing_where_the_cursor_points) {
  const auto first = documents({"sessions", "list", "--limit", "2"});
  ASSERT_EQ(first.size(), 2u);
  const auto cursor = first[1].at("cursor").get<std::string>();
  EXPECT_EQ(ids_of(documents({"sessions", "list", "--after", cursor})),
            strings{"/flow/draft s1"});
  const auto people = run({"sessions", "list", "--limit", "2"});
  EXPECT_TRUE(has(people.err, "--after '" + cursor + "'"));
  EXPECT_EQ(run({"sessions", "list", "--limit", "3"}).err, "");
}

TEST_F(tool, says_so_when_no_session_fits) {
  const auto result = run({"sessions", "list", "--label", "none"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "No session matches.\n");
}

// -- show ---------------------------------------------------------------------

TEST_F(tool, shows_a_session_and_its_last_messages) {
  const auto text = output(
    {"sessions", "show", "s1", "--agent", "/agent/chat", "--messages", "2"});
  EXPECT_TRUE(has(text, "head       s1@4  " + ids[3].substr(0, 12),
                  "snapshots  4, 1 of them orphaned",
                  "custom     {\"mood\":\"glad\"}",
                  "the last 2 of 6 messages\n\n#4 user\n  oh\n\n"
                  "#5 model\n  yes\n"));
}

TEST_F(tool, shows_a_session_as_a_document) {
  const auto shown = document({"sessions", "show", "s2"});
  EXPECT_EQ(shown.at("session").at("title"), "Second");
  EXPECT_EQ(shown.at("head").at("id"), ids[0]);
  EXPECT_EQ(shown.at("orphans"), 0);
  EXPECT_EQ(shown.at("custom").at("mood"), "calm");
  EXPECT_EQ(shown.at("lastMessages").size(), 2u);
}

TEST_F(tool, shows_a_session_whose_state_is_damaged_and_says_so) {
  raw_sqlite{file}.run("UPDATE messages SET text = replace(text, 'oh', 'no')");
  const auto result = run({"sessions", "show", "s1", "--agent", "/agent/chat"});
  EXPECT_EQ(result.code, 4);
  EXPECT_TRUE(has(result.out, "snapshots  4"));
  EXPECT_TRUE(has(result.err, "is corrupt", "tertulia verify"));
}

TEST_F(tool, shows_a_session_whose_head_is_damaged_and_says_so) {
  raw_sqlite{file}.run("UPDATE records SET depth = 9 WHERE sequence = 4");
  for (const auto& arguments : std::vector<strings>{{"sessions", "show", "s1"},
                                                    {"snapshots", "list", "s1"},
                                                    {"verify", "s1"}}) {
    const auto result = run(joined(arguments, {"--agent", "/agent/chat"}));
    EXPECT_EQ(result.code, 4);
    EXPECT_NE(result.out, "");
  }
  const auto shown = run({"sessions", "show", "s1", "--agent", "/agent/chat"});
  EXPECT_TRUE(
    has(shown.out, "head       4, which is damaged\n", "snapshots  4"));
  EXPECT_TRUE(has(shown.err, "record 4 of session \"s1\""));
  const auto restored
    = run({"snapshots", "restore", "s1@3", "--agent", "/agent/chat"});
  EXPECT_EQ(restored.code, 0) << restored.err;
  EXPECT_TRUE(has(restored.out, "is the head now"));
}

TEST_F(tool, never_lets_control_characters_through) {
  const std::string evil = "a\x1b[2Jb\nc\x07\u009b\u202ed";
  {
    file_store store{file};
    const session_ref session{"/agent/chat", session_id{"evil\x1b[31m"}};
    const auto saved
      = save(store, session, conversation({{evil.c_str(), "x"}}, "y"), 0);
    store.get(title_session_request{session, evil});
    store.get(
      annotate_snapshot_request{snapshot_ref{session, saved.sequence}, evil});
    label_snapshot_request label{snapshot_ref{session, saved.sequence}};
    label.add.push_back(evil);
    store.get(label);
  }
  const std::string id = "evil\x1b[31m";
  for (const auto& arguments :
       std::vector<strings>{{"sessions", "list"},
                            {"sessions", "list", "-q"},
                            {"sessions", "list", "--json"},
                            {"sessions", "show", id},
                            {"sessions", "show", id, "--json"},
                            {"sessions", "show", id + "\x1b"},
                            {"sessions", "show", id + "\x1b", "--json"},
                            {"sessions", "title", id, evil},
                            {"snapshots", "list", id},
                            {"snapshots", "show", id},
                            {"snapshots", "diff", id, "s2"},
                            {"snapshots", "note", id, evil},
                            {"snapshots", "prune", "--keep", "1", "--dry-run"},
                            {"verify", id},
                            {"sessions", "delete", id, "--yes"}}) {
    const auto result = run(arguments);
    const auto all = result.out + result.err;
    EXPECT_NE(all, "");
    EXPECT_FALSE(has(all, "\x1b"));
    EXPECT_FALSE(has(all, "\x07"));
    EXPECT_FALSE(has(all, "\u009b"));
    EXPECT_FALSE(has(all, "\u202e"));
  }
}

// -- changes ------------------------------------------------------------------

TEST_F(tool, deletes_a_session_when_told_that_it_is_meant) {
  EXPECT_TRUE(run({"sessions", "delete", "s2"}).failed(2, "--yes"));
  EXPECT_EQ(documents({"sessions", "list"}).size(), 3u);
  EXPECT_EQ(output({"sessions", "delete", "s2", "--yes"}),
            "Deleted session s2 of /agent/chat with 1 snapshot.\n");
  EXPECT_EQ(documents({"sessions", "list"}).size(), 2u);
  EXPECT_EQ(
    document({"sessions", "delete", "s1", "--agent", "/flow/draft", "--yes"})
      .at("records"),
    1);
}

TEST_F(tool, deletes_a_damaged_session_of_an_agent_that_is_named) {
  raw_sqlite{file}.run("UPDATE sessions SET preview = 'x' WHERE id = 's2'");
  EXPECT_TRUE(
    run({"sessions", "delete", "s2", "--yes"}).failed(4, "is corrupt"));
  EXPECT_EQ(
    output({"sessions", "delete", "s2", "--agent", "/agent/chat", "--yes"}),
    "Deleted session s2 of /agent/chat with 1 snapshot.\n");
  EXPECT_EQ(run({"verify"}).code, 0);
}

TEST_F(tool, finds_a_session_beside_one_that_is_damaged) {
  raw_sqlite db{file};
  // damages all sessions of an agent, which are the last ones of the store
  db.run("UPDATE sessions SET preview = 'x' WHERE agent = '/flow/draft'");
  EXPECT_EQ(document({"sessions", "show", "s2"}).at("session").at("id"), "s2");
  const auto lost = failure(4, {"sessions", "show", "s1"});
  EXPECT_EQ(lost.at("code"), "data_loss");
  EXPECT_TRUE(has(lost.at("message"), "session \"s1\" of /flow/draft"));
  EXPECT_EQ(run({"sessions", "show", "s7"}).code, 3);
  output({"sessions", "export", "s2"});
  output({"sessions", "fork", "s2", "s3"});
}

TEST_F(tool, forks_what_is_not_damaged_of_a_session) {
  raw_sqlite{file}.run("UPDATE records SET depth = 9 WHERE sequence = 3");
  const auto whole
    = failure(4, {"sessions", "fork", "s1", "whole", "--agent", "/agent/chat"});
  EXPECT_EQ(whole.at("code"), "data_loss");
  EXPECT_TRUE(has(whole.at("message"), "record 3 is corrupt"));
  EXPECT_EQ(document({"sessions", "fork", "s1", "way", "--agent", "/agent/chat",
                      "--at", "s1@4"})
              .at("records"),
            3);
  EXPECT_EQ(run({"verify", "way"}).code, 0);
}

TEST_F(tool, forks_a_session_whole_or_up_to_a_snapshot) {
  output({"sessions", "fork", "s1", "whole", "--agent", "/agent/chat"});
  EXPECT_EQ(document({"sessions", "show", "whole"}).at("session").at("records"),
            4);
  const auto part = document({"sessions", "fork", "s1", "part", "--agent",
                              "/agent/chat", "--at", ids[1].substr(0, 8)});
  EXPECT_EQ(part.at("id"), "part");
  EXPECT_EQ(part.at("head"), 2);
  EXPECT_EQ(part.at("records"), 2);
  EXPECT_EQ(
    document({"sessions", "fork", "s2", "s3", "--to-agent", "/agent/other"})
      .at("agent"),
    "/agent/other");
  EXPECT_EQ(failure_code(1, {"sessions", "fork", "s2", "whole"}),
            "already_exists");
}

TEST_F(tool, titles_a_session) {
  EXPECT_EQ(output({"sessions", "title", "s2", "A \"b\""}),
            "The session s2 of /agent/chat is titled \"A \"b\"\".\n");
  EXPECT_EQ(document({"sessions", "title", "s2", ""}).at("title"), "");
  EXPECT_EQ(failure_code(2, {"sessions", "title", "s2", std::string(300, 'x')}),
            "invalid_argument");
}

TEST_F(tool, names_a_session_as_it_is_shown_if_its_id_cannot_be_typed) {
  const std::string id = "a\x01"
                         "b\n";
  add_session(id, "x");
  EXPECT_TRUE(has(output({"sessions", "list", "-q"}), "a\\x01b\\n\n"));
  EXPECT_EQ(document({"sessions", "show", "a\\x01b\\n"}).at("session").at("id"),
            id);
  EXPECT_EQ(
    document({"snapshots", "show", "a\\x01b\\n@1"}).at("record").at("session"),
    id);
  output({"sessions", "fork", "a\\x01b\\n", "ab"});
  output({"sessions", "delete", "a\\x01b\\n", "--yes"});
  EXPECT_EQ(run({"sessions", "show", "a\\x01b\\n"}).code, 3);
  EXPECT_EQ(run({"sessions", "show", "ab"}).code, 0);
}

} // namespace tertulia::test::tool_sessions_tests
