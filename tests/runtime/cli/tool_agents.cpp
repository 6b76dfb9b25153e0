// SPDX-License-Identifier: BSD-3-Clause

// `tertulia agents`: the actions that the program can run, by key.

#include <filesystem>
#include <string>

#include "support/tool_chat.hpp"
#include "support/tool_store.hpp"

namespace tertulia::test::tool_agents_tests {

namespace {

using tool_agents = a_chat;

constexpr const char* hello
  = R"({"messages":[{"role":"user","content":[{"text":"My name is Ada"}]}]})";
constexpr const char* who
  = R"({"messages":[{"role":"user","content":[{"text":"Who am I?"}]}]})";

} // namespace

TEST_F(tool_agents, are_listed_with_their_schemas) {
  const auto text = run({"agents", "list"}).out;
  for (const auto* x : {"/session-flow/chat ", "/model/eliza ", "/tool/dice "})
    EXPECT_TRUE(has(text, x));
  for (const auto& line : lines_of(run({"agents", "list", "--json"}).out))
    EXPECT_TRUE(json::parse(line).at("outputSchema").is_object());
  EXPECT_FALSE(std::filesystem::exists(folder / "data"));
}

TEST_F(tool_agents, are_run_by_key_with_json) {
  const auto timer = run(
    {"agents", "run", "/tool/timer", "--init", R"({"seconds":0})", "--json"});
  EXPECT_EQ(timer.code, 0) << timer.err;
  EXPECT_EQ(timer.out, "{\"output\":\"0 seconds are over\"}\n");
  EXPECT_FALSE(std::filesystem::exists(folder / "data"));
}

TEST_F(tool_agents, stream_before_they_end) {
  const auto result
    = run({"agents", "run", "/session-flow/chat", "--json", hello, who});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto lines = lines_of(result.out);
  ASSERT_GT(lines.size(), 2u);
  EXPECT_TRUE(json::parse(lines.front()).contains("chunk"));
  const auto output = json::parse(lines.back()).at("output");
  EXPECT_TRUE(has(output.at("state").dump(), "your name is Ada"));
}

TEST_F(tool_agents, go_on_with_a_session_and_read_standard_input) {
  const strings talk{"agents",    "run", "/session-flow/chat", "-", "--json",
                     "--session", "mine"};
  EXPECT_EQ(run(talk, std::string{hello} + "\n\n").code, 0);
  const auto later = run(talk, who);
  EXPECT_TRUE(has(later.out, "your name is Ada"));
  EXPECT_TRUE(has(answers("Who am I?\n", {"--session", "mine"}), "Ada"));
}

TEST_F(tool_agents, say_what_is_wrong) {
  EXPECT_TRUE(
    run({"agents", "run", "/tool/no"}).failed(3, "tertulia agents list"));
  EXPECT_TRUE(run({"agents", "run", "/session-flow/chat", "{oops"})
                .failed(2, "found an error at byte 2: {oops"));
  EXPECT_TRUE(run({"agents", "run", "/session-flow/chat", R"({"messages":7})"})
                .failed(2, "$.messages"));
  const auto value = run(
    {"agents", "run", "/tool/dice", "--init", R"({"sides":1})", "--json"});
  EXPECT_EQ(value.code, 2);
  EXPECT_TRUE(has(json::parse(value.err).at("error").at("message"),
                  "sides must be from 2"));
}

TEST_F(tool_agents, take_an_input_in_brackets_for_one_input) {
  for (const auto* x : {"[]", "[1,2]", "[1,2] "}) {
    EXPECT_TRUE(run({"agents", "run", "/session-flow/chat", x})
                  .failed(2, "$: expected an object, found an array"));
  }
}

TEST_F(tool_agents, refuse_what_is_nested_too_deep) {
  std::string deep;
  for (auto i = 0; i < 20'000; ++i)
    deep += "{\"a\":";
  deep += '0' + std::string(20'000, '}');
  const strings action{"agents", "run", "/session-flow/chat"};
  const auto with = [&](std::initializer_list<std::string> more) {
    auto all = action;
    all.insert(all.end(), more);
    return all;
  };
  for (const auto& result : {run(with({"-"}), deep + deep + '\n'),
                             run(with({deep})), run(with({"--init", deep}))}) {
    EXPECT_TRUE(result.failed(2, "at most 200 levels"));
    EXPECT_LT(result.err.size(), 500u);
  }
}

} // namespace tertulia::test::tool_agents_tests
