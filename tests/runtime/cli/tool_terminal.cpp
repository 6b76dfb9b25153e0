// SPDX-License-Identifier: BSD-3-Clause

// The command line on a terminal.

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "support/tool_store.hpp"

namespace tertulia::test::tool_terminal_tests {

namespace {

struct tool_terminal : a_tool {
  tool_result on_terminal(unsigned short columns, strings arguments) const {
    return tool_process{tool_process::terminal{columns},
                        on_store(std::move(arguments))}
      .wait();
  }

  /// Types keys as the answer to a question of the tool.
  tool_result answer(strings arguments, const std::string& keys) const {
    tool_process asks{tool_process::terminal{80},
                      on_store(std::move(arguments))};
    EXPECT_TRUE(asks.read_until("[y/N] "));
    asks.type(keys);
    return asks.wait();
  }

  bool has_session(const std::string& id) const {
    return run({"sessions", "show", id}).code == 0;
  }
};

} // namespace

// -- terminals ----------------------------------------------------------------

TEST_F(tool_terminal, cuts_tables_to_fit) {
  output({"sessions", "title", "s2",
          "Über den Dächern von Nizza und noch viel weiter 日本語日本語"});
  const auto narrow = on_terminal(76, {"sessions", "list"});
  EXPECT_EQ(narrow.code, 0);
  EXPECT_TRUE(has(narrow.out, "…"));
  EXPECT_FALSE(has(narrow.out, "weiter"));
  EXPECT_TRUE(has(narrow.out, "Über den"));
  const auto wide = on_terminal(300, {"sessions", "list"});
  EXPECT_TRUE(has(wide.out, "weiter 日本語日本語"));
  EXPECT_TRUE(has(output({"sessions", "list"}), "weiter 日本語日本語"));
}

TEST_F(tool_terminal, aligns_wide_characters_of_all_scripts) {
  output({"sessions", "title", "s2", "ab"});
  const auto expected = output({"sessions", "list"});
  // An emoji, and one letter each of Tangut, Nushu, Kana and Old Hangul.
  for (const std::string wide : {"⚡", "𗀀", "𛅰", "𛀀", "ꥠ"}) {
    output({"sessions", "title", "s2", wide});
    auto list = output({"sessions", "list"});
    const auto at = list.find(wide);
    ASSERT_NE(at, std::string::npos);
    EXPECT_EQ(list.replace(at, wide.size(), "ab"), expected) << wide;
  }
}

TEST_F(tool_terminal, gives_each_cell_a_line_where_a_table_is_too_wide) {
  const auto shown = on_terminal(20, {"sessions", "list"}).out;
  EXPECT_TRUE(has(shown,
                  "SESSION    s2\r\n"
                  "ABOUT      Second\r\n"
                  "SNAPSHOTS  1\r\n",
                  "AGENT\r\n  /agent/chat\r\n"));
  const auto records
    = on_terminal(20, {"snapshots", "list", "s1", "--agent", "/agent/chat"});
  EXPECT_TRUE(has(records.out, "SEQ     * 4\r\n", "LABELS  good\r\n"));
  for (std::size_t at = 0; at < shown.size();) {
    const auto end = shown.find("\r\n", at);
    const auto line = shown.substr(at, end - at);
    EXPECT_LE(std::count_if(line.begin(), line.end(),
                            [](char c) { return (c & 0xc0) != 0x80; }),
              20)
      << line;
    at = end + 2;
  }
}

TEST_F(tool_terminal, asks_before_it_deletes) {
  for (const auto* keys : {"n\n", "\n", "what\n"}) {
    const auto result = answer({"sessions", "delete", "s2"}, keys);
    EXPECT_EQ(result.code, 1);
    EXPECT_TRUE(has(result.out,
                    "Delete session s2 of /agent/chat with 1 "
                    "snapshot and 2 messages permanently? [y/N] ",
                    "nothing was changed"));
  }
  EXPECT_TRUE(has_session("s2"));
  EXPECT_EQ(answer({"sessions", "delete", "s2"}, "y\n").code, 0);
  EXPECT_FALSE(has_session("s2"));
}

TEST_F(tool_terminal, ends_with_130_when_it_is_interrupted_while_it_asks) {
  constexpr const char* ctrl_c = "\x03";
  EXPECT_EQ(answer({"snapshots", "prune", "--keep", "1"}, ctrl_c).code, 130);
  EXPECT_TRUE(has(output({"verify"}), "6 snapshots"));
}

TEST_F(tool_terminal, shows_how_far_it_has_come_and_cleans_up) {
  const auto result = on_terminal(80, {"verify"});
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(
    has(result.out, "verifying  [####", "of 9\r\x1b[K", "nothing is damaged."));
  const auto program = on_terminal(80, {"verify", "--json"});
  EXPECT_FALSE(has(program.out, "verifying"));
}

TEST_F(tool_terminal, shows_since_when_a_vacuum_runs_and_cleans_up) {
  const auto result = on_terminal(80, {"vacuum"});
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(
    has(result.out, " KiB  0 s", "vacuuming ", "\r\x1b[KThe file had "));
  const auto program = on_terminal(80, {"vacuum", "--json"});
  EXPECT_FALSE(has(program.out, "vacuuming"));
}

TEST_F(tool_terminal, shows_how_much_of_a_session_is_written_read_and_pruned) {
  const auto there = (file.parent_path() / "s1.jsonl").string();
  const strings written{"sessions",    "export", "s1", "--agent",
                        "/agent/chat", "-o",     there};
  const strings read{"sessions", "import", there, "--as", "s9"};
  const strings pruned{"snapshots", "prune", "--keep", "1", "--yes"};
  for (const auto& [arguments, bar, after] :
       {std::tuple{written, "exporting  [", "\r\x1b[KWrote "},
        std::tuple{read, "importing  [", "\r\x1b[KRead "},
        std::tuple{pruned, "pruning  [####", "\r\x1b[KPruned "}}) {
    const auto shown = on_terminal(80, arguments);
    EXPECT_EQ(shown.code, 0) << shown.out;
    EXPECT_TRUE(has(shown.out, bar, after)) << shown.out;
  }
}

TEST_F(tool_terminal, gets_no_state_that_it_would_obey) {
  add_session("evil", "\u009b2J\x7f");
  for (const auto& arguments :
       std::vector<strings>{{"snapshots", "show", "evil", "--state"},
                            {"sessions", "export", "evil"}}) {
    const auto shown = on_terminal(80, arguments).out;
    EXPECT_TRUE(has(shown, "\\u009b2J\\u007f"));
    EXPECT_FALSE(has(shown, "\u009b"));
    EXPECT_TRUE(has(output(arguments), "\u009b2J\x7f"));
  }
}

TEST_F(tool_terminal, gets_no_hidden_text_and_no_pile_of_marks) {
  const std::string mark = "\u0301";
  std::string title = "a\U000E0041\U000E007Fb";
  for (auto i = 0; i < 40; ++i)
    title += mark;
  output({"sessions", "title", "s2", title});
  const auto marks_in = [&](const std::string& text) {
    auto result = 0;
    for (auto position = text.find(mark); position != std::string::npos;
         position = text.find(mark, position + mark.size()))
      ++result;
    return result;
  };
  const auto list = on_terminal(2000, {"sessions", "list"}).out;
  EXPECT_TRUE(
    has(list, "a\\u{e0041}\\u{e007f}b" + mark, mark + "\\u{301}\\u{301}"));
  EXPECT_EQ(marks_in(list), 8);
  const auto program = on_terminal(2000, {"sessions", "show", "s2", "--json"});
  EXPECT_TRUE(has(program.out, "a\\udb40\\udc41\\udb40\\udc7fb"));
  EXPECT_EQ(marks_in(program.out), 8);
  EXPECT_EQ(json::parse(program.out).at("session").at("title"), title)
    << "JSON says the same in other words";
}

TEST_F(tool_terminal, shows_text_of_many_scripts_as_it_is) {
  for (const std::string title :
       {"Ho\u0302\u0300", "शब्दों", "שָׁלוֹם", "ไม่ใช่", "각 각",
        "👩‍👩‍👧‍👦 👍🏽 ❤️", "葛󠄀"}) {
    output({"sessions", "title", "s2", title});
    EXPECT_TRUE(has(on_terminal(200, {"sessions", "list"}).out, title));
  }
}

} // namespace tertulia::test::tool_terminal_tests
