// SPDX-License-Identifier: BSD-3-Clause

// Faults of the store: the client of the conversation receives one error,
// stored data stays, the session is free again and no actor is left.

#include <cstddef>
#include <string>
#include <tuple>

#include "support/faulty_conversations.hpp"

using namespace std::literals;

namespace tertulia::test::conversation_store_faults {

namespace {

/// Operation during which the store fails.
enum class work {
  opening,
  restoring,
  change,
  iteration,
  turn_end,
  turn_end_without_snapshot,
  invocation_end,
};
BOOST_DESCRIBE_ENUM(work, opening, restoring, change, iteration, turn_end,
                    turn_end_without_snapshot, invocation_end)

struct a_store_that
  : faulty_conversations,
    ::testing::WithParamInterface<std::tuple<work, store_fault>> {
  template <class Verb>
  void break_next() {
    kept.break_next<Verb>(std::get<store_fault>(GetParam()));
  }

  void wait_out() {
    if (std::get<store_fault>(GetParam()) == store_fault::hangs)
      advance(30s);
  }

  errc expected() const {
    return std::get<store_fault>(GetParam()) == store_fault::hangs
             ? errc::deadline_exceeded
             : errc::unavailable;
  }

  /// Defines the memo that suits the operation: the end of an invocation has
  /// something to store only if no turn has stored it before.
  memo_agent define() {
    const auto what = std::get<work>(GetParam());
    if (what == work::invocation_end || what == work::turn_end_without_snapshot)
      return define_memo(
        with_snapshot_callback(snapshot_on{snapshot_event::invocation_end}));
    return define_keeping_memo();
  }
};

} // namespace

TEST_P(a_store_that, fails_the_invocation_once_and_spoils_nothing) {
  const auto what = std::get<work>(GetParam());
  const auto agent = define();
  const auto stored = store_before(agent);

  switch (what) {
    case work::opening: break_next<get_session_request>(); break;
    case work::restoring: break_next<restore_snapshot_request>(); break;
    default: break;
  }
  const auto options = agent.opening_for(chunk_sink{}, with_session_id("s"));
  auto opening = options;
  if (what == work::restoring) {
    opening.options.session = {};
    opening.options.snapshot = stored.id;
  }
  memo_client client{system, rt->front_desk(), opening};
  run();
  switch (what) {
    case work::opening:
    case work::restoring:
      wait_out();
      EXPECT_FALSE(client.received().open);
      EXPECT_EQ(code_of(client.received().refused), expected());
      EXPECT_EQ(client.received().ends, 0u);
      break;
    case work::change:
      break_next<save_session_request>();
      client.send("lost");
      break;
    case work::iteration:
      break_next<save_snapshot_request>();
      client.send("iterate");
      break;
    case work::turn_end:
      break_next<save_snapshot_request>();
      client.send("lost");
      break;
    case work::turn_end_without_snapshot:
      break_next<save_session_request>();
      client.send("pass"); // so that the end of the turn is saved next
      break;
    case work::invocation_end:
      say(client, "lost");
      break_next<save_snapshot_request>();
      client.close();
      break;
  }
  if (client.received().open) {
    wait_out();
    expect_end(client, expected());
  }
  EXPECT_TRUE(all_left());
  EXPECT_EQ(extra_actors(), 1u); // the client

  // The data stored before is still there.
  const auto now = records_of(agent, "s");
  ASSERT_GE(now.size(), 1u);
  EXPECT_EQ(now[0].id, stored.id);
  EXPECT_EQ(said_in(agent, "s").at(0), "before");

  expect_free_again(agent, "s");
  const auto last = records_of(agent, "s");
  EXPECT_EQ(last.back().parent, now.back().sequence);
  EXPECT_TRUE(all_gone());
  EXPECT_EQ(records_of(agent, "s").size(), last.size()); // too late to save
}

INSTANTIATE_TEST_SUITE_P(
  conversation_faults, a_store_that,
  ::testing::Combine(::testing::ValuesIn(all_of<work>()),
                     ::testing::ValuesIn(all_of<store_fault>())),
  [](const auto& x) {
    return name_of(std::get<store_fault>(x.param)) + "_in_"
           + name_of(std::get<work>(x.param));
  });

} // namespace tertulia::test::conversation_store_faults
