// SPDX-License-Identifier: BSD-3-Clause

// `tertulia chat` on pipes: its output for programs, and the data that it
// keeps.

#include "support/tool_chat.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "support/raw_sqlite.hpp"
#include "support/tool_store.hpp"

using namespace std::literals;

namespace tertulia::test::tool_chat_tests {

namespace {

using tool_chat = a_chat;

std::string id_of_chat(const a_chat& x) {
  const auto shown = x.documents("/session\n");
  return shown.empty() ? std::string{} : shown[0].at("id").get<std::string>();
}

} // namespace

// -- turns --------------------------------------------------------------------

TEST_F(tool_chat, answers_each_line_of_a_pipe) {
  const auto result = run({"chat"}, "Hello\nI am tired\n");
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(lines_of(result.out).size(), 2u) << result.out;
}

TEST_F(tool_chat, answers_a_last_line_without_an_end_and_no_blank_ones) {
  EXPECT_EQ(lines_of(answers("\n  \nHello")).size(), 1u);
  EXPECT_EQ(answers(""), "");
}

TEST_F(tool_chat, knows_the_conversation_when_it_is_started_again) {
  answers("My name is Ada\n");
  EXPECT_EQ(answers("What is my name?\n"),
            "You told me that your name is Ada.\n");
}

TEST_F(tool_chat, keeps_its_store_below_the_data_directory_for_the_user_alone) {
  answers("Hello\n");
  EXPECT_TRUE(std::filesystem::exists(file));
  EXPECT_EQ(std::filesystem::status(file.parent_path()).permissions(),
            std::filesystem::perms::owner_all);
}

TEST_F(tool_chat, keeps_its_store_where_it_is_told_to) {
  const strings there{"--store", (folder / "my.db").string()};
  answers("My name is Ada\n", there);
  EXPECT_FALSE(std::filesystem::exists(folder / "data"));
  EXPECT_TRUE(has(answers("What is my name?\n", there), "Ada"));
  EXPECT_TRUE(has(run({"sessions", "list", there[0], there[1]}).out,
                  "/session-flow/chat"));
}

TEST_F(tool_chat, says_a_slash_that_is_said_twice) {
  answers("//help me\n");
  EXPECT_EQ(documents("/session\n")[0].at("preview"), "/help me");
}

TEST_F(tool_chat, replaces_what_is_no_text_and_escapes_what_a_terminal_obeys) {
  const auto out = answers("my \x1b[2J hurts\n\xff\n");
  EXPECT_EQ(lines_of(out).size(), 2u);
  EXPECT_FALSE(has(out, "\x1b"));
}

TEST_F(tool_chat, prints_a_document_per_answer_for_programs) {
  const auto replies = documents("Hello\nUse the clock tool\n");
  ASSERT_EQ(replies.size(), 2u);
  EXPECT_FALSE(replies[0].at("answer").get<std::string>().empty());
  EXPECT_EQ(replies[0].at("session"), replies[1].at("session"));
  EXPECT_NE(replies[0].at("snapshot"), replies[1].at("snapshot"));
  EXPECT_EQ(replies[1].at("tools").at(0).at("name"), "clock");
}

TEST_F(tool_chat, tells_of_tools_unless_it_is_to_be_quiet) {
  const auto result = run({"chat"}, "Use the timer tool for 0 seconds\n");
  EXPECT_EQ(result.out, "The timer tool says: 0 seconds are over.\n");
  EXPECT_EQ(result.err, "[timer {\"seconds\":0}]\n"
                        "[timer: \"0 seconds are over\"]\n");
  EXPECT_EQ(run({"chat", "-q"}, "Use the timer tool for 0 seconds\n").err, "");
}

TEST_F(tool_chat, has_a_tool_ask_and_takes_the_next_line_for_the_answer) {
  EXPECT_EQ(answers("Use the ask_user tool: which colour?\nblue\n"),
            "which colour\nThe ask user tool says: blue.\n");
}

TEST_F(tool_chat, asks_what_a_tool_has_asked_when_it_was_stopped) {
  answers("Use the ask_user tool: which colour?\n");
  const auto later = run({"chat"}, "blue\n");
  EXPECT_TRUE(has(later.err, "which colour"));
  EXPECT_EQ(later.out, "The ask user tool says: blue.\n");
}

TEST_F(tool_chat, asks_what_is_open_also_if_it_is_quiet) {
  answers("Use the ask_user tool: which colour?\n");
  EXPECT_EQ(answers("blue\n"), "which colour\nThe ask user tool says: blue.\n");
  answers("Use the ask_user tool: which size?\n");
  const auto replies = documents("large\n");
  ASSERT_EQ(replies.size(), 2u);
  EXPECT_EQ(replies[0].at("questions").dump(), R"(["which size"])");
  EXPECT_EQ(replies[1].at("answer"), "The ask user tool says: large.");
  EXPECT_EQ(lines_of(answers("/restore 4\n")).back(), "which size")
    << "behind what is said of the snapshot";
}

TEST_F(tool_chat, takes_a_yes_however_it_is_written) {
  for (const auto* yes : {"yes", "Y", "YES", "y\r"})
    EXPECT_EQ(answers("Use the ask_user tool: agreed?\n"s + yes + "\n"),
              "agreed\nThe ask user tool says: true.\n")
      << yes;
  EXPECT_EQ(answers("Use the ask_user tool: agreed?\r\nNo\r\n"),
            "agreed\nThe ask user tool says: false.\n");
}

TEST_F(tool_chat, prints_nothing_but_answers_if_it_is_quiet) {
  answers("Hello\n");
  const auto id = id_of_chat(*this);
  const auto lines
    = "/snapshots\n/new\n/snapshots\n/model eliza\n/resume "s + id + "\n";
  for (const auto* how : {"--quiet", "--json"}) {
    const auto result = run({"chat", how}, lines);
    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(result.err, "");
  }
  const auto result = run({"chat"}, lines).err;
  for (const auto* x : {"This is a new conversation.", "There are no snapshots",
                        "eliza answers from now on.", "Continuing"})
    EXPECT_TRUE(has(result, x));
}

// -- snapshots ----------------------------------------------------------------

TEST_F(tool_chat, shows_what_a_restore_has_orphaned_as_a_branch) {
  answers("One\nTwo\nThree\n");
  EXPECT_EQ(tree(), (strings{"o 1", "o 2", "* 3"}));
  const auto restored = answers("/restore 1\n");
  EXPECT_TRUE(has(restored, "is the head now\nOrphaned: 2, 3. To restore "
                            "them: /restore 3\n"));
  EXPECT_EQ(tree(), (strings{"* 1", "x 2", "x 3"}));
  answers("Four\n");
  EXPECT_EQ(tree(), (strings{"o 1", "├─x 2", "│ x 3", "* 4"}));
  answers("/restore 3\nFive\n");
  EXPECT_EQ(tree(), (strings{"o 1", "├─x 4", "o 2", "o 3", "* 5"}));
  EXPECT_TRUE(has(answers("/snapshots\n"), "“Four”"));
}

TEST_F(tool_chat, forgets_what_was_orphaned) {
  answers("Hello\nMy name is Ada\n/restore 1\n");
  EXPECT_EQ(answers("What is my name?\n"),
            "You have not told me your name yet.\n");
}

TEST_F(tool_chat, finds_snapshots_by_the_beginning_of_an_id) {
  const auto replies = documents("One\nTwo\n");
  const auto id = replies.at(0).at("snapshot").get<std::string>();
  answers("/restore " + id.substr(0, 8) + "\n");
  EXPECT_EQ(tree(), (strings{"* 1", "x 2"}));
}

TEST_F(tool_chat, shows_what_differs_between_two_snapshots) {
  answers("One\nTwo\n");
  const auto text = answers("/diff 1 2\n");
  EXPECT_TRUE(has(text, "messages: 2 -> 4\n  + /messages/2  user: Two\n"));
  EXPECT_EQ(answers("/diff 1\n"), text);
}

// -- conversations ------------------------------------------------------------

TEST_F(tool_chat, branches_into_a_copy_and_finds_the_way_back) {
  answers("My name is Ada\nTwo\n");
  const auto origin = id_of_chat(*this);
  const auto text = answers("/branch 1\nThree\n");
  EXPECT_TRUE(has(text, "To go back: /resume " + origin));
  EXPECT_NE(id_of_chat(*this), origin);
  EXPECT_EQ(tree(), (strings{"o 1", "* 2"}));
  EXPECT_TRUE(has(answers("What is my name?\n"), "Ada"));
  answers("/resume " + origin + "\n");
  EXPECT_EQ(id_of_chat(*this), origin) << "also when it is started again";
  EXPECT_EQ(tree(), (strings{"o 1", "* 2"}));
}

TEST_F(tool_chat, begins_and_resumes_conversations) {
  answers("My name is Ada\n");
  const auto first = id_of_chat(*this);
  EXPECT_EQ(answers("What is my name?\n", {"--new"}),
            "You have not told me your name yet.\n");
  EXPECT_EQ(documents("/sessions\n").size(), 2u);
  EXPECT_TRUE(has(
    answers("What is my name?\n", {"--session", first.substr(0, 8)}), "Ada"));
  EXPECT_EQ(id_of_chat(*this), first);
  EXPECT_TRUE(has(answers("/new\nWhat is my name?\n"), "not told me"));
  EXPECT_EQ(documents("/sessions\n").size(), 3u);
}

TEST_F(tool_chat,
       starts_at_the_same_cost_however_many_conversations_there_are) {
  answers("My name is Ada\n");
  const auto id = id_of_chat(*this);
  // Bytes that the process has read, its programs and libraries included.
  const auto bytes_read = [&](const strings& options) {
    auto all = command({"chat", "--quiet"});
    all.insert(all.end(), options.begin(), options.end());
    all.insert(all.begin(), {"sh", "-c",
                             "\"$@\" <&- || exit; sed -n 's/^rchar: //p' "
                             "/proc/$$/io",
                             "sh"});
    const auto result = run_process(all);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out.empty() ? 0 : std::stol(result.out);
  };
  const strings by_prefix{"--session", id.substr(0, 35)};
  const auto last = bytes_read({});
  if (last == 0)
    GTEST_SKIP() << "/proc does not count what a process reads";
  const auto named = bytes_read(by_prefix);
  raw_sqlite{file}.run(
    "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n"
    " WHERE n < 2000) INSERT INTO sessions (agent, id, updated_at,"
    " updated_hour, state) SELECT agent, printf('%08d', n),"
    " updated_at - n * 3600000000000, updated_hour - n, state"
    " FROM sessions, n");
  seal_rows(file);
  EXPECT_EQ(documents("/sessions\n").size(), 2001u);
  EXPECT_EQ(id_of_chat(*this), id);
  // A page or two more of each index; all sessions take 300 KB.
  constexpr auto pages = 64 * 1024;
  EXPECT_LT(bytes_read({}), last + pages);
  EXPECT_LT(bytes_read(by_prefix), named + pages);
}

TEST_F(tool_chat, refuses_the_beginning_of_several_ids) {
  for (const auto* title : {"One\n", "Two\n"})
    answers(title, {"--new"});
  raw_sqlite{file}.run("UPDATE sessions SET id = 'same' || key");
  seal_rows(file);
  const auto result = run({"chat", "--session", "same"});
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(
    has(result.err, "the ids of several conversations begin with \"same\""));
  EXPECT_EQ(run({"chat", "--session", "same1"}).code, 0);
}

// -- damage -------------------------------------------------------------------

TEST_F(tool_chat, begins_another_conversation_if_the_last_one_is_damaged) {
  answers("My name is Ada\nI am blue\n");
  const auto first = id_of_chat(*this);
  raw_sqlite{file}.run(
    "UPDATE messages SET text = replace(text, 'blue', 'glue')");
  const auto result = run({"chat", "--quiet"}, "What is my name?\n");
  EXPECT_EQ(result.code, 4);
  EXPECT_EQ(result.out, "You have not told me your name yet.\n");
  EXPECT_TRUE(has(result.err, "is corrupt", "/resume " + first));
  EXPECT_NE(id_of_chat(*this), first) << "and nothing is said of it again";
}

TEST_F(tool_chat, goes_back_to_what_is_whole_of_a_damaged_conversation) {
  strings ids;
  for (auto i = 0; i < 2; ++i) {
    answers("My name is Ada\nI am blue\n", {"--new"});
    ids.push_back(id_of_chat(*this));
  }
  raw_sqlite{file}.run(
    "UPDATE messages SET text = replace(text, 'blue', 'glue')");
  answers("My name is Bo\n", {"--new"});
  const std::string asked = "Hello\n/restore 1\nWhat is my name?\n";
  for (const auto& result :
       {run({"chat", "--quiet"}, "/resume " + ids[0] + "\n" + asked),
        run({"chat", "--quiet", "--session", ids[1]}, asked)}) {
    EXPECT_TRUE(result.failed(4, "/restore ID goes back"));
    EXPECT_TRUE(has(result.out, "You told me that your name is Ada."));
  }
}

// -- invalid commands ---------------------------------------------------------

TEST_F(tool_chat, says_what_makes_no_sense_and_loses_nothing) {
  answers("One\nTwo\n");
  struct wrong {
    const char* line;
    int code;
    const char* message;
  };
  for (const auto& x :
       {wrong{"/snapshot", 2, "there is no command /snapshot"},
        wrong{"/", 2, "there is no command /"},
        wrong{"/restore", 2, "usage: /restore ID"},
        wrong{"/restore 9", 3, "there is no snapshot \"9\""},
        wrong{"/restore 99999999999999999999", 3, "there is no snapshot"},
        wrong{"/restore zz", 3, "there is no snapshot \"zz\""},
        wrong{"/diff 1 70", 3, "there is no snapshot \"70\""},
        wrong{"/branch no", 3, "there is no snapshot \"no\""},
        wrong{"/resume nobody", 3, "there is no conversation \"nobody\""},
        wrong{"/model gpt-0", 2, "there is no model \"gpt-0\""},
        wrong{"/model eliza:2", 2, "\"eliza\" has no variants"}}) {
    const auto result
      = run({"chat", "-q"}, std::string{x.line} + "\nStill there?\n");
    EXPECT_EQ(result.code, x.code) << x.line;
    EXPECT_TRUE(has(result.err, x.message));
    EXPECT_EQ(lines_of(result.out).size(), 1u) << x.line;
  }
  EXPECT_EQ(tree().size(), 13u);
  EXPECT_EQ(id_of_chat(*this).size(), 36u);
}

TEST_F(tool_chat, refuses_a_conversation_and_a_model_that_there_are_not) {
  const auto session = run({"chat", "--session", "no"}, "Hello\n");
  EXPECT_EQ(session.code, 3);
  EXPECT_EQ(session.out, "");
  EXPECT_TRUE(
    run({"chat", "--model", "gpt-0"}, "Hello\n").failed(2, "Models: eliza"));
  const auto both = run({"chat", "--new", "--session", "x", "--json"});
  EXPECT_EQ(json::parse(both.err).at("error").at("code"), "invalid_argument");
}

TEST_F(tool_chat, says_so_where_it_cannot_keep_anything) {
  for (const auto* home : {"--unset=HOME", "HOME=", "HOME=here"}) {
    const auto result = run_process(
      {"env", "-u", "XDG_DATA_HOME", home, TERTULIA_TOOL, "chat"}, "Hello\n");
    EXPECT_TRUE(result.failed(2, "Add --store FILE."));
  }
}

TEST_F(tool_chat, shows_its_commands_models_and_tools) {
  const auto text = answers("/help\n/model\n/tools\n");
  for (const auto* x :
       {"/restore ID", "*  eliza", "timer", "ask_user", "/quit"})
    EXPECT_TRUE(has(text, x));
  EXPECT_TRUE(has(run({"chat", "--help"}).out, "/restore ID"));
}

TEST_F(tool_chat, leaves_when_it_is_told_to) {
  EXPECT_EQ(answers("/quit\nHello\n"), "");
}

TEST_F(tool_chat, refuses_a_line_that_is_nested_too_deep) {
  const std::size_t levels = 100'000;
  const auto line = "use the ask_user tool " + std::string(levels, '[')
                    + std::string(levels, ']') + '\n';
  const auto result = run({"chat", "--quiet"}, line + "What is my name?\n");
  EXPECT_TRUE(result.failed(2, "at most 200 levels"));
  EXPECT_EQ(result.out, "You have not told me your name yet.\n");
}

TEST_F(tool_chat, refuses_a_line_without_an_end) {
  const auto result = run_process(
    {"sh", "-c", "head -c 80000000 /dev/zero | \"$@\"", "sh", "env",
     "XDG_DATA_HOME=" + (folder / "data").string(), TERTULIA_TOOL, "chat"});
  EXPECT_TRUE(result.failed(1, "more than 64 MiB"));
}

TEST_F(tool_chat, ends_at_once_with_130_when_a_pipe_is_interrupted) {
  for (const auto* how : {"--quiet", "--json"}) {
    tool_process talk{on_pipes, command({"chat", how}),
                      "/tools\nUse the timer tool for 3600 seconds\nHello\n"};
    ASSERT_TRUE(talk.read_until("ask_user"));
    talk.send(SIGINT);
    const auto result = talk.wait();
    EXPECT_EQ(result.code, 130);
    EXPECT_EQ(result.out.find('\n', result.out.find("ask_user")),
              result.out.size() - 1)
      << "no answer to another line: " << result.out;
  }
  EXPECT_TRUE(tree().empty());
}

TEST_F(tool_chat, ends_with_143_when_a_script_is_to_end) {
  tool_process talk{on_pipes, command({"chat", "--json"}),
                    "/tools\nUse the timer tool for 3600 seconds\n"};
  ASSERT_TRUE(talk.read_until("ask_user"));
  talk.send(SIGTERM);
  EXPECT_EQ(talk.wait().code, 128 + SIGTERM);
  EXPECT_TRUE(tree().empty());
}

} // namespace tertulia::test::tool_chat_tests
