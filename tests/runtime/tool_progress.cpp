// SPDX-License-Identifier: BSD-3-Clause

// Reports of tools that work for long.

#include <tertulia/ai/prompt_agent.hpp>
#include <tertulia/memory_store.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "support/scripted_model.hpp"

namespace tertulia::test::tool_progress_tests {

namespace {

struct tool_progress : generating {
  auto define_copy() {
    return ai::define_tool(*rt, "copy", "Copies files.",
                           [](ai::tool_context ctx, sum x) -> task<int> {
                             for (auto i = x.a; i < x.b; ++i)
                               co_await ctx.report(i);
                             co_return x.b;
                           });
  }

  /// Returns the reports in chunks as texts: `copy#1 2`.
  template <class Chunks>
  static lines reports_in(const Chunks& chunks) {
    lines result;
    for (const auto& x : chunks)
      if (x.chunk)
        for (const auto& report : ai::progress_in(x.chunk->content))
          result.push_back(report.name + report.ref + ' '
                           + to_json_text(report.value));
    return result;
  }
};

} // namespace

TEST_F(tool_progress, the_client_of_a_conversation_gets_it) {
  answers(model_says(asks("copy", 0, 3, "#1")), "Done.");
  auto client = open(ai::define_prompt_agent(
    *rt, "chat", ai::prompt{model(), ai::with_tools(define_copy())}));
  say(client, "Copy!");
  EXPECT_EQ(reports_in(client.received().chunks),
            (lines{"copy#1 0", "copy#1 1", "copy#1 2"}));
  EXPECT_EQ(
    received(1),
    (lines{"user: Copy!", R"(model: copy#1({"a":0,"b":3}))", "tool: copy#1=3"}))
    << "the model does not get it";
}

TEST_F(tool_progress, a_tool_waits_while_the_client_lags) {
  answers(model_says(asks("copy", 0, 500)), "Done.");
  auto client
    = open(ai::define_prompt_agent(
             *rt, "chat", ai::prompt{model(), ai::with_tools(define_copy())}),
           with_chunk_window(4));
  say(client, "Copy!");
  const auto first = reports_in(client.received().chunks).size();
  EXPECT_LT(first, 5u);
  for (auto i = 0; i < 600 && client.received().turns == 0; ++i)
    client.grant(4);
  EXPECT_EQ(reports_in(client.received().chunks).size(), 500u);
}

TEST_F(tool_progress, whoever_generates_without_a_stream_gets_none) {
  answers(model_says(asks("copy", 0, 500)), "Done.");
  const auto copy = define_copy();
  auto client = open_body([&](context ctx) -> task<std::string> {
    const ai::with_user_text question{"Copy!"};
    const ai::with_tools tools{copy};
    auto made = co_await ai::generate(ctx, model(), question, tools);
    co_return made.text();
  });
  EXPECT_EQ(client.output(), "Done.");
}

TEST_F(tool_progress, reports_of_tools_at_the_same_time_come_one_by_one) {
  answers(model_says(asks("copy", 0, 3, "a"), asks("copy", 0, 3, "b")),
          "Done.");
  const auto copy = define_copy();
  auto inside = 0;
  auto most = 0;
  auto reports = 0;
  auto client = open_body([&](context ctx) -> task<std::string> {
    const auto hear = [&](ai::model_response_chunk x) -> task<> {
      most = std::max(most, ++inside);
      reports += static_cast<int>(ai::progress_in(x.content).size());
      co_await ctx.sleep(std::chrono::seconds{1});
      --inside;
    };
    const ai::with_user_text question{"Copy!"};
    const ai::with_tools tools{copy};
    auto made
      = co_await ai::generate_stream(ctx, model(), hear, question, tools);
    co_return made.text();
  });
  for (auto i = 0; i < 20; ++i)
    advance(std::chrono::seconds{1});
  EXPECT_EQ(client.output(), "Done.");
  EXPECT_EQ(reports, 6);
  EXPECT_EQ(most, 1);
}

TEST_F(tool_progress, a_client_that_runs_the_tool_by_its_key_gets_chunks) {
  define_copy();
  auto client
    = open(rt->action("/tool/copy"), with_init{json{{"a", 1}, {"b", 3}}});
  EXPECT_EQ(client.received().chunks, (std::vector<json>{1, 2}));
  EXPECT_EQ(client.output(), json(3));
}

TEST_F(tool_progress, a_part_that_is_no_report_is_none) {
  std::vector<ai::part> parts{ai::part::data(1), ai::part::text("2")};
  parts.front().metadata["toolProgress"] = 5;
  EXPECT_TRUE(ai::progress_in(parts).empty());
}

} // namespace tertulia::test::tool_progress_tests
