// SPDX-License-Identifier: BSD-3-Clause

// A snapshot notice is a chunk like any other: it has a position and costs
// credit.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "support/faulty_conversations.hpp"

using namespace std::literals;

namespace tertulia::test::notices {

namespace {

struct snapshot_notices : faulty_conversations,
                          ::testing::WithParamInterface<std::uint32_t> {
  /// Defines a chat agent with this body.
  template <class Body, class Policy = snapshot_always>
  auto define_chat(Body body, Policy policy = {}) {
    return ai::define_chat_agent(
      *rt, "chat",
      [this, body](context ctx, chat_session mine, chat_input in,
                   chat_responder out) -> task<> {
        trails.emplace_back(ctx);
        const departure here{left};
        co_await body(ctx, mine, in, out);
      },
      with_snapshot_store(store), with_snapshot_callback(policy));
  }

  auto define_talkative() {
    return define_chat([](context, chat_session mine, chat_input in,
                          chat_responder out) -> task<> {
      while (auto input = co_await in.next()) {
        co_await mine.add_messages(input->messages);
        co_await out.send_text("yes");
        co_await out.send_text("indeed");
        co_await out.end_turn();
      }
    });
  }

  /// Adds 200 messages and takes a snapshot after each of them.
  task<> report(context ctx, chat_session mine) {
    for (int i = 0; i < 200; ++i) {
      co_await mine.add_messages(ai::user_text(std::to_string(i)));
      co_await trigger_snapshot(ctx, snapshot_event::tool_iteration_end);
    }
  }

  /// Reads, one chunk at a time, the output of a chat agent whose body calls
  /// `report`.
  template <class Chat>
  void expect_patience(const Chat& busy) {
    const auto window = GetParam();
    auto client = open(busy, with_chunk_window(window));
    EXPECT_LE(client.received().chunks.size(), window);
    advance(1h); // the client may read as late as it likes
    for (std::uint64_t granted = window; !client.received().end; ++granted) {
      ASSERT_LE(granted, 300u) << "nothing comes any more";
      ASSERT_LE(client.received().chunks.size(), granted);
      client.grant(1);
    }
    EXPECT_EQ(client.code(), errc::ok);
    EXPECT_EQ(client.received().chunks.size(), 200u);
    EXPECT_EQ(client.received().gaps, 0u);
    EXPECT_TRUE(all_gone());
  }

  /// Lets the client read all: the notice of the snapshot at the end of the
  /// invocation is the only one.
  template <class Client>
  void expect_one_notice(Client& client) {
    while (!client.received().end) {
      const auto before = client.received().chunks.size();
      client.grant(1);
      ASSERT_TRUE(client.received().end
                  || client.received().chunks.size() == before + 1)
        << "nothing comes any more";
    }
    EXPECT_EQ(client.code(), errc::ok);
    const auto& all = client.received().chunks;
    EXPECT_EQ(std::count_if(all.begin(), all.end(),
                            [](const auto& x) { return x.snapshot_created; }),
              1);
    const auto session = client.output().session_id;
    EXPECT_EQ(records_of("/agent/chat", session.str()).size(), 1u);
    EXPECT_EQ(client.received().gaps, 0u);
    EXPECT_TRUE(all_gone());
  }
};

} // namespace

TEST_P(snapshot_notices, stay_within_the_window_and_in_order) {
  const auto window = GetParam();
  constexpr std::uint64_t turns = 1'000;
  auto client = open(define_talkative(), with_chunk_window(window));
  std::uint64_t granted = window;
  const auto received = [&] { return client.received().next; };
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    client.send(remark("hello"));
    // Grants exactly as many chunks as have arrived, so the turn never runs
    // ahead of the client.
    for (int i = 0; client.received().turns == turn; ++i) {
      ASSERT_LT(i, 10) << "nothing comes any more in turn " << turn;
      ASSERT_LE(received(), granted);
      const auto more = window + received() - granted + (window == 0 ? 1 : 0);
      granted += more;
      client.grant(static_cast<std::uint32_t>(more));
    }
    ASSERT_LE(received(), granted);
    const auto rest = static_cast<std::int64_t>(window + received())
                      - static_cast<std::int64_t>(granted);
    if (rest > 0) {
      granted += static_cast<std::uint64_t>(rest);
      client.grant(static_cast<std::uint32_t>(rest));
    }
  }
  EXPECT_EQ(client.received().turns, turns);
  EXPECT_EQ(client.received().chunks.size(), 3 * turns);
  EXPECT_EQ(client.received().gaps, 0u);
  client.close();
  ASSERT_EQ(client.code(), errc::ok);
  EXPECT_EQ(client.received().end->length, client.received().next);
  std::uint64_t notices = 0;
  for (const auto& x : client.received().chunks)
    if (x.snapshot_created)
      ++notices;
  EXPECT_EQ(notices, turns);
  EXPECT_TRUE(all_gone());
}

TEST_P(snapshot_notices, wait_for_a_client_that_does_not_read) {
  expect_patience(define_chat(
    [this](context ctx, chat_session mine, chat_input,
           chat_responder) -> task<> { co_await report(ctx, mine); }));
}

TEST_P(snapshot_notices, of_a_flow_of_its_body_wait_for_its_client) {
  const auto worker = rt->define_bidi_flow(
    "worker", [this](context ctx, input<int>, output<int>) -> task<> {
      trails.emplace_back(ctx);
      const departure here{left};
      const auto mine = ctx.session<chat_session>();
      co_await report(ctx, *mine);
    });
  expect_patience(define_chat(
    [worker](context ctx, chat_session, chat_input, chat_responder) -> task<> {
      auto first = co_await worker.open(ctx);
      co_await first.output();
    }));
}

TEST_P(snapshot_notices, do_not_use_up_the_credit_of_a_flow_that_reads_them) {
  const auto chat = define_talkative();
  const auto window = GetParam();
  // The flow does something else between two chunks, so the next chunk may
  // arrive before the flow asks for it.
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
          auto input = remark("hello");
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
  reader.send(100);
  ASSERT_TRUE(reader.received().end) << "it waits for a chunk for ever";
  EXPECT_EQ(reader.output(), 100);
  EXPECT_TRUE(all_gone());
}

TEST_P(snapshot_notices, that_are_not_sent_cost_nothing) {
  const auto rounds = std::max(GetParam(), 1u);
  const auto chat
    = define_chat([rounds](context ctx, chat_session mine, chat_input in,
                           chat_responder out) -> task<> {
        co_await in.next();
        for (auto i = 0u; i < rounds; ++i) {
          co_await mine.add_messages(ai::user_text(std::to_string(i)));
          const auto made = co_await as_expected(
            trigger_snapshot(ctx, snapshot_event::tool_iteration_end));
          EXPECT_EQ(code_of(made.error()), errc::unavailable);
        }
        co_await out.send_text("still here");
      });
  auto client = open(chat, with_chunk_window(GetParam()));
  kept.fail_next<save_snapshot_request>(rounds, errc::unavailable);
  if (GetParam() == 0)
    client.grant(1);
  client.send(remark("hello"));
  ASSERT_FALSE(client.received().chunks.empty()) << "it waits for ever";
  const auto& first = client.received().chunks.front().chunk;
  ASSERT_TRUE(first);
  EXPECT_EQ(first->text(), "still here");
}

TEST_P(snapshot_notices, that_have_no_news_cost_nothing) {
  const auto rounds = std::max(GetParam(), 1u) + 1;
  const auto chat = define_chat(
    [rounds](context ctx, chat_session, chat_input,
             chat_responder out) -> task<> {
      for (auto i = 0u; i < rounds; ++i)
        co_await trigger_snapshot(ctx, snapshot_event::tool_iteration_end);
      co_await out.send_text("still here");
    },
    snapshot_on{snapshot_event::turn_end});
  auto client = open(chat, with_chunk_window(GetParam()));
  if (GetParam() == 0)
    client.grant(1);
  ASSERT_FALSE(client.received().chunks.empty()) << "it waits for ever";
}

TEST_P(snapshot_notices, come_behind_what_was_said_before) {
  const auto chat = define_chat([](context ctx, chat_session mine, chat_input,
                                   chat_responder out) -> task<> {
    co_await mine.add_messages(ai::user_text("x"));
    co_await out.send_text("first");
    co_await trigger_snapshot(ctx, snapshot_event::tool_iteration_end);
  });
  auto client = open(chat, with_chunk_window(GetParam()));
  for (auto i = 0; i < 2 && !client.received().end; ++i) {
    client.grant(1);
  }
  ASSERT_EQ(client.received().chunks.size(), 2u);
  EXPECT_TRUE(client.received().chunks[0].chunk);
  EXPECT_TRUE(client.received().chunks[1].snapshot_created);
  EXPECT_EQ(client.received().gaps, 0u);
}

TEST_P(snapshot_notices, that_do_not_come_end_a_body_that_goes_on) {
  const auto chat = define_chat([](context ctx, chat_session mine,
                                   chat_input in, chat_responder) -> task<> {
    co_await mine.add_messages(ai::user_text("x"));
    static_cast<void>(co_await as_expected(
      trigger_snapshot(ctx, snapshot_event::tool_iteration_end)));
    co_await in.next();
  });
  kept.hang_next<save_snapshot_request>(1);
  auto client = open(chat, with_chunk_window(GetParam()));
  if (GetParam() == 0)
    client.grant(1);
  advance(1h);
  ASSERT_TRUE(client.received().end) << "nobody knows what is kept";
  EXPECT_EQ(client.code(), errc::deadline_exceeded);
  kept.answer_hung();
  run();
}

TEST_P(snapshot_notices, that_nobody_waits_for_any_longer_are_not_sent) {
  const auto window = GetParam();
  const auto chat = define_chat([=](context ctx, chat_session mine,
                                    chat_input in,
                                    chat_responder out) -> task<> {
    for (auto i = 0u; i < window; ++i)
      co_await out.send_text("x"); // until there is no credit
    for (int i = 0; i < 10; ++i) {
      co_await mine.add_messages(ai::user_text(std::to_string(i)));
      const auto first = co_await when_any(
        trigger_snapshot(ctx, snapshot_event::tool_iteration_end), in.next());
      EXPECT_EQ(first.index(), 1u);
    }
  });
  auto client = open(chat, with_chunk_window(window));
  for (int i = 0; i < 10; ++i)
    client.send(remark("go on"));
  expect_one_notice(client);
}

TEST_P(snapshot_notices, of_a_flow_that_gives_up_are_not_sent) {
  const auto window = GetParam();
  const auto worker = rt->define_bidi_flow(
    "worker", [this](context ctx, input<int> in, output<int>) -> task<> {
      trails.emplace_back(ctx);
      const departure here{left};
      const auto mine = ctx.session<chat_session>();
      for (int i = 0; i < 10; ++i) {
        co_await mine->add_messages(ai::user_text(std::to_string(i)));
        const auto first = co_await when_any(
          trigger_snapshot(ctx, snapshot_event::tool_iteration_end), in.next());
        EXPECT_EQ(first.index(), 1u);
      }
      // The last one is dropped with its flow.
      co_await mine->add_messages(ai::user_text("last"));
      co_await trigger_snapshot(ctx, snapshot_event::tool_iteration_end);
    });
  const auto chat = define_chat([=](context ctx, chat_session, chat_input in,
                                    chat_responder out) -> task<> {
    for (auto i = 0u; i < window; ++i)
      co_await out.send_text("x"); // until there is no credit
    auto work = co_await worker.open(ctx);
    for (int i = 0; i < 10; ++i) {
      co_await in.next();
      co_await work.send(i);
    }
    co_await in.next();
  });
  auto client = open(chat, with_chunk_window(window));
  for (int i = 0; i < 11; ++i)
    client.send(remark("go on"));
  expect_one_notice(client);
}

TEST_P(snapshot_notices, of_a_flow_that_gives_up_and_stays_are_not_sent) {
  const auto window = GetParam();
  const auto worker = rt->define_bidi_flow(
    "worker", [](context ctx, input<int> in, output<int>) -> task<> {
      const auto mine = ctx.session<chat_session>();
      co_await mine->add_messages(ai::user_text("x"));
      const auto first = co_await when_any(
        trigger_snapshot(ctx, snapshot_event::tool_iteration_end), in.next());
      EXPECT_EQ(first.index(), 1u);
      co_await in.next();
    });
  const auto chat = define_chat([=](context ctx, chat_session, chat_input in,
                                    chat_responder out) -> task<> {
    for (auto i = 0u; i < window; ++i)
      co_await out.send_text("x"); // until there is no credit
    auto work = co_await worker.open(ctx);
    co_await in.next();
    co_await work.send(1);
    co_await out.send_text("after");
    co_await in.next();
  });
  auto client = open(chat, with_chunk_window(window));
  client.send(remark("go on"));
  client.grant(1);
  const auto& all = client.received().chunks;
  ASSERT_EQ(all.size(), window + 1u);
  ASSERT_TRUE(all.back().chunk);
  EXPECT_EQ(all.back().chunk->text(), "after");
}

INSTANTIATE_TEST_SUITE_P(conversation_faults, snapshot_notices,
                         ::testing::Values(0u, 1u, 2u, 64u),
                         ::testing::PrintToStringParamName());

} // namespace tertulia::test::notices
