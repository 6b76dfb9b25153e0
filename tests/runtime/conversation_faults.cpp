// SPDX-License-Identifier: BSD-3-Clause

// Single faults in a conversation: its client receives one error, stored data
// stays, the session is free again and no actor is left.

#include <tertulia/define_agent.hpp>
#include <tertulia/span_recorder.hpp>
#include <tertulia/when.hpp>

#include <caf/default_attachable.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/faulty_conversations.hpp"

using namespace std::literals;

namespace tertulia::test::conversation_fault_tests {

namespace {

using strings = std::vector<std::string>;

struct conversation_faults : faulty_conversations {
  /// Defines an agent on a separate store.
  memo_agent define_on(managed_store other) {
    return define_agent(
      *rt, "alone",
      [this](context ctx, session<memo> mine, input<std::string> in,
             responder<std::string> out) -> task<int> {
        trails.emplace_back(ctx);
        const departure here{left};
        while (auto text = co_await in.next()) {
          co_await mine.update([&](memo& x) { x.said.push_back(*text); });
          co_await out.end_turn();
        }
        co_return 0;
      },
      with_session_store(std::move(other)),
      with_snapshot_callback(snapshot_always{}));
  }
};

/// Store whose sessions all have a snapshot that does not match its id.
snapshot_store::behavior_type lying_store(snapshot_store::pointer) {
  const auto lie = [] {
    memo other;
    other.said.emplace_back("never said");
    stored_snapshot result;
    result.record.agent = "/agent/alone";
    result.record.session = session_id{"s"};
    result.record.sequence = 1;
    result.record.state = state::plain(payload::of(memo{})).id();
    result.record.id = snapshot_id{result.record.state.str()};
    result.content = state::plain(payload::of(other));
    return result;
  };
  return {
    [](const save_snapshot&) -> caf::result<saved_snapshot> {
      return fail(errc::unimplemented, "it only lies");
    },
    [=](const get_snapshot&) { return lie(); },
    [=](const restore_snapshot&) { return lie(); },
    [](const list_snapshots&) { return snapshot_page{}; },
    [=](const get_session&) {
      stored_session result;
      result.info.head = 1;
      result.head = lie();
      result.content = result.head.content;
      return result;
    },
    [](const save_session&) { return session_info{}; },
  };
}

} // namespace

TEST_F(conversation_faults, a_damaged_snapshot_is_data_loss_and_no_session) {
  const auto lying = system.spawn<caf::hidden>(lying_store);
  const auto agent = define_agent(
    *rt, "alone",
    [](context, session<memo>, input<std::string>,
       responder<std::string>) -> task<int> { co_return 0; },
    with_session_store(lying));
  auto by_session = open(agent, with_session_id("s"));
  run();
  auto by_snapshot = open(agent, with_snapshot_id("x"));
  run();
  for (const auto* client : {&by_session, &by_snapshot}) {
    EXPECT_FALSE(client->heard().open);
    EXPECT_EQ(code_of(client->heard().refused), errc::data_loss);
  }
  EXPECT_EQ(extra_actors(), 2u);
}

TEST_F(conversation_faults, a_save_that_fails_can_be_survived) {
  const auto recorder = std::make_shared<span_recorder>();
  const auto listening = rt->traces().listen(recorder);
  const auto agent = define_memo(with_snapshot_callback(snapshot_always{}),
                                 with_save_failure(save_failure::is_reported));
  auto client = open(agent, with_session_id("s"));
  run();
  kept.fail_next<save_snapshot>(1, errc::resource_exhausted);
  say(client, "one");
  EXPECT_TRUE(records_of(agent, "s").empty());
  say(client, "two");
  client.close();
  run();
  ASSERT_EQ(client.code(), errc::ok);
  EXPECT_EQ(client.output().snapshot_ids.size(), 1u);
  const auto records = records_of(agent, "s");
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].turn_index, 1u);
  EXPECT_EQ(said_in(agent, "s"), (strings{"one", "two"}));
  run();
  const auto span = recorder->find(agent.info().key);
  ASSERT_TRUE(span);
  const auto told = std::find_if(span->events.begin(), span->events.end(),
                                 [](const span_event& x) {
                                   return x.name == "snapshot not saved";
                                 });
  ASSERT_NE(told, span->events.end());
  ASSERT_EQ(told->attributes.size(), 1u);
  EXPECT_EQ(told->attributes[0].second, attribute_value{"resource_exhausted"s});
}

TEST_F(conversation_faults, a_turn_that_was_not_saved_can_be_ended_again) {
  const auto agent = define_agent(
    *rt, "stubborn",
    [this](context ctx, session<memo> mine, input<std::string> in,
           responder<std::string> out) -> task<int> {
      trails.emplace_back(ctx);
      const departure here{left};
      int tries = 0;
      while (auto text = co_await in.next()) {
        co_await mine.update([&](memo& x) { x.said.push_back(*text); });
        for (bool done = false; !done;) {
          ++tries;
          auto ended = co_await as_expected(out.end_turn());
          done = static_cast<bool>(ended);
        }
      }
      co_return tries;
    },
    with_session_store(store), with_snapshot_callback(snapshot_always{}));
  auto client = open(agent, with_session_id("s"), with_chunk_window(1));
  run();
  kept.fail_next<save_snapshot>(3, errc::unavailable);
  client.send("one");
  run();
  EXPECT_EQ(client.heard().turns, 1u);
  client.grant(1);
  client.send("two");
  run();
  EXPECT_EQ(client.heard().turns, 2u);
  client.close();
  run();
  ASSERT_EQ(client.code(), errc::ok);
  EXPECT_EQ(client.output().output, 5);
  EXPECT_EQ(records_of(agent, "s").size(), 2u);
}

TEST_F(conversation_faults, a_save_whose_answer_was_lost_is_found_again) {
  // With and without a change between the two attempts.
  for (const auto* const name : {"s", "t"}) {
    const auto changes = *name == 't';
    const auto agent = define_agent(
      *rt, std::string{"stubborn-"} + name,
      [changes](context, session<memo> mine, input<std::string> in,
                responder<std::string> out) -> task<int> {
        int tries = 0;
        while (auto text = co_await in.next()) {
          co_await mine.update([&](memo& x) { x.said.push_back(*text); });
          for (bool done = false; !done;) {
            ++tries;
            const auto ended = co_await as_expected(out.end_turn());
            done = static_cast<bool>(ended);
            if (!done && changes)
              co_await mine.update([&](memo& x) { x.said.push_back("again"); });
          }
        }
        co_return tries;
      },
      with_session_store(store), with_snapshot_callback(snapshot_always{}));
    auto client = open(agent, with_session_id(name));
    run();
    say(client, "one");
    kept.lose_next<save_snapshot>(1, errc::unavailable);
    // The store cannot be read at first, either.
    kept.fail_next<get_session>(1, errc::unavailable);
    say(client, "two");
    say(client, "three");
    client.close();
    run();
    ASSERT_EQ(client.code(), errc::ok);
    EXPECT_EQ(client.output().output, 5);
    const auto records = records_of(agent.info().key, name);
    ASSERT_EQ(records.size(), changes ? 4u : 3u);
    EXPECT_EQ(client.output().snapshot_ids.size(), records.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
      EXPECT_EQ(records[i].parent, i);
      EXPECT_EQ(records[i].id, client.output().snapshot_ids[i]);
      EXPECT_FALSE(records[i].orphaned);
    }
  }
}

TEST_F(conversation_faults, a_head_that_somebody_else_has_moved_is_told_apart) {
  std::vector<errc> codes;
  const auto agent = define_agent(
    *rt, "patient",
    [&codes](context, session<memo> mine, input<std::string> in,
             responder<std::string> out) -> task<int> {
      while (auto text = co_await in.next()) {
        const auto changed = co_await as_expected(
          mine.update([&](memo& x) { x.said.push_back(*text); }));
        codes.push_back(changed ? errc::ok : code_of(changed.error()));
        const auto ended = co_await as_expected(out.end_turn());
        codes.push_back(ended ? errc::ok : code_of(ended.error()));
      }
      co_return 0;
    },
    with_session_store(store), with_snapshot_callback(snapshot_always{}));
  const auto others
    = {state::plain(payload::of(memo{{"else"}})),
       // the same text, with another meaning
       state::plain(payload::of(memo{{"one", "two"}}), stored_type{"", 2})};
  auto session = 0;
  for (const auto& content : others) {
    const auto name = std::to_string(++session);
    codes.clear();
    auto client = open(agent, with_session_id(name));
    run();
    say(client, "one");
    kept.fail_next<save_snapshot>(1, errc::unavailable);
    client.send("two");
    run();
    // That state was not stored, and then another writer is faster.
    auto record = records_of(agent.info().key, name).at(0);
    record.parent = record.sequence;
    record.state = content.id();
    record.id = snapshot_id{record.state.str()};
    ASSERT_TRUE(ask<saved_snapshot>(
      save_snapshot{record, content, append_rule::at_head}));
    client.send("three");
    run();
    EXPECT_EQ(codes,
              (std::vector{errc::ok, errc::ok, errc::ok, errc::unavailable,
                           errc::aborted, errc::aborted}))
      << content.text();
  }
}

TEST_F(conversation_faults, the_same_state_behind_another_parent_is_not_ours) {
  std::vector<errc> codes;
  const auto agent = define_agent(
    *rt, "patient",
    [&codes](context, session<memo> mine, input<std::string> in,
             responder<std::string> out) -> task<int> {
      while (auto text = co_await in.next()) {
        if (*text != "again")
          co_await mine.update([&](memo& x) { x.said.push_back(*text); });
        const auto ended = co_await as_expected(out.end_turn());
        codes.push_back(ended ? errc::ok : code_of(ended.error()));
      }
      co_return 0;
    },
    with_session_store(store), with_snapshot_callback(snapshot_always{}));
  auto client = open(agent, with_session_id("s"));
  run();
  say(client, "one");
  kept.fail_next<save_snapshot>(1, errc::unavailable);
  client.send("two");
  run();
  // Another writer reaches the same state from another parent.
  const auto content = state::plain(payload::of(memo{{"one", "two"}}));
  auto record = records_of(agent.info().key, "s").at(0);
  record.parent = 0;
  record.state = content.id();
  record.id = snapshot_id{record.state.str()};
  ASSERT_TRUE(
    ask<saved_snapshot>(save_snapshot{record, content, append_rule::anywhere}));
  client.send("again");
  run();
  EXPECT_EQ(codes, (std::vector{errc::ok, errc::unavailable, errc::aborted}));
  EXPECT_EQ(records_of(agent.info().key, "s").size(), 2u);
}

TEST_F(conversation_faults, no_runtime_overwrites_what_another_one_has_saved) {
  runtime other{system};
  const auto define = [this](runtime& where) {
    return define_agent(
      where, "shared",
      [](context, session<memo> mine, input<std::string> in,
         responder<std::string> out) -> task<int> {
        while (auto text = co_await in.next()) {
          if (*text != "pass")
            co_await mine.update([&](memo& x) { x.said.push_back(*text); });
          co_await out.end_turn();
        }
        co_return 0;
      },
      with_session_store(store));
  };
  const memo_agent here = define(*rt);
  const memo_agent there = define(other);
  const auto opening = there.opening_for(chunk_sink{}, with_session_id("s"));
  // The session is new or known, and it is changed within the turn or only at
  // its end.
  auto all = strings{};
  for (const std::string text : {"new", "known", "pass"}) {
    auto first = open(here, with_session_id("s"));
    memo_client second{system, other.front_desk(), opening};
    run();
    ASSERT_TRUE(first.heard().open);
    ASSERT_TRUE(second.heard().open);
    say(first, text);
    if (text != "pass")
      all.push_back(text);
    second.send(text == "pass" ? text : text + " again");
    run();
    ASSERT_EQ(second.heard().ends, 1u) << text;
    EXPECT_EQ(second.code(), errc::aborted) << text;
    EXPECT_EQ(said_in(here, "s"), all);
    first.close();
    run();
    EXPECT_EQ(first.code(), errc::ok) << text;
    // The next invocation continues from the saved state.
    memo_client third{system, other.front_desk(), opening};
    run();
    say(third, text + " later");
    all.push_back(text + " later");
    EXPECT_EQ(said_in(here, "s"), all);
    third.close();
    run();
    EXPECT_EQ(third.code(), errc::ok) << text;
  }
  const auto found = ask<stored_session>(
    get_session{session_ref{here.info().key, session_id{"s"}}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->info.next_turn, 6u);
  other.stop();
  run();
}

TEST_F(conversation_faults, a_change_whose_answer_was_lost_can_be_repeated) {
  const auto agent = define_agent(
    *rt, "stubborn",
    [](context, session<memo> mine, input<std::string> in,
       responder<std::string> out) -> task<int> {
      int failures = 0;
      while (auto text = co_await in.next()) {
        for (bool done = false; !done;) {
          const auto said = *text + std::to_string(failures);
          const auto changed = co_await as_expected(
            mine.update([&](memo& x) { x.said.push_back(said); }));
          done = static_cast<bool>(changed);
          if (!done && code_of(changed.error()) == errc::aborted)
            co_return failures;
          failures += done ? 0 : 1;
        }
        for (bool done = false; !done;) {
          const auto ended = co_await as_expected(out.end_turn());
          done = static_cast<bool>(ended);
          failures += done ? 0 : 1;
        }
      }
      co_return failures;
    },
    with_session_store(store));
  auto client = open(agent, with_session_id("s"));
  run();
  kept.lose_next<save_session>(2, errc::unavailable);
  kept.fail_next<save_session>(1, errc::unavailable);
  say(client, "one ");
  EXPECT_EQ(said_in(agent, "s"), strings{"one 3"});
  // More attempts than a session remembers.
  kept.lose_next<save_session>(20, errc::unavailable);
  say(client, "two ");
  EXPECT_EQ(said_in(agent, "s"), (strings{"one 3", "two 23"}));
  // The state saved meanwhile by another writer is not one of them.
  kept.lose_next<save_session>(1, errc::unavailable);
  kept.hang_next<save_session>(1);
  client.send("three ");
  run();
  ASSERT_TRUE(
    ask<session_info>(save_session{{agent.info().key, session_id{"s"}},
                                   state::plain(payload::of(memo{{"else"}})),
                                   2}));
  kept.answer_hung();
  run();
  ASSERT_EQ(client.heard().ends, 1u);
  EXPECT_EQ(client.output().output, 24);
  EXPECT_EQ(said_in(agent, "s"), strings{"else"});
}

TEST_F(conversation_faults, a_session_id_that_cannot_be_shown_is_refused) {
  const auto body = [](context, session<memo>, input<std::string>,
                       responder<std::string>) -> task<int> { co_return 0; };
  const memo_agent agent
    = define_agent(*rt, "stored", body, with_session_store(store));
  for (const auto& id : {std::string{"\xff"}, std::string{"a\0b", 3}}) {
    auto client = open(agent, with_session_id(id));
    run();
    EXPECT_FALSE(client.heard().open);
    EXPECT_EQ(code_of(client.heard().refused), errc::invalid_argument);
  }
  EXPECT_FALSE(ask<session_page>(list_sessions{})->sessions.size() > 0);
}

TEST_F(conversation_faults, a_body_that_throws_loses_its_turn_only) {
  const auto agent = define_keeping_memo();
  {
    auto client = open(agent, with_session_id("s"));
    run();
    say(client, "one");
    client.send("throw");
    run();
    ASSERT_EQ(client.heard().ends, 1u);
    EXPECT_EQ(client.code(), errc::permission_denied);
    EXPECT_EQ(client.heard().turns, 1u);
  }
  run();
  EXPECT_TRUE(all_gone());
  EXPECT_EQ(extra_actors(), 0u);
  EXPECT_EQ(records_of(agent, "s").size(), 1u);
  auto again = open(agent, with_session_id("s"));
  run();
  ASSERT_TRUE(again.heard().open);
  say(again, "two");
  EXPECT_EQ(said_in(agent, "s"), (strings{"one", "two"}));
}

TEST_F(conversation_faults, an_input_behind_the_end_hears_what_ended_it) {
  const auto agent = define_keeping_memo();
  auto client = open(agent, with_session_id("s"));
  run();
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
  run();
  say(client, "one");
  client.send("two");
  run();
  ASSERT_EQ(client.heard().ends, 1u);
  EXPECT_EQ(client.code(), errc::out_of_range);
  EXPECT_EQ(client.heard().turns, 1u);
  EXPECT_TRUE(all_gone());
  EXPECT_EQ(records_of(agent, "s").size(), 1u);
}

TEST_F(conversation_faults, a_store_that_is_dead_is_unavailable) {
  failing_store mortal{system};
  const auto agent = define_on(mortal.store());
  auto client = open(agent, with_session_id("s"));
  run();
  say(client, "one");
  caf::anon_send_exit(mortal.store(), caf::exit_reason::kill);
  client.send("two");
  run();
  ASSERT_EQ(client.heard().ends, 1u);
  EXPECT_EQ(client.code(), errc::unavailable);
  EXPECT_TRUE(all_gone());
  auto later = open(agent, with_session_id("s"));
  run();
  EXPECT_EQ(code_of(later.heard().refused), errc::unavailable);
  EXPECT_EQ(extra_actors(), 3u) << "two clients and the store behind";
}

TEST_F(conversation_faults, a_killed_supervisor_is_unavailable_at_once) {
  const auto agent = define_keeping_memo();
  auto client = open(agent, with_session_id("s"));
  run();
  say(client, "one");
  kept.hang_next<save_snapshot>(1);
  client.send("two");
  run();
  EXPECT_EQ(client.heard().ends, 0u);
  caf::anon_send_exit(store, caf::exit_reason::kill);
  run();
  ASSERT_EQ(client.heard().ends, 1u);
  EXPECT_EQ(client.code(), errc::unavailable);
  EXPECT_TRUE(all_gone());
}

TEST_F(conversation_faults, a_state_that_cannot_be_kept_opens_no_session) {
  const auto agent = define_memo();
  kept.fail_next<save_session>(1, errc::resource_exhausted);
  const memo given{{"given"}};
  auto refused = open(agent, with_session_id("s"), with_init(given));
  run();
  EXPECT_FALSE(refused.heard().open);
  EXPECT_EQ(code_of(refused.heard().refused), errc::resource_exhausted);
  auto client = open(agent, with_session_id("s"), with_init(given));
  run();
  ASSERT_TRUE(client.heard().open);
  EXPECT_EQ(said_in(agent, "s"), given.said);
}

TEST_F(conversation_faults, a_change_that_is_not_saved_holds_up_no_other) {
  std::vector<errc> codes;
  const auto agent = define_agent(
    *rt, "steady",
    [&](context ctx, session<memo> mine, input<std::string> in,
        responder<std::string> out) -> task<int> {
      trails.emplace_back(ctx);
      const departure here{left};
      while (auto text = co_await in.next()) {
        const auto add = [&](memo& x) { x.said.push_back(*text); };
        for (int i = 0; i < 2; ++i) {
          auto change = mine.update(add);
          const auto done = co_await as_expected(std::move(change));
          codes.push_back(done ? errc::ok : code_of(done.error()));
        }
        co_await out.end_turn();
      }
      co_return 0;
    },
    with_session_store(store), with_snapshot_callback(snapshot_always{}));
  auto client = open(agent, with_session_id("s"));
  run();
  kept.fail_next<save_session>(1, errc::unavailable);
  say(client, "one");
  EXPECT_EQ(codes, (std::vector{errc::unavailable, errc::ok}));
  EXPECT_EQ(said_in(agent, "s"), strings{"one"});
  client.close();
  run();
  EXPECT_EQ(client.code(), errc::ok);
  EXPECT_TRUE(all_gone());
}

TEST_F(conversation_faults, a_change_during_a_save_is_in_the_next_snapshot) {
  using chat_session = ai::session<memo>;
  const auto agent = ai::define_chat_agent(
    *rt, "busy",
    [&](context ctx, chat_session mine, input<ai::conversation_input> in,
        ai::responder<nothing> out) -> task<> {
      trails.emplace_back(ctx);
      const departure here{left};
      while (co_await in.next()) {
        const auto end = [&]() -> task<> { co_await out.end_turn(); };
        const auto change = [&]() -> task<> {
          co_await mine.patch_custom([](memo& x) { x.said.push_back("x"); });
        };
        co_await change();
        co_await when_all(end(), change());
      }
    },
    with_snapshot_store(store), with_snapshot_callback(snapshot_always{}));
  auto client = open(agent, with_session_id("s"));
  run();
  kept.hang_next<save_snapshot>(1);
  client.send(ai::conversation_input{});
  run();
  EXPECT_EQ(client.heard().turns, 0u);
  kept.answer_hung();
  run();
  ASSERT_EQ(client.heard().turns, 1u);
  client.close();
  run();
  ASSERT_EQ(client.code(), errc::ok);
  const auto output = client.output();
  EXPECT_EQ(output.state.custom.said, (strings{"x", "x"}));
  ASSERT_EQ(output.snapshot_ids.size(), 2u)
    << "the end has what the turn lacks";
  EXPECT_EQ(output.snapshot_ids.back().str(),
            to_string(ai::to_state(output.state).id()));
}

TEST_F(conversation_faults, messages_replaced_during_a_save_stay_replaced) {
  const auto flow = ai::define_session_flow( // which tags its last message
    *rt, "forgetful",
    [&](context ctx, ai::flow_session<memo> mine,
        ai::flow_responder<nothing>) -> task<> {
      trails.emplace_back(ctx);
      const departure here{left};
      const auto turn
        = [](context, const ai::conversation_input&) -> task<> { co_return; };
      const auto replace = [&]() -> task<> {
        co_await ctx.sleep(1s);
        const auto instead = ai::message_log{}.with(ai::user_text("new"));
        co_await mine.set_messages(instead);
      };
      co_await when_all(mine.run(ctx, turn), replace());
    },
    with_snapshot_store(store), with_snapshot_callback(snapshot_always{}));
  auto client = open(flow, with_session_id("s"));
  run();
  kept.hang_next<save_snapshot>(1);
  client.send(ai::conversation_input{{ai::user_text("old")}});
  run();
  EXPECT_EQ(client.heard().turns, 0u);
  advance(1s);
  kept.answer_hung();
  run();
  ASSERT_EQ(client.heard().turns, 1u);
  client.close();
  run();
  ASSERT_EQ(client.code(), errc::ok);
  const auto output = client.output();
  ASSERT_EQ(output.state.messages.size(), 1u);
  EXPECT_EQ(output.state.messages.back().text(), "new");
}

TEST_F(conversation_faults, a_client_of_many_conversations_remembers_none) {
  const auto agent = define_keeping_memo();
  auto lasting = open(agent, with_session_id("t")); // its sink stays
  run();
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
  const auto agent = define_on(mortal.store());
  auto client = open(agent, with_session_id("s"));
  run();
  mortal.die_next<save_snapshot>();
  client.send("one");
  run();
  EXPECT_EQ(client.heard().ends, 0u);
  advance(30s);
  ASSERT_EQ(client.heard().ends, 1u);
  EXPECT_EQ(client.code(), errc::deadline_exceeded);
  EXPECT_TRUE(all_gone());
  EXPECT_EQ(extra_actors(), 2u) << "the client and the store behind";
}

TEST_F(conversation_faults, a_body_cannot_go_on_when_its_store_keeps_silent) {
  auto tries = 0;
  const auto agent = define_agent(
    *rt, "stubborn",
    [&](context ctx, session<memo> mine, input<std::string> in,
        responder<std::string> out) -> task<int> {
      trails.emplace_back(ctx);
      const departure here{left};
      while (auto text = co_await in.next()) {
        co_await mine.update([&](memo& x) { x.said.push_back(*text); });
        for (auto done = false; !done && tries < 3;) {
          ++tries;
          auto ended = co_await as_expected(out.end_turn());
          done = static_cast<bool>(ended);
        }
      }
      co_return tries;
    },
    with_session_store(store), with_snapshot_callback(snapshot_always{}));
  auto client = open(agent, with_session_id("s"));
  run();
  kept.hang_next<save_snapshot>(1);
  client.send("one");
  run();
  EXPECT_EQ(client.heard().ends, 0u);
  advance(30s);
  ASSERT_EQ(client.heard().ends, 1u);
  EXPECT_EQ(client.code(), errc::deadline_exceeded);
  kept.answer_hung(); // not reported to the client
  run();
  EXPECT_EQ(client.heard().turns, 0u);
  EXPECT_EQ(client.heard().ends, 1u);
  EXPECT_EQ(tries, 3);
  EXPECT_TRUE(all_gone());
  EXPECT_EQ(records_of(agent, "s").size(), 1u);
}

TEST_F(conversation_faults, a_responder_killed_at_any_step_takes_no_end_along) {
  auto finished = 0;
  auto lost = 0;
  for (int steps = 0; finished == 0; ++steps) {
    const auto agent = define_keeping_memo();
    auto client = open(agent);
    run();
    say(client, "one");
    const auto actors = last_actors();
    client.close();
    for (int i = 0; i < steps; ++i)
      sched.try_run_once();
    caf::anon_send_exit(actors.responder, caf::exit_reason::kill);
    run();
    ASSERT_EQ(client.heard().ends, 1u) << steps;
    if (client.code() == errc::ok) {
      EXPECT_EQ(client.output().output, 1);
      ++finished;
    } else {
      // A body that waits for its answer receives `unavailable`.
      EXPECT_TRUE(client.code() == errc::aborted
                  || client.code() == errc::unavailable)
        << steps;
      ++lost;
    }
  }
  EXPECT_GT(lost, 5);
}

TEST_F(conversation_faults, an_answer_after_the_end_changes_nothing) {
  const auto agent = define_keeping_memo();
  auto first = open(agent, with_session_id("s"));
  run();
  say(first, "one");
  kept.hang_next<save_snapshot>(1);
  first.send("two");
  run();
  first.cancel();
  run();
  ASSERT_EQ(first.code(), errc::cancelled);
  auto second = open(agent, with_session_id("s"));
  run();
  say(second, "three");
  kept.answer_hung(); // a head that has moved is not overwritten
  run();
  say(second, "four");
  EXPECT_EQ(first.heard().ends, 1u);
  EXPECT_EQ(said_in(agent, "s"), (strings{"one", "two", "three", "four"}));
  const auto records = records_of(agent, "s");
  ASSERT_EQ(records.size(), 3u);
  for (std::size_t i = 0; i < records.size(); ++i) {
    EXPECT_EQ(records[i].parent, i);
    EXPECT_FALSE(records[i].orphaned);
  }
}

} // namespace tertulia::test::conversation_fault_tests
