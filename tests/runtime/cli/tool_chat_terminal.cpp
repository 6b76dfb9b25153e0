// SPDX-License-Identifier: BSD-3-Clause

// `tertulia chat` on a terminal: the prompt, editing, Ctrl-C.

#include <initializer_list>
#include <string>

#include "support/tool_chat.hpp"
#include "support/tool_store.hpp"

namespace tertulia::test::tool_chat_terminal_tests {

namespace {

constexpr const char* ctrl_c = "\x03";
constexpr const char* ctrl_d = "\x04";
constexpr const char* arrow_up = "\x1b[A";

constexpr const char* name_line = "What is my name?\n";
constexpr const char* unknown_name = "You have not told me your name yet.";

/// Line whose turn takes longer than any test.
constexpr const char* slow_line = "Use the timer tool for 3600 seconds\n";
constexpr const char* slow_note = "[timer {\"seconds\":3600}]";

/// Text that the chat shows, and keys that are typed after it.
struct step {
  const char* shown;
  std::string typed;
};

struct tool_chat_terminal : a_chat {
  /// Takes these steps in a chat, which must end with the last of them.
  tool_result converse(std::initializer_list<step> steps, strings options = {},
                       const std::string& variable = "TERM=xterm") const {
    options.insert(options.begin(), "chat");
    auto words = command(std::move(options));
    words.insert(words.begin() + 1, variable);
    tool_process talk{tool_process::terminal{100}, words};
    for (const auto& [shown, typed] : steps) {
      const auto is_shown = talk.read_until(shown);
      EXPECT_TRUE(is_shown);
      if (!is_shown)
        return {};
      talk.type(typed);
    }
    return talk.wait();
  }

  /// Types keys that must result in "What is my name?", and leaves with Ctrl-D.
  void asks_for_the_name_by(const std::string& keys) const {
    EXPECT_EQ(converse({{"Ctrl-D quits.", keys}, {unknown_name, ctrl_d}}).code,
              0);
  }
};

} // namespace

TEST_F(tool_chat_terminal, greets_answers_and_leaves_with_ctrl_d) {
  asks_for_the_name_by(name_line);
}

TEST_F(tool_chat_terminal, says_where_the_conversation_was) {
  answers("I am tired\n");
  EXPECT_EQ(converse({{"Your last message: “I am tired”.", "/quit\n"}}).code,
            0);
}

TEST_F(tool_chat_terminal, finds_lines_again_that_were_said_before) {
  answers(name_line);
  asks_for_the_name_by(std::string{arrow_up} + "\n");
  EXPECT_EQ(tree().size(), 2u);
}

TEST_F(tool_chat_terminal, lets_a_line_be_edited) {
  // Ctrl-A moves to the beginning of the line.
  asks_for_the_name_by("is my name?\x01What \n");
}

TEST_F(tool_chat_terminal, takes_text_that_is_not_ascii_in_any_locale) {
  EXPECT_EQ(converse({{"Ctrl-D quits.", "Köln\n/session --json\n"},
                      {"usage: /session", ctrl_d}},
                     {}, "LC_ALL=C")
              .code,
            0);
  EXPECT_TRUE(has(answers("/snapshots\n"), "“Köln”"));
}

TEST_F(tool_chat_terminal, cancels_the_turn_with_ctrl_c_and_stays) {
  answers("My name is Ada\n");
  EXPECT_EQ(
    converse({{"Ctrl-D quits.", slow_line},
              {slow_note, ctrl_c},
              {"Cancelled: the conversation is as it was before.", name_line},
              {"You told me that your name is Ada.", ctrl_d}})
      .code,
    0);
  EXPECT_EQ(tree(), (strings{"o 1", "* 2"}));
}

TEST_F(tool_chat_terminal, stays_when_ctrl_space_is_typed) {
  EXPECT_EQ(converse({{"> ", // earlier it could mean Ctrl-D
                       std::string(2, '\0') + name_line},
                      {unknown_name, ctrl_d}})
              .code,
            0);
}

TEST_F(tool_chat_terminal, leaves_with_a_ctrl_d_that_was_typed_early) {
  const auto result
    = converse({{"Ctrl-D quits.", "Use the timer tool for 1 seconds\n"},
                {"[timer {\"seconds\":1}]", ctrl_d}});
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(has(result.out, "1 second is over."));
}

TEST_F(tool_chat_terminal, drops_the_line_with_ctrl_c) {
  EXPECT_EQ(converse({{"Ctrl-D quits.", "What is"},
                      {"What is", ctrl_c},
                      {"Ctrl-C again quits", "/tools\n"},
                      {"ask_user", ctrl_d}})
              .code,
            0);
  EXPECT_TRUE(tree().empty());
}

TEST_F(tool_chat_terminal, leaves_with_ctrl_c_twice_in_a_row) {
  EXPECT_EQ(
    converse({{"Ctrl-D quits.", ctrl_c}, {"Ctrl-C again quits", ctrl_c}}).code,
    130);
}

TEST_F(tool_chat_terminal, prints_nothing_but_answers_if_it_is_quiet) {
  const auto result
    = converse({{"", name_line}, {unknown_name, ctrl_d}}, {"--quiet"});
  EXPECT_EQ(result.code, 0);
  EXPECT_FALSE(has(result.out, "quits"));
  EXPECT_FALSE(has(result.out, "> "));
}

TEST_F(tool_chat_terminal, goes_on_after_what_makes_no_sense) {
  EXPECT_EQ(converse({{"Ctrl-D quits.", "/restore 7\n"},
                      {"there is no snapshot \"7\"", name_line},
                      {unknown_name, ctrl_d}})
              .code,
            0)
    << "whoever has read it knows";
}

} // namespace tertulia::test::tool_chat_terminal_tests
