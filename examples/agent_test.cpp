// SPDX-License-Identifier: BSD-3-Clause

// Unit tests of an agent with a tool that asks before it acts, under a clock
// that the tests advance.

#include <tertulia/ai/prompt_agent.hpp>
#include <tertulia/testing.hpp>

#include <string>

#include <gtest/gtest.h>

namespace ai = tertulia::ai;
namespace testing_kit = tertulia::testing;
using namespace std::chrono_literals;

// --(agent-begin)--
struct table {
  int guests = 1;
};

BOOST_DESCRIBE_STRUCT(table, (), (guests))

template <ai::model_like Model>
auto define_waiter(tertulia::runtime& rt, const Model& model,
                   const tertulia::snapshot_store& store) {
  const auto book = ai::define_tool(
    rt, "book_table", "Books a table.",
    [](ai::tool_context ctx, table x) -> tertulia::task<std::string> {
      const auto reply
        = co_await ctx.interrupt("For " + std::to_string(x.guests) + "?");
      if (reply != true)
        co_return "not wanted";
      co_await ctx.sleep(10min); // the house is full
      co_return "booked";
    },
    ai::with_tool_timeout(1h));
  return ai::define_prompt_agent(rt, "waiter",
                                 ai::prompt{model, ai::with_tools(book)},
                                 tertulia::with_snapshot_store(store));
}
// --(agent-end)--

// --(tests-begin)--
struct waiter : ::testing::Test, testing_kit::deterministic_runtime {
  testing_kit::scripted_model model{
    ai::part::request("book_table", {{"guests", 4}}), "Done."};
  testing_kit::failing_store store{system};
};

TEST_F(waiter, books_what_the_guest_approves) {
  auto guest = open(define_waiter(*rt, model, store.store()));
  guest.say("A table for four.");
  ASSERT_EQ(guest.questions().size(), 1u);
  EXPECT_EQ(ai::question_text(guest.questions().front()), "For 4?");
  guest.say(ai::approval(guest.questions().front()));
  EXPECT_EQ(guest.text(), "") << "the house is full";
  advance(10min);
  EXPECT_EQ(guest.text(), "Done.");
  const auto& asked = model.requests().back().messages;
  EXPECT_EQ(asked.back().content.front().as_response()->output, "booked");
}

TEST_F(waiter, books_nothing_that_the_guest_refuses) {
  auto guest = open(define_waiter(*rt, model, store.store()));
  guest.say("A table for four.");
  guest.say(ai::refusal(guest.questions().front()));
  EXPECT_EQ(guest.text(), "Done.");
  const auto& asked = model.requests().back().messages;
  EXPECT_EQ(asked.back().content.front().as_response()->output, "not wanted");
}

TEST_F(waiter, a_question_outlives_the_connection) {
  const auto agent = define_waiter(*rt, model, store.store());
  const tertulia::with_session_id tuesday{"tuesday"};
  {
    auto guest = open(agent, tuesday);
    guest.say("A table for four.");
    guest.close();
  }
  auto guest = open(agent, tuesday);
  guest.say("Well?");
  EXPECT_EQ(guest.text(), "Done.") << "the question counts as declined";
}

TEST_F(waiter, a_store_that_fails_ends_the_turn) {
  auto guest = open(define_waiter(*rt, model, store.store()));
  store.fail_next<tertulia::save_snapshot_request>(1,
                                                   tertulia::errc::unavailable);
  guest.say("A table for four.");
  EXPECT_EQ(guest.code(), tertulia::errc::unavailable);
}
// --(tests-end)--
