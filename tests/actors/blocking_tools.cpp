// SPDX-License-Identifier: BSD-3-Clause

// Tools that block a thread, in agents on CAF's own scheduler.

#include <tertulia/ai/define_model.hpp>
#include <tertulia/ai/prompt_agent.hpp>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "support/threaded.hpp"
#include "support/valve.hpp"

namespace tertulia::test::blocking_tools_tests {

namespace {

struct blocking_tools : threaded {
  /// Defines an agent whose model requests the tool `dig` if the user asks for
  /// it, and greets otherwise. The tool blocks until `let_go` is opened.
  auto define_digger() {
    const auto dig = ai::define_tool(
      *rt, "dig", "Digs until it is told to stop.",
      [this](ai::tool_context ctx, nothing) -> task<std::string> {
        co_await ctx.run_blocking([this] {
          ++digging;
          let_go.wait();
        });
        co_return "a hole";
      });
    const auto model = ai::define_model(*rt, "foreman", say);
    return ai::define_prompt_agent(*rt, "digger",
                                   ai::prompt{model, ai::with_tools(dig)});
  }

  static task<ai::model_response> say(context, ai::generate_request question,
                                      ai::model_output) {
    const auto last = question.messages.back();
    ai::message answer;
    answer.role = ai::role::model;
    if (last.role == ai::role::tool)
      answer.content.push_back(ai::part::text("Done."));
    else if (last.text() == "Dig")
      answer.content.push_back(ai::part::request("dig", json::object()));
    else
      answer.content.push_back(ai::part::text("Hello!"));
    co_return ai::model_response{std::move(answer), ai::finish_reason::stop};
  }

  valve let_go;
  std::atomic<std::size_t> digging = 0;
};

/// Reads a turn to its end.
template <class Talk>
void hear(Talk& talk) {
  for (const auto& item : talk.responses(patience))
    (void)item;
}

} // namespace

TEST_F(blocking_tools, block_no_other_conversation) {
  const auto digger = define_digger();
  // One more than the threads of the scheduler, if that many jobs can block.
  const auto many = std::min(system.scheduler().num_workers() + 1,
                             runtime_options{}.blocking_threads);
  std::vector<decltype(digger.stream_bidi())> busy;
  for (std::size_t i = 0; i < many; ++i) {
    busy.push_back(digger.stream_bidi());
    busy.back().send_text("Dig");
  }
  ASSERT_TRUE(eventually([&] { return digging == many; }));

  auto other = digger.stream_bidi();
  other.send_text("Hi");
  hear(other);
  other.close();
  EXPECT_EQ(other.output(patience).state.messages.back().text(), "Hello!");

  let_go.open();
  for (auto& x : busy) {
    hear(x);
    x.close();
    EXPECT_EQ(x.output(patience).state.messages.back().text(), "Done.");
  }
}

} // namespace tertulia::test::blocking_tools_tests
