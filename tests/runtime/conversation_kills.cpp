// SPDX-License-Identifier: BSD-3-Clause

// Each actor of a conversation is killed before every message of a turn: the
// client receives one end, nothing that it was told is lost, and no actor is
// left.

#include <algorithm>
#include <random>
#include <string>
#include <tuple>

#include "support/effort.hpp"
#include "support/faulty_conversations.hpp"

using namespace std::literals;

namespace tertulia::test::conversation_kill_tests {

namespace {

enum class victim { connection, responder, session, store, store_process };
BOOST_DESCRIBE_ENUM(victim, connection, responder, session, store,
                    store_process)

/// Order in which the actors run.
enum class order { as_sent, random };
BOOST_DESCRIBE_ENUM(order, as_sent, random)

struct a_kill_of : faulty_conversations,
                   ::testing::WithParamInterface<std::tuple<victim, order>> {
  /// Runs one actor.
  /// @returns false if no actor is ready to run.
  bool step(std::minstd_rand& dice) {
    if (sched.jobs.empty())
      return false;
    if (std::get<order>(GetParam()) == order::random)
      std::swap(sched.jobs.front(), sched.jobs[dice() % sched.jobs.size()]);
    sched.run_once();
    return true;
  }

  void kill_victim() {
    switch (std::get<victim>(GetParam())) {
      case victim::connection: return kill_now(last_actors().connection);
      case victim::responder: return kill_now(last_actors().responder);
      case victim::session: return kill_now(last_actors().session);
      case victim::store: return kill_now(kept.store());
      case victim::store_process: kill_now(store); kill_now(kept.store());
    }
  }

  template <class Handle>
  static void kill_now(const Handle& who) {
    if (who)
      caf::anon_send_exit(who, caf::exit_reason::kill);
  }

  /// Kills the victim after some steps of the turn that an input begins, or of
  /// the end of the invocation.
  /// @returns false if the turn and the end took fewer steps.
  bool run_once(int steps, unsigned seed) {
    std::minstd_rand dice{seed + 1};
    if (std::get<victim>(GetParam()) == victim::store_process) {
      store = supervise_store(system, kept.factory());
      run();
    }
    const auto before = extra_actors();
    const auto agent = define_keeping_memo(with_snapshot_store(store));
    auto reached = true;
    {
      auto client = open(agent, with_session_id("s"));
      say(client, "one");
      client.post("two");
      client.post_close();
      for (int i = 0; i < steps && reached; ++i)
        reached = step(dice);
      kill_victim();
      while (step(dice))
        ;
      advance(30s); // longest wait for a store
      check_end(client);
      const auto process
        = std::get<victim>(GetParam()) == victim::store_process;
      EXPECT_EQ(extra_actors() + (process ? 1u : 0u), before + 1)
        << "beside the client";
      check_session(agent, client.received().turns);
      if (!process)
        check_free(agent);
    }
    run();
    EXPECT_TRUE(all_gone());
    return reached;
  }

  void check_end(const memo_client& client) {
    ASSERT_EQ(client.received().ends, 1u);
    EXPECT_EQ(client.received().gaps, 0u);
    EXPECT_GE(client.received().turns, 1u);
    const auto code = client.code();
    EXPECT_TRUE(code == errc::ok || code == errc::aborted
                || code == errc::unavailable || code == errc::deadline_exceeded)
      << to_string(code);
    if (code == errc::ok) {
      EXPECT_EQ(client.received().turns, 2u);
    } else {
      ++errors;
    }
  }

  /// Checks that each turn whose end the client has received is stored.
  void check_session(const memo_agent& agent, std::uint64_t turns) {
    const auto said = said_in(agent, "s");
    ASSERT_GE(said.size(), turns);
    ASSERT_LE(said.size(), 2u);
    EXPECT_EQ(said[0], "one");
    const auto records = records_of(agent, "s");
    ASSERT_GE(records.size(), turns);
    for (std::size_t i = 0; i < records.size(); ++i) {
      EXPECT_EQ(records[i].parent, i);
      EXPECT_FALSE(records[i].orphaned);
    }
  }

  void check_free(const memo_agent& agent) {
    auto after = open(agent, with_session_id("s"));
    ASSERT_TRUE(after.received().open)
      << to_status(after.received().refused).message();
    after.close();
    EXPECT_EQ(after.code(), errc::ok);
  }

  int errors = 0;
};

} // namespace

TEST_P(a_kill_of, ends_once_and_loses_nothing_that_was_told) {
  const auto seeds = std::get<order>(GetParam()) == order::as_sent
                       ? 1u
                       : by_effort(1u, 3u, 40u);
  auto kills = 0;
  for (unsigned seed = 0; seed < seeds; ++seed)
    for (int steps = 0;; ++steps) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", step "
                   + std::to_string(steps));
      ++kills;
      if (!run_once(steps, seed) || HasFatalFailure())
        break;
    }
  RecordProperty("kills", kills);
  EXPECT_GT(kills, 20) << "a turn and an end have more messages";
  EXPECT_GT(errors, 0) << "a kill is noticed";
  EXPECT_LT(errors, kills) << "a kill after the end changes nothing";
}

INSTANTIATE_TEST_SUITE_P(
  conversation_kills, a_kill_of,
  ::testing::Combine(::testing::ValuesIn(all_of<victim>()),
                     ::testing::ValuesIn(all_of<order>())),
  [](const auto& x) {
    return name_of(std::get<victim>(x.param)) + '_'
           + name_of(std::get<order>(x.param));
  });

} // namespace tertulia::test::conversation_kill_tests
