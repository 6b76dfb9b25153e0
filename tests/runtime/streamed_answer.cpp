// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/streamed_answer.hpp>

#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tertulia::test::streamed_answer_tests {

namespace {

using ai::part;
using parts = std::vector<part>;

/// Returns the rest of an answer that consists of the given parts, after other
/// parts were streamed one by one.
parts rest_of(parts answer, const parts& streamed) {
  detail::streamed_answer received;
  for (const auto& x : streamed) {
    ai::model_response_chunk piece;
    piece.content.push_back(x);
    received.add(piece);
  }
  const ai::message whole{ai::role::model, std::move(answer)};
  const auto rest = received.rest_of(whole);
  if (!rest)
    return {};
  EXPECT_FALSE(rest->content.empty());
  return {rest->content.begin(), rest->content.end()};
}

} // namespace

TEST(streamed_answer, an_answer_of_which_nothing_was_streamed_is_its_rest) {
  part marked = part::text("Hello", "text/html");
  marked.metadata["lang"] = "en";
  const parts answer{part::reasoning("Hm"), marked, part::request("add", 1)};
  EXPECT_EQ(rest_of(answer, {}), answer);
  EXPECT_EQ(rest_of(answer, {part::text("")}), answer);
}

TEST(streamed_answer, an_answer_that_was_streamed_has_no_rest) {
  const parts answer{part::reasoning("Hm"), part::text("Hello"),
                     part::request("add", 1), part::data(2)};
  EXPECT_EQ(rest_of(answer, answer), parts{});
  EXPECT_EQ(rest_of(answer, {part::text("Hel"), part::reasoning("H"),
                             part::data(2), part::text("lo"),
                             part::request("add"), part::reasoning("m")}),
            parts{});
  EXPECT_EQ(rest_of({}, answer), parts{});
}

TEST(streamed_answer, the_rest_of_a_text_begins_where_the_stream_has_ended) {
  const parts answer{part::text("Hel"), part::text("lo"), part::text("!")};
  EXPECT_EQ(rest_of(answer, {part::text("Hell")}),
            (parts{part::text("o"), part::text("!")}));
  EXPECT_EQ(rest_of({part::reasoning("Hm, so")}, {part::reasoning("Hm")}),
            parts{part::reasoning(", so")});
}

TEST(streamed_answer, a_text_that_was_streamed_in_other_words_has_no_rest) {
  EXPECT_EQ(rest_of({part::text("Hello!")}, {part::text("Hi")}), parts{});
  EXPECT_EQ(rest_of({part::text("Hello")}, {part::text("Hello \n")}), parts{});
}

TEST(streamed_answer, a_request_that_was_not_streamed_is_left_beside_the_text) {
  const parts answer{part::text("Wait."), part::request("add", 1, "x"),
                     part::request("add", 2, "y")};
  EXPECT_EQ(rest_of(answer,
                    {part::text("Wait."), part::request("add", 1, "x")}),
            parts{part::request("add", 2, "y")});
}

TEST(streamed_answer, pieces_that_are_not_new_do_not_count) {
  detail::streamed_answer received;
  const auto add = [&](const char* text, std::int64_t index, auto change) {
    chunks<part> content;
    content.push_back(part::text(text));
    ai::model_response_chunk piece{std::move(content), ai::role::model, index};
    change(piece);
    received.add(piece);
  };
  const auto as_it_is = [](auto&) {};
  add("Before.", 0, as_it_is);
  add("He", 1, as_it_is);
  add("tool", 1, [](auto& x) { x.role = ai::role::tool; });
  add("He", 1, [](auto& x) { x.aggregated = true; });
  const auto rest = received.rest_of(ai::model_text("Hello"));
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->text(), "llo");
  EXPECT_EQ(rest->index, 1);
}

} // namespace tertulia::test::streamed_answer_tests
