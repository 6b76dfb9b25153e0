// SPDX-License-Identifier: BSD-3-Clause

// One live invocation per session, in any order of events.

#include "support/leases.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

using namespace std::chrono_literals;

namespace tertulia::test::lease_tests {

TEST_F(leases, a_second_invocation_is_refused_with_the_name_of_the_session) {
  auto first = open(agent, with_session_id("s"));
  auto second = open(agent, with_session_id("s"));
  EXPECT_FALSE(second.received().open);
  const auto status = to_status(second.received().refused);
  EXPECT_EQ(status.code(), errc::failed_precondition);
  EXPECT_TRUE(status.message().starts_with(
    "session \"s\" of /agent/memo1 has a live invocation already, in process "))
    << status.message();
  const auto details = parse_json<json>(status.details());
  EXPECT_EQ(details.at("session"), "s");
  EXPECT_TRUE(details.at("owner").get<std::string>().starts_with(
    "process " + std::to_string(::getpid()) + " on "));
  say(first, "undisturbed");
}

TEST_F(leases, agents_share_session_ids_without_disturbing_each_other) {
  const auto other = define_keeping_memo();
  auto here = open(agent, with_session_id("s"));
  auto there = open(other, with_session_id("s"));
  say(here, "here");
  say(there, "there");
  EXPECT_EQ(said_in(agent, "s"), texts{"here"});
  EXPECT_EQ(said_in(other, "s"), texts{"there"});
}

TEST_F(leases, a_new_session_cannot_be_opened_beside_its_first_invocation) {
  auto first = open(agent);
  say(first, "one");
  const auto page = ask<session_page>(list_sessions_request{});
  ASSERT_EQ(page->sessions.size(), 1u);
  auto second = open(agent, with_session_id(page->sessions[0].id));
  EXPECT_EQ(code_of(second.received().refused), errc::failed_precondition);
}

TEST_F(leases, a_claim_whose_connection_has_ended_is_kept_for_nobody) {
  // The store's supervisor receives the request only after its connection is
  // dead.
  for (const auto live : {if_live::refuse, if_live::take_over})
    for (const auto others : {false, true}) {
      std::optional<memo_client> holder;
      if (others)
        holder.emplace(system, rt->front_desk(), agent, with_session_id("s"));
      memo_client client{system, rt->front_desk(),
                         opening_of_s(with_live{live})};
      const auto is_supervisor = [](caf::resumable* x) {
        const auto* who = dynamic_cast<caf::local_actor*>(x);
        return who != nullptr
               && who->name() == std::string_view{"tertulia.store_supervisor"};
      };
      // Runs every actor except the supervisor.
      const auto run_others = [&] {
        auto& jobs = sched.jobs;
        for (;;) {
          const auto next
            = std::find_if_not(jobs.begin(), jobs.end(), is_supervisor);
          if (next == jobs.end())
            return;
          std::iter_swap(jobs.begin(), next);
          sched.run_once();
        }
      };
      run_others();
      ASSERT_EQ(sched.jobs.size(), 1u) << "the request waits";
      ASSERT_FALSE(client.received().open);
      client.post_death();
      run_others();
      run();
      if (holder) {
        EXPECT_EQ(holder->received().ends,
                  live == if_live::take_over ? 1u : 0u);
        holder->close();
      }
      expect_free("s");
      run();
      EXPECT_EQ(extra_actors(), others ? 1u : 0u) << "the holder's client";
    }
}

TEST_F(leases, the_end_of_a_turn_says_what_is_stored) {
  auto client = open(agent, with_session_id("s"), with_keep());
  say(client, "one");
  EXPECT_EQ(client.received().last_turn->stored_inputs, 1u);
  say(client, "two");
  EXPECT_EQ(client.received().last_turn->stored_inputs, 2u);
}

// -- taking over --------------------------------------------------------------

TEST_F(leases, a_take_over_cancels_and_goes_on_with_the_last_state) {
  auto first = open(agent, with_session_id("s"));
  say(first, "one");
  auto second = open(agent, with_session_id("s"), with_take_over{});
  ASSERT_EQ(first.received().ends, 1u);
  EXPECT_EQ(first.code(), errc::cancelled);
  EXPECT_EQ(to_status(first.received().end->reason).message(),
            "another invocation took over the session");
  ASSERT_TRUE(second.received().open);
  say(second, "two");
  second.close();
  EXPECT_EQ(second.output().state.said, (texts{"one", "two"}));
  expect_one_chain("s");
}

TEST_F(leases, a_take_over_of_nobody_is_an_opening) {
  auto client = open(agent, with_session_id("s"), with_take_over{});
  ASSERT_TRUE(client.received().open);
  say(client, "one");
}

TEST_F(leases, a_take_over_can_be_taken_over) {
  auto first = open(agent, with_session_id("s"));
  auto second = open(agent, with_session_id("s"), with_take_over{});
  auto third = open(agent, with_session_id("s"), with_take_over{});
  EXPECT_EQ(first.code(), errc::cancelled);
  EXPECT_EQ(second.code(), errc::cancelled);
  ASSERT_TRUE(third.received().open);
  say(third, "mine");
  EXPECT_EQ(extra_actors(), 4u);
}

TEST_F(leases, who_waits_in_the_queue_goes_on_with_the_last_state) {
  auto first = open(agent, with_session_id("s"));
  say(first, "one");
  const with_open_timeout patient{2h};
  auto second = open(agent, with_session_id("s"), with_queue{}, patient);
  auto third = open(agent, with_session_id("s"), with_queue{}, patient);
  auto other = open(agent, with_session_id("s"), with_queue{});
  advance(1h); // longer than any store may take
  EXPECT_FALSE(second.received().open);
  EXPECT_EQ(code_of(other.received().refused), errc::deadline_exceeded);
  first.close();
  ASSERT_TRUE(second.received().open);
  say(second, "two");
  EXPECT_FALSE(third.received().open);
  second.cancel();
  ASSERT_TRUE(third.received().open);
  say(third, "three");
  EXPECT_EQ(said_in(agent, "s"), (texts{"one", "two", "three"}));
  expect_one_chain("s");
}

TEST_F(leases, a_client_that_waits_in_the_queue_can_give_up) {
  auto first = open(agent, with_session_id("s"));
  {
    auto second = open(agent, with_session_id("s"), with_queue{});
    EXPECT_FALSE(second.received().open);
  }
  auto third = open(agent, with_session_id("s"), with_queue{});
  first.close();
  ASSERT_TRUE(third.received().open);
  say(third, "mine");
}

TEST_F(leases, a_take_over_of_a_hanging_save_does_not_wait_for_it) {
  auto first = open(agent, with_session_id("s"));
  say(first, "one");
  kept.hang_next<save_snapshot_request>(1);
  first.send("two");
  auto second = open(agent, with_session_id("s"), with_take_over{});
  EXPECT_EQ(first.code(), errc::cancelled);
  ASSERT_TRUE(second.received().open);
  say(second, "three");
  EXPECT_TRUE((kept.answer_hung(), run(), true));
  say(second, "four");
  EXPECT_EQ(said_in(agent, "s"), (texts{"one", "two", "three", "four"}));
  expect_one_chain("s");
}

TEST_F(leases, a_restore_waits_for_no_save_and_orphans_what_it_left) {
  auto first = open(agent, with_session_id("s"));
  say(first, "one");
  say(first, "two");
  const auto records = records_of(agent, "s");
  ASSERT_EQ(records.size(), 2u);
  kept.hang_next<save_snapshot_request>(1);
  first.send("three");
  auto refused = open(agent, with_snapshot_id(records[0].id));
  EXPECT_EQ(code_of(refused.received().refused), errc::failed_precondition);
  auto second = open(agent, with_snapshot_id(records[0].id), with_take_over{});
  EXPECT_EQ(first.code(), errc::cancelled);
  ASSERT_TRUE(second.received().open);
  kept.answer_hung(); // too late: the head has moved
  run();
  say(second, "other");
  second.close();
  EXPECT_EQ(second.output().state.said, (texts{"one", "other"}));
  const auto now = records_of(agent, "s");
  ASSERT_EQ(now.size(), 3u);
  EXPECT_TRUE(now[1].orphaned);
  EXPECT_EQ(now[2].parent, 1u);
  EXPECT_EQ(now[2].turn_index, 1u);
}

// -- random order -------------------------------------------------------------

namespace {

/// Ways in which an invocation ends with a last message to its client.
enum class ending { close, cancel, error, late, refused, stuck, count };

} // namespace

TEST_F(leases, who_has_heard_the_end_can_open_the_session_in_any_order) {
  for (unsigned seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    std::minstd_rand dice{seed + 1};
    const auto how
      = static_cast<ending>(seed % static_cast<unsigned>(ending::count));
    auto what = opening_of_s();
    if (how == ending::late || how == ending::stuck)
      what.options.deadline = 10s;
    if (how == ending::refused)
      kept.fail_next<get_session_request>(1, errc::unavailable);
    if (how == ending::stuck)
      kept.hang_next<get_session_request>(1);
    std::optional<memo_client> first{std::in_place, system, rt->front_desk(),
                                     std::move(what)};
    if (how == ending::stuck)
      run_in_any_order(dice);
    else if (how != ending::refused) {
      run_in_any_order(dice);
      say(*first, "one");
    }
    switch (how) {
      case ending::close: first->post_close(); break;
      case ending::cancel: first->post_cancel(); break;
      case ending::error: first->post("throw"); break;
      case ending::late:
      case ending::stuck: sched.advance_time(10s); break;
      default: break;
    }
    while (!first->received().end && !first->received().refused)
      ASSERT_TRUE(step(dice)) << "the client hears nothing any more";
    memo_client second{system, rt->front_desk(), opening_of_s()};
    run_in_any_order(dice);
    ASSERT_TRUE(second.received().open)
      << static_cast<int>(how) << ": "
      << to_status(second.received().refused).message();
    second.post_close();
    run_in_any_order(dice);
    ASSERT_EQ(second.received().ends, 1u);
    kept.answer_hung();
    first.reset();
    run_in_any_order(dice);
  }
  EXPECT_TRUE(all_gone());
  EXPECT_EQ(extra_actors(), 0u);
  expect_one_chain("s");
}

TEST_F(leases, whoever_vanishes_during_take_overs_the_session_gets_free) {
  for (unsigned seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    std::minstd_rand dice{seed + 1};
    auto holder = open(agent, with_session_id("s"));
    ASSERT_TRUE(holder.received().open);
    std::vector<std::unique_ptr<memo_client>> others;
    for (int i = 0; i < 3; ++i)
      others.push_back(std::make_unique<memo_client>(
        system, rt->front_desk(), opening_of_s(with_take_over{})));
    for (auto i = dice() % 80; i > 0; --i)
      step(dice);
    // One of them dies, or is cancelled if it is open, and all others stay.
    auto& victim = *others[dice() % others.size()];
    if (victim.received().open && dice() % 2 == 0)
      victim.post_cancel();
    else
      victim.post_death();
    run_in_any_order(dice);
    EXPECT_EQ(holder.received().ends, 1u);
    EXPECT_EQ(holder.code(), errc::cancelled);
    int live = 0;
    for (const auto& x : others) {
      const auto& received = x->received();
      if (x.get() == &victim)
        continue;
      ASSERT_TRUE(received.open || received.refused) << "it waits for ever";
      if (received.refused) { // while it waited, or while it opened
        const auto code = code_of(received.refused);
        EXPECT_TRUE(code == errc::aborted || code == errc::cancelled);
      }
      if (received.open && !received.end)
        ++live;
    }
    EXPECT_LE(live, 1);
    others.clear();
    run_in_any_order(dice);
    expect_free("s");
  }
  run();
  EXPECT_TRUE(all_gone());
  EXPECT_EQ(extra_actors(), 0u);
}

TEST_F(leases, an_input_at_the_end_is_processed_or_counted_as_not) {
  int after = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::minstd_rand dice{seed + 1};
    std::string name = "s";
    name += std::to_string(seed);
    auto client = open(agent, with_session_id(name), with_input_window(2));
    client.post(seed % 2 == 0 ? "last" : "first");
    for (auto i = dice() % 40; i > 0; --i)
      step(dice);
    client.post("last");
    run_in_any_order(dice);
    ASSERT_EQ(client.received().ends, 1u);
    ASSERT_EQ(client.code(), errc::ok);
    const auto& end = *client.received().end;
    const auto output = client.output();
    EXPECT_EQ(end.inputs, output.state.said.size());
    EXPECT_EQ(end.inputs, static_cast<std::uint64_t>(output.output));
    EXPECT_EQ(end.inputs, client.received().turns);
    EXPECT_EQ(end.inputs, seed % 2 == 0 ? 1u : 2u);
    after += seed % 2 == 0 ? 1 : 0;
  }
  EXPECT_GT(after, 0);
}

// -- branches -----------------------------------------------------------------

TEST_F(leases, branches_from_one_snapshot_run_at_the_same_time) {
  const auto talk = define_chat();
  auto root = open(talk, with_session_id("s"));
  root.send(remark("root"));
  root.close();
  const auto from = root.output().snapshot_ids.at(0);
  auto one = open(talk, with_snapshot_id(from));
  auto two = open(talk, with_snapshot_id(from));
  ASSERT_TRUE(one.received().open);
  ASSERT_TRUE(two.received().open);
  one.post(remark("one"));
  two.send(remark("two"));
  one.post_close();
  two.close();
  for (auto* branch : {&one, &two}) {
    ASSERT_EQ(branch->code(), errc::ok);
    const auto result = branch->output();
    texts said;
    for (const auto& x : result.state.messages)
      said.push_back(x.text());
    EXPECT_EQ(said, (texts{"root", branch == &one ? "one" : "two"}));
  }
  const auto records = records_of(talk.info().key, "s");
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[1].parent, 1u);
  EXPECT_EQ(records[2].parent, 1u);
}

} // namespace tertulia::test::lease_tests
