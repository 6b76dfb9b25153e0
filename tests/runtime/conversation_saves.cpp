// SPDX-License-Identifier: BSD-3-Clause

// Changes and snapshots that a store does not save, or whose answer is lost.

#include <tertulia/span_recorder.hpp>
#include <tertulia/when.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "support/faulty_conversations.hpp"

using namespace std::literals;

namespace tertulia::test::conversation_save_tests {

namespace {

struct conversation_saves : faulty_conversations {
  /// Saves a state as a branch, which needs no lease: another writer moves the
  /// head.
  bool save_of_another(const memo_agent& agent, const std::string& session,
                       const state& content, std::uint64_t parent) {
    snapshot_record record;
    record.agent = agent.info().key;
    record.session = session_id{session};
    record.parent = parent;
    record.state = content.id();
    record.id = snapshot_id{record.state.str()};
    return ask<save_result>(
             save_snapshot_request{record, content, append_rule::anywhere})
      .has_value();
  }
};

} // namespace

TEST_F(conversation_saves, a_save_that_fails_can_be_survived) {
  const auto recorder = std::make_shared<span_recorder>();
  const auto listening = rt->traces().listen(recorder);
  const auto agent
    = define_keeping_memo(with_save_failure(save_failure::is_reported));
  auto client = open(agent, with_session_id("s"));
  kept.fail_next<save_snapshot_request>(1, errc::resource_exhausted);
  say(client, "one");
  EXPECT_TRUE(records_of(agent, "s").empty());
  say(client, "two");
  client.close();
  ASSERT_EQ(client.code(), errc::ok);
  EXPECT_EQ(client.output().snapshot_ids.size(), 1u);
  const auto records = records_of(agent, "s");
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].turn_index, 1u);
  EXPECT_EQ(said_in(agent, "s"), (texts{"one", "two"}));
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

TEST_F(conversation_saves, a_turn_that_was_not_saved_can_be_ended_again) {
  const auto agent = define_stubborn(on_failure::tries_again, each_time);
  auto client = open(agent, with_session_id("s"), with_chunk_window(1));
  kept.fail_next<save_snapshot_request>(3, errc::unavailable);
  client.send("one");
  EXPECT_EQ(client.received().turns, 1u);
  client.grant(1);
  client.send("two");
  EXPECT_EQ(client.received().turns, 2u);
  client.close();
  ASSERT_EQ(client.code(), errc::ok);
  EXPECT_EQ(client.output().output, 3);
  EXPECT_EQ(codes.size(), 7u) << "two changes and five ends of turns";
  EXPECT_EQ(records_of(agent, "s").size(), 2u);
}

TEST_F(conversation_saves, a_save_whose_answer_was_lost_is_found_again) {
  // With and without a change between the two attempts.
  for (const auto policy :
       {on_failure::tries_again, on_failure::changes_and_tries_again}) {
    const auto changes = policy != on_failure::tries_again;
    const auto agent = define_stubborn(policy, each_time);
    auto client = open(agent, with_session_id("s"));
    say(client, "one");
    kept.lose_next<save_snapshot_request>(1, errc::unavailable);
    // The store cannot be read at first, either.
    kept.fail_next<get_session_request>(1, errc::unavailable);
    say(client, "two");
    say(client, "three");
    client.close();
    ASSERT_EQ(client.code(), errc::ok);
    EXPECT_EQ(client.output().output, 2);
    const auto records = records_of(agent, "s");
    ASSERT_EQ(records.size(), changes ? 4u : 3u);
    EXPECT_EQ(client.output().snapshot_ids.size(), records.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
      EXPECT_EQ(records[i].parent, i);
      EXPECT_EQ(records[i].id, client.output().snapshot_ids[i]);
      EXPECT_FALSE(records[i].orphaned);
    }
  }
}

TEST_F(conversation_saves, a_head_that_somebody_else_has_moved_is_told_apart) {
  const auto agent = define_stubborn(on_failure::goes_on, each_time);
  const auto others
    = {state::plain(payload::of(memo{{"else"}})),
       // the same text, with another meaning
       state::plain(payload::of(memo{{"one", "two"}}), stored_type{"", 2})};
  auto session = 0;
  for (const auto& content : others) {
    const auto name = std::to_string(++session);
    codes.clear();
    auto client = open(agent, with_session_id(name));
    say(client, "one");
    kept.fail_next<save_snapshot_request>(1, errc::unavailable);
    client.send("two");
    // That state was not stored, and then another writer is faster.
    ASSERT_TRUE(save_of_another(agent, name, content, 1));
    client.send("three");
    EXPECT_EQ(codes,
              (std::vector{errc::ok, errc::ok, errc::ok, errc::unavailable,
                           errc::aborted, errc::aborted}))
      << content.text();
  }
}

TEST_F(conversation_saves, the_same_state_behind_another_parent_is_not_ours) {
  const auto agent = define_stubborn(on_failure::goes_on, each_time);
  auto client = open(agent, with_session_id("s"));
  say(client, "one");
  kept.fail_next<save_snapshot_request>(1, errc::unavailable);
  client.send("two");
  const auto content = state::plain(payload::of(memo{{"one", "two"}}));
  ASSERT_TRUE(save_of_another(agent, "s", content, 0));
  client.send("pass");
  EXPECT_EQ(codes, (std::vector{errc::ok, errc::ok, errc::ok, errc::unavailable,
                                errc::aborted}));
  EXPECT_EQ(records_of(agent, "s").size(), 2u);
}

TEST_F(conversation_saves, no_runtime_overwrites_what_another_one_has_saved) {
  runtime other{system};
  const auto here = define_memo_in(*rt, "shared");
  const auto there = define_memo_in(other, "shared");
  const auto opening_there = [&](const auto&... options) {
    return there.opening_for(chunk_sink{}, with_session_id("s"), options...);
  };
  // The session is new or known, and it is changed within the turn or only at
  // its end.
  auto all = texts{};
  for (const std::string text : {"new", "known", "pass"}) {
    SCOPED_TRACE(text);
    auto first = open(here, with_session_id("s"));
    memo_client refused{system, other.front_desk(), opening_there()};
    run();
    EXPECT_TRUE(first.received().open);
    EXPECT_EQ(code_of(refused.received().refused), errc::failed_precondition);
    EXPECT_NE(to_status(refused.received().refused).message().find("process "),
              std::string::npos);
    say(first, text);
    if (text != "pass")
      all.push_back(text);
    // The next invocation continues from the saved state.
    memo_client second{system, other.front_desk(),
                       opening_there(with_take_over{})};
    run();
    expect_end(first, errc::cancelled);
    say(second, text + " later");
    all.push_back(text + " later");
    EXPECT_EQ(said_in(here, "s"), all);
    second.close();
    EXPECT_EQ(second.code(), errc::ok);
  }
  const auto found = ask<stored_session>(
    get_session_request{session_ref{here.info().key, session_id{"s"}}});
  EXPECT_TRUE(found && found->info.next_turn == 6u);
  other.stop();
  run();
}

TEST_F(conversation_saves,
       a_run_that_has_lost_its_lease_ends_at_its_next_save) {
  // The store behind the others ends the lease, and the run does not hear of
  // it.
  const auto lose_lease = [&](const connection_actor& holder) {
    const auto lost
      = ask<bool>(release_lease_request{caf::actor_cast<lease_holder>(holder)});
    EXPECT_TRUE(lost && *lost);
  };
  const auto expect_aborted = [&](auto& client, const std::string& agent) {
    lose_lease(client.received().open.value().connection);
    const auto before = records_of(agent, "s");
    if constexpr (std::is_same_v<std::decay_t<decltype(client)>, memo_client>)
      client.send("two");
    else
      client.send(remark("two"));
    expect_end(client, errc::aborted);
    EXPECT_EQ(to_status(client.received().end->reason).message(),
              "the lease of session \"s\" of " + agent + " has ended");
    EXPECT_EQ(records_of(agent, "s"), before);
  };
  for (const auto policy :
       {save_failure::fails_turn, save_failure::is_reported}) {
    const auto agent = define_keeping_memo(with_save_failure(policy));
    auto client = open(agent, with_session_id("s"));
    say(client, "one");
    expect_aborted(client, agent.info().key);
    EXPECT_EQ(said_in(agent, "s"), texts{"one"});
  }
  // A body that tries again is ended as well.
  const auto stubborn = define_stubborn(on_failure::goes_on, each_time);
  auto client = open(stubborn, with_session_id("s"));
  say(client, "one");
  expect_aborted(client, stubborn.info().key);
  // A chat agent saves only snapshots. One body ends with the error of a save,
  // and the other one catches it and goes on.
  const auto careless = ai::define_chat_agent(
    *rt, "careless",
    [](context, chat_session mine, chat_input in,
       chat_responder out) -> task<> {
      while (const auto input = co_await in.next()) {
        co_await mine.add_messages(input->messages);
        static_cast<void>(co_await as_expected(out.end_turn()));
      }
    },
    with_snapshot_store(store), each_time);
  for (const auto& chat : {define_chat(), careless}) {
    auto talk = open(chat, with_session_id("s"));
    talk.send(remark("one"));
    expect_aborted(talk, chat.info().key);
  }
  EXPECT_TRUE(all_left());
}

TEST_F(conversation_saves, a_change_whose_answer_was_lost_can_be_repeated) {
  const auto agent = define_stubborn(on_failure::tries_again);
  auto client = open(agent, with_session_id("s"));
  kept.lose_next<save_session_request>(2, errc::unavailable);
  kept.fail_next<save_session_request>(1, errc::unavailable);
  say(client, "one");
  EXPECT_EQ(said_in(agent, "s"), texts{"one!!!"});
  // More attempts than a session remembers.
  kept.lose_next<save_session_request>(20, errc::unavailable);
  say(client, "two");
  EXPECT_EQ(said_in(agent, "s"),
            (texts{"one!!!", "two" + std::string(23, '!')}));
  // The state saved meanwhile by another writer is not one of them.
  kept.lose_next<save_session_request>(1, errc::unavailable);
  kept.hang_next<save_session_request>(1);
  client.send("three");
  ASSERT_TRUE(
    save_of_another(agent, "s", state::plain(payload::of(memo{{"else"}})), 0));
  kept.answer_hung();
  run();
  EXPECT_EQ(codes[codes.size() - 3], errc::unavailable);
  EXPECT_EQ(codes[codes.size() - 2], errc::aborted) << "the change";
  EXPECT_EQ(codes.size(), 30u);
  EXPECT_EQ(said_in(agent, "s"), texts{"else"});
}

TEST_F(conversation_saves, a_change_that_is_not_saved_holds_up_no_other) {
  const auto agent = define_stubborn(on_failure::tries_again, each_time);
  auto client = open(agent, with_session_id("s"));
  kept.fail_next<save_session_request>(1, errc::unavailable);
  say(client, "one");
  EXPECT_EQ(codes, (std::vector{errc::unavailable, errc::ok, errc::ok}));
  EXPECT_EQ(said_in(agent, "s"), texts{"one!"});
  client.close();
  EXPECT_EQ(client.code(), errc::ok);
  EXPECT_TRUE(all_gone());
}

TEST_F(conversation_saves, a_change_during_a_save_is_in_the_next_snapshot) {
  using chat_session = ai::chat_session<memo>;
  const auto agent = ai::define_chat_agent(
    *rt, "busy",
    [&](context ctx, chat_session mine, input<ai::conversation_input> in,
        ai::chat_responder<nothing> out) -> task<> {
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
    with_snapshot_store(store), each_time);
  auto client = open(agent, with_session_id("s"));
  kept.hang_next<save_snapshot_request>(1);
  client.send(ai::conversation_input{});
  EXPECT_EQ(client.received().turns, 0u);
  kept.answer_hung();
  run();
  ASSERT_EQ(client.received().turns, 1u);
  client.close();
  ASSERT_EQ(client.code(), errc::ok);
  const auto output = client.output();
  EXPECT_EQ(output.state.custom.said, (texts{"x", "x"}));
  ASSERT_EQ(output.snapshot_ids.size(), 2u)
    << "the end has what the turn lacks";
  EXPECT_EQ(output.snapshot_ids.back().str(),
            to_string(ai::to_state(output.state).id()));
}

TEST_F(conversation_saves, messages_replaced_during_a_save_stay_replaced) {
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
      co_await when_all(mine.run_turns(ctx, turn), replace());
    },
    with_snapshot_store(store), each_time);
  auto client = open(flow, with_session_id("s"));
  kept.hang_next<save_snapshot_request>(1);
  client.send(ai::conversation_input{{ai::user_text("old")}});
  EXPECT_EQ(client.received().turns, 0u);
  advance(1s);
  kept.answer_hung();
  run();
  ASSERT_EQ(client.received().turns, 1u);
  client.close();
  ASSERT_EQ(client.code(), errc::ok);
  const auto output = client.output();
  ASSERT_EQ(output.state.messages.size(), 1u);
  EXPECT_EQ(output.state.messages.back().text(), "new");
}

TEST_F(conversation_saves, a_body_cannot_go_on_when_its_store_keeps_silent) {
  const auto agent = define_stubborn(on_failure::tries_again, each_time);
  auto client = open(agent, with_session_id("s"));
  kept.hang_next<save_snapshot_request>(1);
  client.send("one");
  EXPECT_EQ(client.received().ends, 0u);
  advance(30s);
  expect_end(client, errc::deadline_exceeded);
  kept.answer_hung(); // too late: the lease has ended with the run
  run();
  EXPECT_EQ(client.received().turns, 0u);
  EXPECT_EQ(client.received().ends, 1u);
  EXPECT_EQ(codes.size(), 1 + most_failures);
  EXPECT_TRUE(all_gone());
  EXPECT_TRUE(records_of(agent, "s").empty());
}

} // namespace tertulia::test::conversation_save_tests
