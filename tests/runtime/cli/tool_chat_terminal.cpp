// SPDX-License-Identifier: BSD-3-Clause

// `tertulia chat` on a terminal: the prompt, editing, Ctrl-C.

#include <string>
#include <vector>

#include "support/tool_chat.hpp"
#include "support/tool_store.hpp"

namespace tertulia::test::tool_chat_terminal_tests {

namespace {

constexpr const char* ctrl_c = "\x03";
constexpr const char* ctrl_d = "\x04";
constexpr const char* arrow_up = "\x1b[A";

/// Line whose turn takes longer than any test.
constexpr const char* slow_line = "Use the timer tool for 3600 seconds\n";
constexpr const char* slow_note = "[timer {\"seconds\":3600}]";

struct tool_chat_terminal : a_chat {
  tool_process start(strings options = {}) const {
    options.insert(options.begin(), "chat");
    return tool_process{tool_process::terminal{100},
                        command(std::move(options))};
  }

  /// Types keys that must result in "What is my name?", and leaves with Ctrl-D.
  void asks_for_the_name_by(const std::string& keys) const {
    auto talk = start();
    ASSERT_TRUE(talk.read_until("Ctrl-D leaves."));
    talk.type(keys);
    ASSERT_TRUE(talk.read_until("You have not told me your name yet."));
    talk.type(ctrl_d);
    EXPECT_EQ(talk.wait().code, 0);
  }
};

} // namespace

TEST_F(tool_chat_terminal, greets_answers_and_leaves_with_ctrl_d) {
  asks_for_the_name_by("What is my name?\n");
}

TEST_F(tool_chat_terminal, says_where_the_conversation_was) {
  answers("I am tired\n");
  auto talk = start();
  EXPECT_TRUE(talk.read_until("You said last: “I am tired”."));
  talk.type("/quit\n");
  EXPECT_EQ(talk.wait().code, 0);
}

TEST_F(tool_chat_terminal, finds_lines_again_that_were_said_before) {
  answers("What is my name?\n");
  asks_for_the_name_by(std::string{arrow_up} + "\n");
  EXPECT_EQ(tree().size(), 2u);
}

TEST_F(tool_chat_terminal, lets_a_line_be_edited) {
  // Ctrl-A moves to the beginning of the line.
  asks_for_the_name_by("is my name?\x01What \n");
}

TEST_F(tool_chat_terminal, takes_text_that_is_not_ascii_in_any_locale) {
  auto words = command({"chat"});
  words.insert(words.begin() + 1, "LC_ALL=C");
  tool_process talk{tool_process::terminal{100}, words};
  ASSERT_TRUE(talk.read_until("leaves."));
  talk.type("Köln\n/session --json\n");
  ASSERT_TRUE(talk.read_until("usage: /session"));
  talk.type(ctrl_d);
  EXPECT_EQ(talk.wait().code, 0);
  EXPECT_TRUE(has(answers("/snapshots\n"), "“Köln”"));
}

TEST_F(tool_chat_terminal, cancels_the_turn_with_ctrl_c_and_stays) {
  answers("My name is Ada\n");
  auto talk = start();
  ASSERT_TRUE(talk.read_until("leaves."));
  talk.type(slow_line);
  ASSERT_TRUE(talk.read_until(slow_note));
  talk.type(ctrl_c);
  ASSERT_TRUE(
    talk.read_until("Cancelled: the conversation is as it was before."));
  talk.type("What is my name?\n");
  ASSERT_TRUE(talk.read_until("You told me that your name is Ada."));
  talk.type(ctrl_d);
  EXPECT_EQ(talk.wait().code, 0);
  EXPECT_EQ(tree(), (strings{"o 1", "* 2"}));
}

TEST_F(tool_chat_terminal, stays_when_ctrl_space_is_typed) {
  auto talk = start();
  ASSERT_TRUE(talk.read_until("> ")); // earlier it could mean Ctrl-D
  talk.type(std::string{"\0\0What is my name?\n", 19});
  ASSERT_TRUE(talk.read_until("You have not told me your name yet."));
  talk.type(ctrl_d);
  EXPECT_EQ(talk.wait().code, 0);
}

TEST_F(tool_chat_terminal, leaves_with_a_ctrl_d_that_was_typed_early) {
  auto talk = start();
  ASSERT_TRUE(talk.read_until("leaves."));
  talk.type("Use the timer tool for 1 seconds\n");
  ASSERT_TRUE(talk.read_until("[timer {\"seconds\":1}]"));
  talk.type(ctrl_d);
  const auto result = talk.wait();
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(has(result.out, "1 second is over."));
}

TEST_F(tool_chat_terminal, drops_the_line_with_ctrl_c) {
  auto talk = start();
  ASSERT_TRUE(talk.read_until("leaves."));
  talk.type("What is");
  ASSERT_TRUE(talk.read_until("What is"));
  talk.type(ctrl_c);
  ASSERT_TRUE(talk.read_until("Ctrl-C again leaves"));
  talk.type("/tools\n");
  ASSERT_TRUE(talk.read_until("ask_user"));
  talk.type(ctrl_d);
  EXPECT_EQ(talk.wait().code, 0);
  EXPECT_TRUE(tree().empty());
}

TEST_F(tool_chat_terminal, leaves_with_ctrl_c_twice_in_a_row) {
  auto talk = start();
  ASSERT_TRUE(talk.read_until("leaves."));
  talk.type(ctrl_c);
  ASSERT_TRUE(talk.read_until("Ctrl-C again leaves"));
  talk.type(ctrl_c);
  EXPECT_EQ(talk.wait().code, 130);
}

TEST_F(tool_chat_terminal, prints_nothing_but_answers_if_it_is_quiet) {
  auto talk = start({"--quiet"});
  talk.type("What is my name?\n");
  ASSERT_TRUE(talk.read_until("You have not told me your name yet."));
  talk.type(ctrl_d);
  const auto result = talk.wait();
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out.find("leaves"), std::string::npos);
  EXPECT_EQ(result.out.find("> "), std::string::npos);
}

TEST_F(tool_chat_terminal, goes_on_after_what_makes_no_sense) {
  auto talk = start();
  ASSERT_TRUE(talk.read_until("leaves."));
  talk.type("/restore 7\n");
  ASSERT_TRUE(talk.read_until("there is no snapshot \"7\""));
  talk.type("What is my name?\n");
  ASSERT_TRUE(talk.read_until("You have not told me your name yet."));
  talk.type(ctrl_d);
  EXPECT_EQ(talk.wait().code, 0) << "whoever has read it knows";
}

} // namespace tertulia::test::tool_chat_terminal_tests
