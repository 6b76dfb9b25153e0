// SPDX-License-Identifier: BSD-3-Clause

// A conversation ends exactly once, whichever part leaves it and at any moment:
// its client receives the end, stored data stays, the session is free again and
// no actor is left.

#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "support/faulty_conversations.hpp"

using namespace std::literals;

namespace tertulia::test::conversation_ends {

namespace {

/// State of the conversation.
enum class moment {
  opening,
  idle,
  waiting_for_the_session,
  waiting_for_the_store,
  waiting_for_credit,
  waiting_for_credit_at_its_turn_end,
  ending,
};
BOOST_DESCRIBE_ENUM(moment, opening, idle, waiting_for_the_session,
                    waiting_for_the_store, waiting_for_credit,
                    waiting_for_credit_at_its_turn_end, ending)

/// Event that ends the conversation.
enum class event {
  cancel,
  deadline,
  take_over,
  stop,
  client_dies,
  session_dies,
  responder_dies,
  connection_dies,
};
BOOST_DESCRIBE_ENUM(event, cancel, deadline, take_over, stop, client_dies,
                    session_dies, responder_dies, connection_dies)

/// Returns the error code that the client receives.
errc code_of_event(event x) {
  switch (x) {
    case event::deadline: return errc::deadline_exceeded;
    case event::stop: return errc::unavailable;
    case event::session_dies:
    case event::responder_dies:
    case event::connection_dies: return errc::aborted;
    default: return errc::cancelled;
  }
}

struct a_conversation
  : faulty_conversations,
    ::testing::WithParamInterface<std::tuple<moment, event>> {
  memo_agent define() {
    if (std::get<moment>(GetParam()) == moment::ending)
      return define_memo(
        with_snapshot_callback(snapshot_on{snapshot_event::invocation_end}));
    return define_keeping_memo();
  }

  tertulia::open_request opening(const memo_agent& agent) {
    auto result = agent.opening_for(chunk_sink{}, with_session_id("s"));
    if (std::get<event>(GetParam()) == event::deadline)
      result.options.deadline = 10s;
    switch (std::get<moment>(GetParam())) {
      case moment::opening: kept.hang_next<get_session_request>(1); break;
      case moment::waiting_for_credit: result.options.chunk_window = 0; break;
      case moment::waiting_for_credit_at_its_turn_end:
        result.options.chunk_window = 1;
        break;
      default: break;
    }
    return result;
  }

  void reach(memo_client& client) {
    switch (std::get<moment>(GetParam())) {
      case moment::opening:
      case moment::idle: break;
      case moment::waiting_for_the_session:
        kept.hang_next<save_session_request>(1);
        client.send("now");
        break;
      case moment::waiting_for_the_store:
        kept.hang_next<save_snapshot_request>(1);
        client.send("now");
        break;
      case moment::waiting_for_credit:
      case moment::waiting_for_credit_at_its_turn_end:
        client.send("now");
        break;
      case moment::ending:
        say(client, "now");
        kept.hang_next<save_snapshot_request>(1);
        client.close();
        break;
    }
  }
};

std::vector<std::tuple<moment, event>> cases() {
  std::vector<std::tuple<moment, event>> result;
  for (const auto when : all_of<moment>())
    for (const auto what : all_of<event>()) {
      // Neither a client nor a test can reach a connection that is not yet
      // open.
      const auto reachable = what == event::deadline || what == event::take_over
                             || what == event::stop
                             || what == event::client_dies;
      if (when != moment::opening || reachable)
        result.emplace_back(when, what);
    }
  return result;
}

} // namespace

TEST_P(a_conversation, has_one_end_and_leaves_nothing) {
  const auto [when, what] = GetParam();
  const auto agent = define();
  const auto stored = store_before(agent);
  memo_client client{system, rt->front_desk(), opening(agent)};
  run();
  ASSERT_EQ(client.received().open.has_value(), when != moment::opening);
  reach(client);
  ASSERT_EQ(client.received().ends, 0u);

  std::optional<memo_client> other;
  switch (what) {
    case event::cancel: client.cancel(); break;
    case event::deadline: advance(10s); break;
    case event::take_over:
      other.emplace(system, rt->front_desk(), agent, with_session_id("s"),
                    with_take_over{});
      break;
    case event::stop: rt->stop(); break;
    case event::client_dies: client.die(); break;
    case event::session_dies: kill(last_actors().session); break;
    case event::responder_dies: kill(last_actors().responder); break;
    case event::connection_dies: kill(last_actors().connection); break;
  }
  run();

  if (what == event::client_dies) {
    EXPECT_EQ(client.received().ends, 0u);
  } else if (when == moment::opening) {
    EXPECT_EQ(code_of(client.received().refused), code_of_event(what));
    EXPECT_EQ(client.received().ends, 0u);
  } else {
    expect_end(client, code_of_event(what));
    EXPECT_EQ(client.received().gaps, 0u);
  }

  if (other) {
    ASSERT_TRUE(other->received().open)
      << to_status(other->received().refused).message();
    const auto error = when == moment::opening ? client.received().refused
                                               : client.received().end->reason;
    EXPECT_EQ(to_status(error).message(),
              "another invocation took over the session");
    EXPECT_EQ(extra_actors(), 3u); // two clients and a connection
    other->close();
    run();
    EXPECT_EQ(other->code(), errc::ok);
  }
  const auto clients
    = (other ? 2u : 1u) - (what == event::client_dies ? 1u : 0u);
  if (what != event::stop) { // the front desk is gone, too, after a stop
    EXPECT_EQ(extra_actors(), clients);
  }
  EXPECT_TRUE(all_left());
  EXPECT_EQ(records_of(agent, "s").at(0).id, stored.id);
  if (what == event::stop) {
    EXPECT_TRUE(all_gone());
    return;
  }
  expect_free_again(agent, "s");
  EXPECT_TRUE(all_gone());
}

INSTANTIATE_TEST_SUITE_P(conversation_faults, a_conversation,
                         ::testing::ValuesIn(cases()), [](const auto& x) {
                           return name_of(std::get<event>(x.param)) + "_while_"
                                  + name_of(std::get<moment>(x.param));
                         });

} // namespace tertulia::test::conversation_ends
