// SPDX-License-Identifier: BSD-3-Clause

// Unit tests of an agent with a tool that asks before it acts, under a clock
// that the tests advance.

#include <tertulia/testing.hpp>

#include <chrono>

#include "waiter.hpp"
#include <gtest/gtest.h>

namespace ai = tertulia::ai;
namespace testing_kit = tertulia::testing;
using namespace example;

// --(tests-begin)--
struct waiter : ::testing::Test, testing_kit::deterministic_runtime {
  testing_kit::scripted_model model{
    ai::part::request("book_table", {{"guests", 7}}), "Done."};
  testing_kit::failing_store store{system};
};

TEST_F(waiter, books_what_the_guest_approves) {
  auto guest = open(define_waiter(*rt, model, store.store()));
  guest.say("A table for seven.");
  ASSERT_EQ(guest.questions().size(), 1u);
  EXPECT_EQ(ai::question_text(guest.questions().front()),
            "A table for 7: yes or no?");
  guest.say(ai::approval(guest.questions().front()));
  EXPECT_EQ(guest.text(), "") << "the house is full";
  advance(std::chrono::minutes{10});
  EXPECT_EQ(guest.text(), "Done.");
  const auto& asked = model.requests().back().messages;
  EXPECT_EQ(asked.back().content.front().as_response()->output, "booked");
}

TEST_F(waiter, books_nothing_that_the_guest_refuses) {
  auto guest = open(define_waiter(*rt, model, store.store()));
  guest.say("A table for seven.");
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
    guest.say("A table for seven.");
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
  guest.say("A table for seven.");
  EXPECT_EQ(guest.code(), tertulia::errc::unavailable);
}
// --(tests-end)--
