// SPDX-License-Identifier: BSD-3-Clause

// Whatever goes wrong in a conversation, its client hears one error, what was
// stored stays, the session is free again and no actor is left.

#include <tertulia/span_recorder.hpp>

#include <algorithm>
#include <memory>
#include <tuple>

#include "support/faulty_conversations.hpp"

using namespace std::literals;

namespace tertulia::test {

namespace {

using strings = std::vector<std::string>;

// -- a store that fails -------------------------------------------------------

/// In the middle of what the store fails.
enum class work { opening, restoring, change, turn_end, invocation_end };

/// How it does.
enum class fault { fails, loses_its_answer, hangs, dies };

std::string name_of(work x) {
  constexpr const char* names[]
    = {"opening", "restoring", "change", "turn_end", "invocation_end"};
  return names[static_cast<std::size_t>(x)];
}

std::string name_of(fault x) {
  constexpr const char* names[]
    = {"fails", "loses_its_answer", "hangs", "dies"};
  return names[static_cast<std::size_t>(x)];
}

struct a_store_that : faulty_conversations,
                      ::testing::WithParamInterface<std::tuple<work, fault>> {
  template <class Verb>
  void break_next() {
    switch (std::get<fault>(GetParam())) {
      case fault::fails: kept.fail_next<Verb>(1, errc::unavailable); break;
      case fault::loses_its_answer:
        kept.lose_next<Verb>(1, errc::unavailable);
        break;
      case fault::hangs: kept.hang_next<Verb>(1); break;
      case fault::dies: kept.die_next<Verb>(); break;
    }
  }

  void wait_out() {
    if (std::get<fault>(GetParam()) == fault::hangs)
      advance(30s);
  }

  errc expected() const {
    return std::get<fault>(GetParam()) == fault::hangs ? errc::deadline_exceeded
                                                       : errc::unavailable;
  }

  /// The memo that fits the work: the end of an invocation finds something to
  /// store only if no turn has stored it before.
  memo_agent define() {
    if (std::get<work>(GetParam()) == work::invocation_end)
      return define_memo(
        with_snapshot_callback(snapshot_on{snapshot_event::invocation_end}));
    return define_keeping_memo();
  }
};

} // namespace

TEST_P(a_store_that, fails_the_invocation_once_and_spoils_nothing) {
  const auto what = std::get<work>(GetParam());
  const auto agent = define();
  std::string first_snapshot;
  { // what must not be lost
    auto before = open(agent, with_session_id("s"));
    run();
    say(before, "before");
    before.close();
    run();
    ASSERT_EQ(before.code(), errc::ok);
    first_snapshot = before.output().snapshot_ids.at(0).str();
  }
  run();
  const auto records = records_of(agent, "s");
  ASSERT_EQ(records.size(), 1u);

  switch (what) {
    case work::opening: break_next<get_session>(); break;
    case work::restoring: break_next<restore_snapshot>(); break;
    default: break;
  }
  const auto options = agent.opening_for(chunk_sink{}, with_session_id("s"));
  auto opening = options;
  if (what == work::restoring) {
    opening.options.session = {};
    opening.options.snapshot = snapshot_id{first_snapshot};
  }
  memo_client client{system, rt->front_desk(), opening};
  run();
  switch (what) {
    case work::opening:
    case work::restoring:
      wait_out();
      EXPECT_FALSE(client.heard().open);
      EXPECT_EQ(code_of(client.heard().refused), expected());
      EXPECT_EQ(client.heard().ends, 0u);
      break;
    case work::change:
      break_next<save_session>();
      client.send("lost");
      break;
    case work::turn_end:
      break_next<save_snapshot>();
      client.send("lost");
      break;
    case work::invocation_end:
      say(client, "lost");
      break_next<save_snapshot>();
      client.close();
      break;
  }
  run();
  if (client.heard().open) {
    wait_out();
    ASSERT_EQ(client.heard().ends, 1u);
    EXPECT_EQ(client.code(), expected());
  }
  EXPECT_TRUE(all_left());
  EXPECT_EQ(extra_actors(), 1u); // the client

  // What was stored is there, whatever else is.
  const auto now = records_of(agent, "s");
  ASSERT_GE(now.size(), 1u);
  EXPECT_EQ(now[0].id, records[0].id);
  EXPECT_EQ(said_in(agent, "s").at(0), "before");

  // The session is free at once and goes on from there.
  auto after = open(agent, with_session_id("s"));
  run();
  ASSERT_TRUE(after.heard().open) << to_status(after.heard().refused).message();
  say(after, "after");
  after.close();
  run();
  ASSERT_EQ(after.code(), errc::ok);
  const auto state = after.output().state.said;
  EXPECT_EQ(state.front(), "before");
  EXPECT_EQ(state.back(), "after");
  EXPECT_EQ(said_in(agent, "s"), state);
  const auto last = records_of(agent, "s");
  EXPECT_EQ(last.back().parent, now.back().sequence);
  EXPECT_TRUE(all_gone());
  EXPECT_EQ(records_of(agent, "s").size(), last.size()); // too late to save
}

INSTANTIATE_TEST_SUITE_P(
  conversation_faults, a_store_that,
  ::testing::Combine(::testing::Values(work::opening, work::restoring,
                                       work::change, work::turn_end,
                                       work::invocation_end),
                     ::testing::Values(fault::fails, fault::loses_its_answer,
                                       fault::hangs, fault::dies)),
  [](const auto& x) {
    return name_of(std::get<fault>(x.param)) + "_in_"
           + name_of(std::get<work>(x.param));
  });

// -- whoever goes away --------------------------------------------------------

namespace {

/// What the conversation is doing.
enum class moment {
  opening,
  idle,
  waiting_for_the_session,
  waiting_for_the_store,
  waiting_for_credit,
  waiting_for_credit_at_its_turn_end,
  ending,
};

/// What happens to it.
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

std::string name_of(moment x) {
  constexpr const char* names[] = {"opening",
                                   "idle",
                                   "waiting_for_the_session",
                                   "waiting_for_the_store",
                                   "waiting_for_credit",
                                   "waiting_for_credit_at_its_turn_end",
                                   "ending"};
  return names[static_cast<std::size_t>(x)];
}

std::string name_of(event x) {
  constexpr const char* names[] = {"cancelled",
                                   "late",
                                   "taken_over",
                                   "stopped",
                                   "left",
                                   "without_session",
                                   "without_responder",
                                   "without_connection"};
  return names[static_cast<std::size_t>(x)];
}

/// What the client hears of it.
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

  tertulia::open opening(const memo_agent& agent) {
    auto result = agent.opening_for(chunk_sink{}, with_session_id("s"));
    if (std::get<event>(GetParam()) == event::deadline)
      result.options.deadline = 10s;
    switch (std::get<moment>(GetParam())) {
      case moment::opening: kept.hang_next<get_session>(1); break;
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
        kept.hang_next<save_session>(1);
        client.send("now");
        break;
      case moment::waiting_for_the_store:
        kept.hang_next<save_snapshot>(1);
        client.send("now");
        break;
      case moment::waiting_for_credit:
      case moment::waiting_for_credit_at_its_turn_end:
        client.send("now");
        break;
      case moment::ending:
        say(client, "now");
        kept.hang_next<save_snapshot>(1);
        client.close();
        break;
    }
    run();
  }

  static void kill(const caf::actor& x) {
    ASSERT_TRUE(x);
    caf::anon_send_exit(x, caf::exit_reason::kill);
  }
};

} // namespace

TEST_P(a_conversation, has_one_end_and_leaves_nothing) {
  const auto [when, what] = GetParam();
  const auto agent = define();
  {
    auto before = open(agent, with_session_id("s"));
    run();
    say(before, "before");
    before.close();
    run();
    ASSERT_EQ(before.code(), errc::ok);
  }
  run();
  const auto records = records_of(agent, "s");
  ASSERT_EQ(records.size(), 1u);

  memo_client client{system, rt->front_desk(), opening(agent)};
  run();
  ASSERT_EQ(client.heard().open.has_value(), when != moment::opening);
  reach(client);
  ASSERT_EQ(client.heard().ends, 0u);

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
    EXPECT_EQ(client.heard().ends, 0u);
  } else if (when == moment::opening) {
    EXPECT_EQ(code_of(client.heard().refused), code_of_event(what));
    EXPECT_EQ(client.heard().ends, 0u);
  } else {
    ASSERT_EQ(client.heard().ends, 1u);
    EXPECT_EQ(client.code(), code_of_event(what));
    EXPECT_EQ(client.heard().gaps, 0u);
  }

  if (other) {
    ASSERT_TRUE(other->heard().open)
      << to_status(other->heard().refused).message();
    const auto error = when == moment::opening ? client.heard().refused
                                               : client.heard().end->reason;
    EXPECT_EQ(to_status(error).message(),
              "another invocation took over the session");
    EXPECT_EQ(extra_actors(), 3u); // two clients and a connection
    other->close();
    run();
    EXPECT_EQ(other->code(), errc::ok);
  }
  const auto clients
    = (other ? 2u : 1u) - (what == event::client_dies ? 1u : 0u);
  if (what != event::stop) { // then even the front desk has gone
    EXPECT_EQ(extra_actors(), clients);
  }
  EXPECT_TRUE(all_left());
  EXPECT_EQ(records_of(agent, "s").at(0).id, records[0].id);
  if (what == event::stop) {
    EXPECT_TRUE(all_gone());
    return;
  }

  // Free at once, whatever the store still has to do.
  auto after = open(agent, with_session_id("s"));
  run();
  ASSERT_TRUE(after.heard().open) << to_status(after.heard().refused).message();
  say(after, "after");
  after.close();
  run();
  ASSERT_EQ(after.code(), errc::ok);
  const auto state = after.output().state.said;
  EXPECT_EQ(state.front(), "before");
  EXPECT_EQ(state.back(), "after");
  EXPECT_TRUE(all_gone());
}

INSTANTIATE_TEST_SUITE_P(
  conversation_faults, a_conversation, ::testing::ValuesIn([] {
    std::vector<std::tuple<moment, event>> result;
    for (auto when :
         {moment::opening, moment::idle, moment::waiting_for_the_session,
          moment::waiting_for_the_store, moment::waiting_for_credit,
          moment::waiting_for_credit_at_its_turn_end, moment::ending})
      for (auto what : {event::cancel, event::deadline, event::take_over,
                        event::stop, event::client_dies, event::session_dies,
                        event::responder_dies, event::connection_dies}) {
        // A client cannot reach what has not opened, and nor can a test.
        const auto reachable
          = what == event::deadline || what == event::take_over
            || what == event::stop || what == event::client_dies;
        if (when != moment::opening || reachable)
          result.emplace_back(when, what);
      }
    return result;
  }()),
  [](const auto& x) {
    return name_of(std::get<event>(x.param)) + "_while_"
           + name_of(std::get<moment>(x.param));
  });

// -- the rest -----------------------------------------------------------------

namespace {

struct conversation_faults : faulty_conversations {
  /// An agent on a store that stands on its own.
  memo_agent define_on(managed_store other) {
    return rt->define_agent(
      "alone",
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

/// A store whose sessions all have a snapshot that is not what its id says.
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
  const auto agent = rt->define_agent(
    "alone",
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
  rt->traces().listen(recorder);
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
  const auto agent = rt->define_agent(
    "stubborn",
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
  // With and without a change between the two tries.
  for (const auto* const name : {"s", "t"}) {
    const auto changes = *name == 't';
    const auto agent = rt->define_agent(
      std::string{"stubborn-"} + name,
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
    // Nor can the store be asked at first.
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
  const auto agent = rt->define_agent(
    "patient",
    [&codes](context, session<memo> mine, input<std::string> in,
             responder<std::string> out) -> task<int> {
      while (auto text = co_await in.next()) {
        co_await mine.update([&](memo& x) { x.said.push_back(*text); });
        const auto ended = co_await as_expected(out.end_turn());
        codes.push_back(ended ? errc::ok : code_of(ended.error()));
      }
      co_return 0;
    },
    with_session_store(store), with_snapshot_callback(snapshot_always{}));
  const auto others
    = {state::plain(payload::of(memo{{"else"}})),
       // the same text, and it means something else
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
    // That was not stored, and then somebody else is faster.
    auto record = records_of(agent.info().key, name).at(0);
    record.parent = record.sequence;
    record.state = content.id();
    record.id = snapshot_id{record.state.str()};
    ASSERT_TRUE(ask<saved_snapshot>(
      save_snapshot{record, content, append_rule::at_head}));
    client.send("three");
    run();
    EXPECT_EQ(codes, (std::vector{errc::ok, errc::unavailable, errc::aborted}))
      << content.text();
  }
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
  EXPECT_EQ(extra_actors(), 2u);
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
  EXPECT_EQ(extra_actors(), 1u);
}

TEST_F(conversation_faults, a_body_cannot_go_on_when_its_store_keeps_silent) {
  auto tries = 0;
  const auto agent = rt->define_agent(
    "stubborn",
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
  kept.answer_hung(); // nobody tells the client of it
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
      // `unavailable` is what the body hears that waits for its answer.
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
  kept.answer_hung(); // a head that has moved is not overrun
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

// -- credit -------------------------------------------------------------------

namespace {

struct no_status {};
BOOST_DESCRIBE_STRUCT(no_status, (), ())

struct snapshot_notices : faulty_conversations,
                          ::testing::WithParamInterface<std::uint32_t> {
  using chunk = ai::stream_chunk<no_status>;

  auto define_chat() {
    return ai::define_agent(
      *rt, "chat",
      [this](context ctx, ai::session<no_status> mine,
             input<ai::conversation_input> in,
             ai::responder<no_status> out) -> task<> {
        trails.emplace_back(ctx);
        const departure here{left};
        while (auto said = co_await in.next()) {
          co_await mine.add_messages(said->messages);
          co_await out.send_text("yes");
          co_await out.send_text("indeed");
          co_await out.end_turn();
        }
      },
      with_snapshot_store(store), with_snapshot_callback(snapshot_always{}));
  }

  static ai::conversation_input hello() {
    std::vector<ai::message> messages;
    messages.push_back(ai::user_text("hello"));
    return ai::conversation_input{std::move(messages)};
  }
};

} // namespace

TEST_P(snapshot_notices, stay_within_one_chunk_of_the_window_and_in_order) {
  const auto window = GetParam();
  constexpr std::uint64_t turns = 1'000;
  auto client = open(define_chat(), with_chunk_window(window));
  run();
  std::uint64_t granted = window;
  const auto heard
    = [&] { return client.heard().next_chunk + client.heard().turns; };
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    client.send(hello());
    run();
    // Grants exactly what came, and never so much that the turn runs past it.
    for (int i = 0; client.heard().turns == turn; ++i) {
      ASSERT_LT(i, 10) << "nothing comes any more in turn " << turn;
      ASSERT_LE(heard(), granted + 1);
      const auto more = window + heard() - granted + (window == 0 ? 1 : 0);
      granted += more;
      client.grant(static_cast<std::uint32_t>(more));
      run();
    }
    ASSERT_LE(heard(), granted + 1);
    const auto rest = static_cast<std::int64_t>(window + heard())
                      - static_cast<std::int64_t>(granted);
    if (rest > 0) {
      granted += static_cast<std::uint64_t>(rest);
      client.grant(static_cast<std::uint32_t>(rest));
    }
    run();
  }
  EXPECT_EQ(client.heard().turns, turns);
  EXPECT_EQ(client.heard().next_chunk, 3 * turns);
  EXPECT_EQ(client.heard().gaps, 0u);
  client.close();
  run();
  ASSERT_EQ(client.code(), errc::ok);
  EXPECT_EQ(client.heard().end->chunks, client.heard().next_chunk);
  std::uint64_t notices = 0;
  for (const auto& x : client.heard().chunks)
    if (x.snapshot_created)
      ++notices;
  EXPECT_EQ(notices, turns);
  EXPECT_TRUE(all_gone());
}

TEST_P(snapshot_notices, wait_for_a_client_that_does_not_read) {
  const auto window = GetParam();
  const auto busy = ai::define_agent(
    *rt, "busy",
    [this](context ctx, ai::session<no_status> mine,
           input<ai::conversation_input>, ai::responder<no_status>) -> task<> {
      trails.emplace_back(ctx);
      const departure here{left};
      for (int i = 0; i < 200; ++i) {
        co_await mine.add_messages(ai::user_text(std::to_string(i)));
        co_await trigger_snapshot(ctx, snapshot_event::tool_iteration_end);
      }
    },
    with_snapshot_store(store), with_snapshot_callback(snapshot_always{}));
  auto client = open(busy, with_chunk_window(window));
  run();
  EXPECT_LE(client.heard().next_chunk, window + 1u);
  for (std::uint64_t granted = window; !client.heard().end; ++granted) {
    ASSERT_LE(granted, 300u) << "nothing comes any more";
    ASSERT_LE(client.heard().next_chunk, granted + 1);
    client.grant(1);
    run();
  }
  EXPECT_EQ(client.code(), errc::ok);
  EXPECT_EQ(client.heard().next_chunk, 200u);
  EXPECT_EQ(client.heard().gaps, 0u);
  EXPECT_TRUE(all_gone());
}

TEST_P(snapshot_notices, do_not_use_up_the_credit_of_a_flow_that_reads_them) {
  const auto chat = define_chat();
  const auto window = GetParam();
  // Between any two chunks it does something else, so the next may be there
  // before it asks.
  using echo_actor = protocol<caf::result<int>(int)>;
  const echo_actor echo = system.spawn<caf::hidden>([](echo_actor::pointer) {
    return echo_actor::behavior_type{[](int x) { return x; }};
  });
  auto reader
    = open_to([&](context ctx, input<int> turns, output<int>) -> task<int> {
        const auto count = co_await turns.next();
        auto talk = co_await chat.open(ctx, with_chunk_window(window));
        int notices = 0;
        for (int i = 0; i < *count; ++i) {
          auto input = hello();
          co_await talk.send(std::move(input));
          while (auto x = co_await talk.next()) {
            const auto one = x->snapshot_created.empty() ? 0 : 1;
            notices += co_await ctx.ask(echo, 1s, one);
          }
        }
        talk.close();
        co_await talk.output();
        co_return notices;
      });
  run();
  reader.send(100);
  run();
  ASSERT_TRUE(reader.heard().end) << "it waits for a chunk for ever";
  EXPECT_EQ(reader.output(), 100);
  EXPECT_TRUE(all_gone());
}

INSTANTIATE_TEST_SUITE_P(conversation_faults, snapshot_notices,
                         ::testing::Values(0u, 1u, 2u, 64u),
                         ::testing::PrintToStringParamName());

} // namespace tertulia::test
