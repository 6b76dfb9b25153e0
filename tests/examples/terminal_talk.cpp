// SPDX-License-Identifier: BSD-3-Clause

// Output of a model as printed by the examples: a terminal must not interpret
// its control characters.

#include "examples/terminal_talk.hpp"

#include <sstream>
#include <string>

#include "support/scripted_model.hpp"
#include <gtest/gtest.h>

namespace tertulia::test::terminal_talk_tests {

namespace {

/// Returns the printed text of a piece of an answer.
std::string printed(ai::part content) {
  const std::ostringstream out;
  auto* const before = std::cout.rdbuf(out.rdbuf());
  ai::model_response_chunk piece;
  piece.content.push_back(std::move(content));
  example::turn_printer printer;
  printer.show(piece);
  printer.end_line();
  std::cout.rdbuf(before);
  return out.str();
}

} // namespace

TEST(terminal_talk, prints_text_as_it_is) {
  EXPECT_EQ(printed(ai::part::text("a\n\tKöln €")), "a\n\tKöln €\n");
  EXPECT_EQ(printed(asks("add", 1, 2)), "[add {\"a\":1,\"b\":2}]\n");
}

TEST(terminal_talk, has_no_terminal_obey_a_model) {
  EXPECT_EQ(printed(ai::part::text("\x1b]52;c;bad\x07 \x7f\r")),
            "?]52;c;bad? ??\n");
  EXPECT_EQ(printed(ai::part::text("\u009b2J \u00a0")), "?2J \u00a0\n");
  EXPECT_EQ(printed(ai::part::request("\x1b[2J")), "[?[2J]\n");
  EXPECT_EQ(printed(ai::part::response("a", "\u009d0;title")),
            "[a: \"?0;title\"]\n");
}

TEST(terminal_talk, cuts_between_characters) {
  EXPECT_EQ(example::shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(example::shortened("abcdefg", 6), "abcd..");
  EXPECT_EQ(example::shortened("abc€fg", 6), "abc..");
  EXPECT_EQ(example::shortened("a€efg", 6), "a€..");
}

} // namespace tertulia::test::terminal_talk_tests
