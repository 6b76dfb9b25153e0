// SPDX-License-Identifier: BSD-3-Clause

// Single faults in a conversation: its client receives one error, stored data
// stays, the session is free again and no actor is left.

#include <caf/default_attachable.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "support/faulty_conversations.hpp"

using namespace std::literals;

namespace tertulia::test::conversation_fault_tests {

namespace {

using conversation_faults = faulty_conversations;

/// Store whose sessions all have a snapshot that does not match its id.
snapshot_store::behavior_type lying_store(snapshot_store::pointer) {
  const auto lie = [] {
    memo other;
    other.said.emplace_back("never said");
    stored_snapshot result;
    result.record.agent = "/agent/memo1";
    result.record.session = session_id{"s"};
    result.record.sequence = 1;
    result.record.state = state::plain(payload::of(memo{})).id();
    result.record.id = snapshot_id{result.record.state.str()};
    result.content = state::plain(payload::of(other));
    return result;
  };
  return {
    [](const acquire_lease_request&) { return lease_grant{1}; },
    [](const release_lease_request&) { return true; },
    [](const save_snapshot_request&) -> caf::result<save_result> {
      return fail(errc::unimplemented, "it only lies");
    },
    [=](const get_snapshot_request&) { return lie(); },
    [=](const restore_snapshot_request&) { return lie(); },
    [](const list_snapshots_request&) { return snapshot_page{}; },
    [=](const get_session_request&) {
      stored_session result;
      result.info.head = 1;
      result.head = lie();
      result.content = result.head.content;
      return result;
    },
    [](const save_session_request&) { return session_info{}; },
    [](const save_run_request& x) { return x.run; },
    [](const abort_run_request&) { return stored_run{}; },
    [](const get_run_request&) { return stored_run{}; },
  };
}

} // namespace

TEST_F(conversation_faults, a_damaged_snapshot_is_data_loss_and_no_session) {
  const auto lying = system.spawn<caf::hidden>(lying_store);
  const auto agent = define_memo(with_snapshot_store(lying));
  auto by_session = open(agent, with_session_id("s"));
  auto by_snapshot = open(agent, with_snapshot_id("x"));
  for (const auto* client : {&by_session, &by_snapshot}) {
    EXPECT_FALSE(client->received().open);
    EXPECT_EQ(code_of(client->received().refused), errc::data_loss);
  }
  EXPECT_EQ(extra_actors(), 2u);
}

TEST_F(conversation_faults, a_session_id_that_cannot_be_shown_is_refused) {
  const auto agent = define_memo();
  for (const auto& id : {std::string{"\xff"}, std::string{"a\0b", 3}}) {
    auto client = open(agent, with_session_id(id));
    EXPECT_FALSE(client.received().open);
    EXPECT_EQ(code_of(client.received().refused), errc::invalid_argument);
  }
  EXPECT_FALSE(ask<session_page>(list_sessions_request{})->sessions.size() > 0);
}

TEST_F(conversation_faults, a_body_that_throws_loses_its_turn_only) {
  const auto agent = define_keeping_memo();
  {
    auto client = open(agent, with_session_id("s"));
    say(client, "one");
    client.send("throw");
    expect_end(client, errc::permission_denied);
    EXPECT_EQ(client.received().turns, 1u);
  }
  run();
  EXPECT_TRUE(all_gone());
  EXPECT_EQ(extra_actors(), 0u);
  EXPECT_EQ(records_of(agent, "s").size(), 1u);
  auto again = open(agent, with_session_id("s"));
  ASSERT_TRUE(again.received().open);
  say(again, "two");
  EXPECT_EQ(said_in(agent, "s"), (texts{"one", "two"}));
}

TEST_F(conversation_faults, an_input_behind_the_end_hears_what_ended_it) {
  auto client = open(define_keeping_memo(), with_session_id("s"));
  // Both inputs are in the mailbox before the body throws, and the end waits
  // for the session.
  std::vector<errc> codes;
  const auto asker
    = system.spawn<caf::hidden>([&](caf::event_based_actor* self) {
        for (const auto* text : {"throw", "late"})
          self
            ->request(client.connection(), caf::infinite,
                      turn_input{payload::of(std::string{text})})
            .then([&] { codes.push_back(errc::ok); },
                  [&](const caf::error& x) { codes.push_back(code_of(x)); });
      });
  run();
  EXPECT_EQ(codes, (std::vector{errc::ok, errc::permission_denied}));
  EXPECT_EQ(client.code(), errc::permission_denied);
  EXPECT_TRUE(all_gone());
}

TEST_F(conversation_faults, a_callback_that_throws_fails_its_turn) {
  const auto agent = define_memo(
    with_snapshot_callback([](const snapshot_context<memo>& x) -> bool {
      if (x.turn_index() == 1)
        throw status_error{errc::out_of_range, "too much"};
      return true;
    }));
  auto client = open(agent, with_session_id("s"));
  say(client, "one");
  client.send("two");
  expect_end(client, errc::out_of_range);
  EXPECT_EQ(client.received().turns, 1u);
  EXPECT_TRUE(all_gone());
  EXPECT_EQ(records_of(agent, "s").size(), 1u);
}

TEST_F(conversation_faults, a_store_that_is_dead_is_unavailable) {
  failing_store mortal{system};
  const auto agent = define_keeping_memo(with_snapshot_store(mortal.store()));
  auto client = open(agent, with_session_id("s"));
  say(client, "one");
  caf::anon_send_exit(mortal.store(), caf::exit_reason::kill);
  client.send("two");
  expect_end(client, errc::unavailable);
  EXPECT_TRUE(all_gone());
  auto later = open(agent, with_session_id("s"));
  EXPECT_EQ(code_of(later.received().refused), errc::unavailable);
  EXPECT_EQ(extra_actors(), 3u) << "two clients and the store behind";
}

TEST_F(conversation_faults, a_killed_supervisor_loses_no_save) {
  auto client = open(define_keeping_memo(), with_session_id("s"));
  say(client, "one");
  kept.hang_next<save_snapshot_request>(1);
  client.send("two");
  kill(store);
  EXPECT_EQ(client.received().turns, 1u);
  kept.answer_hung();
  run();
  EXPECT_EQ(client.received().turns, 2u);
  client.send("three");
  expect_end(client, errc::unavailable);
  EXPECT_TRUE(all_gone());
}

TEST_F(conversation_faults, a_state_that_cannot_be_kept_opens_no_session) {
  const auto agent = define_memo();
  kept.fail_next<save_session_request>(1, errc::resource_exhausted);
  const memo given{{"given"}};
  auto refused = open(agent, with_session_id("s"), with_init(given));
  EXPECT_FALSE(refused.received().open);
  EXPECT_EQ(code_of(refused.received().refused), errc::resource_exhausted);
  auto client = open(agent, with_session_id("s"), with_init(given));
  ASSERT_TRUE(client.received().open);
  EXPECT_EQ(said_in(agent, "s"), given.said);
}

TEST_F(conversation_faults, a_client_of_many_conversations_remembers_none) {
  const auto agent = define_keeping_memo();
  auto lasting = open(agent, with_session_id("t")); // its sink stays
  const auto& sink = lasting.sink();
  for (const auto end : {caf::exit_reason::normal, caf::exit_reason::kill}) {
    caf::actor_addr connection;
    {
      auto what = agent.opening_for(sink, with_session_id("s"));
      caf::scoped_actor self{system};
      self->send(rt->front_desk(), std::move(what));
      run();
      connection = trails.back().connection;
      const auto actor = caf::actor_cast<caf::actor>(connection);
      ASSERT_TRUE(actor);
      if (end == caf::exit_reason::kill)
        caf::anon_send_exit(actor, end);
      else
        caf::anon_send(caf::actor_cast<connection_actor>(actor),
                       caf::close_atom_v);
    }
    run();
    const caf::default_attachable::observe_token monitor{
      connection, caf::default_attachable::monitor};
    auto* remembering = caf::actor_cast<caf::abstract_actor*>(sink);
    EXPECT_EQ(remembering->detach(monitor), 0u) << caf::to_string(end);
  }
}

TEST_F(conversation_faults,
       a_store_that_dies_of_a_save_is_waited_for_no_longer) {
  failing_store mortal{system};
  const auto agent = define_keeping_memo(with_snapshot_store(mortal.store()));
  auto client = open(agent, with_session_id("s"));
  mortal.die_silently_next<save_snapshot_request>();
  client.send("one");
  EXPECT_EQ(client.received().ends, 0u);
  advance(30s);
  expect_end(client, errc::deadline_exceeded);
  EXPECT_TRUE(all_gone());
  EXPECT_EQ(extra_actors(), 2u) << "the client and the store behind";
}

TEST_F(conversation_faults,
       an_opening_waits_no_longer_than_the_time_out_of_its_store) {
  const auto agent = define_memo(with_store_timeout(5s));
  kept.hang_next<get_session_request>(1);
  auto client = open(agent, with_session_id("s"), with_open_timeout(20s));
  advance(4s);
  EXPECT_FALSE(client.received().refused);
  advance(1s);
  EXPECT_EQ(code_of(client.received().refused), errc::deadline_exceeded);
  EXPECT_EQ(extra_actors(), 1u) << "the client";
}

TEST_F(conversation_faults, a_responder_killed_at_any_step_takes_no_end_along) {
  auto finished = 0;
  auto lost = 0;
  for (int steps = 0; finished == 0; ++steps) {
    const auto agent = define_keeping_memo();
    auto client = open(agent);
    say(client, "one");
    const auto actors = last_actors();
    client.post("two");
    client.post_close();
    for (int i = 0; i < steps; ++i)
      sched.try_run_once();
    kill(actors.responder);
    ASSERT_EQ(client.received().ends, 1u) << steps;
    if (client.code() == errc::ok) {
      EXPECT_EQ(client.output().output, 2);
      ++finished;
    } else {
      // A body that waits for its answer receives `unavailable`.
      EXPECT_TRUE(client.code() == errc::aborted
                  || client.code() == errc::unavailable)
        << steps;
      ++lost;
    }
  }
  EXPECT_GT(lost, 3);
}

TEST_F(conversation_faults, an_answer_after_the_end_changes_nothing) {
  const auto agent = define_keeping_memo();
  auto first = open(agent, with_session_id("s"));
  say(first, "one");
  kept.hang_next<save_snapshot_request>(1);
  first.send("two");
  first.cancel();
  ASSERT_EQ(first.code(), errc::cancelled);
  auto second = open(agent, with_session_id("s"));
  say(second, "three");
  kept.answer_hung(); // a head that has moved is not overwritten
  run();
  say(second, "four");
  EXPECT_EQ(first.received().ends, 1u);
  EXPECT_EQ(said_in(agent, "s"), (texts{"one", "two", "three", "four"}));
  const auto records = records_of(agent, "s");
  ASSERT_EQ(records.size(), 3u);
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].parent, i);
    EXPECT_FALSE(records[i].orphaned);
  }
}

} // namespace tertulia::test::conversation_fault_tests
