// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <utility>

#include "support/faulty_conversations.hpp"
#include <gtest/gtest.h>

namespace tertulia::test {

/// Fixture with sessions that have one live invocation each, and a scheduler
/// that runs its actors in any order.
struct leases : faulty_conversations {
  leases() : agent(define_keeping_memo()) {}

  /// Runs one actor, chosen at random.
  /// @returns false if no actor is ready to run.
  bool step(std::minstd_rand& dice) {
    if (sched.jobs.empty())
      return false;
    std::swap(sched.jobs.front(), sched.jobs[dice() % sched.jobs.size()]);
    sched.run_once();
    return true;
  }

  void run_in_any_order(std::minstd_rand& dice) {
    while (step(dice))
      ;
  }

  /// Checks that the records of a session form one chain.
  void expect_one_chain(const std::string& session) {
    const auto records = records_of(agent, session);
    for (std::size_t i = 0; i < records.size(); ++i) {
      EXPECT_EQ(records[i].sequence, i + 1);
      EXPECT_EQ(records[i].parent, i);
      EXPECT_FALSE(records[i].orphaned);
    }
  }

  struct with_live {
    if_live live;

    template <class Init>
    void apply(client_options<Init>& to) const {
      to.connection.live = live;
    }
  };

  /// Returns the request that opens session `s`.
  template <class... Options>
  tertulia::open_request opening_of_s(const Options&... options) const {
    return agent.opening_for(chunk_sink{}, with_session_id("s"), options...);
  }

  void expect_free(const std::string& session) {
    auto last = open(agent, with_session_id(session));
    ASSERT_TRUE(last.received().open)
      << to_status(last.received().refused).message();
    last.close();
    EXPECT_EQ(last.code(), errc::ok);
  }

  memo_agent agent;
};

} // namespace tertulia::test
