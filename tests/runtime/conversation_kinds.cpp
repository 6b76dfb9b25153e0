// SPDX-License-Identifier: BSD-3-Clause

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "support/faulty_conversations.hpp"

using namespace std::literals;

// Behaviour of agents that the other kinds of conversation share.

namespace tertulia::test::conversation_kinds_tests {

namespace {

struct topic {
  int turns = 0;
};

BOOST_DESCRIBE_STRUCT(topic, (), (turns))

struct progress {
  std::string name;
};

BOOST_DESCRIBE_STRUCT(progress, (), (name))

enum class kind { chat_agent, session_flow };
enum class trouble { refused, lost, hanging, deadly };

std::string name_of(kind x) {
  return x == kind::chat_agent ? "chat_agent" : "session_flow";
}

std::string name_of(const std::tuple<kind, trouble>& x) {
  constexpr const char* names[] = {"refused", "lost", "hanging", "deadly"};
  return name_of(std::get<kind>(x)) + '_'
         + names[static_cast<std::size_t>(std::get<trouble>(x))];
}

ai::conversation_input remark(std::string text) {
  return ai::conversation_input{
    std::vector<ai::message>(1, ai::user_text(std::move(text)))};
}

struct conversation_kinds : faulty_conversations {
  auto define_chat() {
    return ai::define_chat_agent(
      *rt, "chat",
      [](context, ai::session<topic> mine, input<ai::conversation_input> in,
         ai::responder<progress> out) -> task<> {
        while (const auto said = co_await in.next()) {
          co_await mine.add_messages(said->messages);
          co_await out.end_turn();
        }
      },
      with_snapshot_store(store), with_snapshot_callback(snapshot_always{}));
  }

  auto define_flow() {
    return ai::define_session_flow(
      *rt, "flow",
      [](context ctx, ai::flow_session<topic> mine,
         ai::flow_responder<progress>) -> task<> {
        co_await mine.run(ctx,
                          [](context, const ai::conversation_input&) -> task<> {
                            co_return;
                          });
      },
      with_snapshot_store(store));
  }

  /// Runs a test on a conversation of this kind.
  template <class Fn>
  void with(kind what, Fn fn) {
    if (what == kind::chat_agent)
      fn(define_chat());
    else
      fn(define_flow());
  }

  ai::message_log log_of(const std::string& key) {
    const auto found = ask<stored_session>(get_session{{key, session_id{"s"}}});
    return found ? found->content.messages() : ai::message_log{};
  }

  static std::vector<std::string> texts_of(const ai::message_log& log) {
    std::vector<std::string> result;
    for (const auto& x : log)
      result.push_back(x.text());
    return result;
  }
};

struct a_turn_whose_save_is
  : conversation_kinds,
    ::testing::WithParamInterface<std::tuple<kind, trouble>> {
  void break_next() {
    switch (std::get<trouble>(GetParam())) {
      case trouble::refused:
        kept.fail_next<save_snapshot>(1, errc::unavailable);
        break;
      case trouble::lost:
        kept.lose_next<save_snapshot>(1, errc::unavailable);
        break;
      case trouble::hanging: kept.hang_next<save_snapshot>(1); break;
      case trouble::deadly: kept.die_next<save_snapshot>(); break;
    }
  }
};

struct a_live_conversation : conversation_kinds,
                             ::testing::WithParamInterface<kind> {};

} // namespace

TEST_P(a_turn_whose_save_is, fails_and_the_next_invocation_goes_on) {
  const auto what = std::get<trouble>(GetParam());
  with(std::get<kind>(GetParam()), [&](const auto& agent) {
    const auto key = agent.info().key;
    const auto turn = [&](auto& client, const char* text) {
      client.send(remark(text));
      run();
    };
    {
      auto before = open(agent, with_session_id("s"));
      run();
      turn(before, "before");
      before.close();
      run();
      ASSERT_EQ(before.code(), errc::ok);
    }
    run();
    const auto records = records_of(key, "s");
    ASSERT_EQ(records.size(), 1u);

    auto client = open(agent, with_session_id("s"));
    run();
    break_next();
    turn(client, "broken");
    if (what == trouble::hanging)
      advance(30s);
    ASSERT_EQ(client.heard().ends, 1u);
    EXPECT_EQ(client.code(), what == trouble::hanging ? errc::deadline_exceeded
                                                      : errc::unavailable);
    run();
    const auto now = records_of(key, "s");
    // Only a record whose answer was lost has been saved.
    const auto saved = what == trouble::lost;
    ASSERT_EQ(now.size(), saved ? 2u : 1u);
    EXPECT_EQ(now[0].id, records[0].id);

    auto after = open(agent, with_session_id("s"));
    run();
    ASSERT_TRUE(after.heard().open);
    turn(after, "after");
    after.close();
    run();
    ASSERT_EQ(after.code(), errc::ok);
    const auto log = log_of(key);
    EXPECT_EQ(texts_of(log),
              saved ? (std::vector<std::string>{"before", "broken", "after"})
                    : (std::vector<std::string>{"before", "after"}));
    // No message refers to a snapshot that does not exist.
    std::set<std::string> known;
    const auto last = records_of(key, "s");
    for (const auto& x : last)
      known.insert(x.id.str());
    for (const auto& x : log) {
      const auto tag = x.metadata.find("snapshotId");
      if (tag != x.metadata.end()) {
        EXPECT_TRUE(known.contains(tag->second.template get<std::string>()));
      }
    }
    EXPECT_EQ(last.back().parent, now.back().sequence);
  });
}

INSTANTIATE_TEST_SUITE_P(
  conversation_kinds, a_turn_whose_save_is,
  ::testing::Combine(::testing::Values(kind::chat_agent, kind::session_flow),
                     ::testing::Values(trouble::refused, trouble::lost,
                                       trouble::hanging, trouble::deadly)),
  [](const auto& x) { return name_of(x.param); });

TEST_P(a_live_conversation, refuses_another_one_until_it_is_taken_over) {
  with(GetParam(), [&](const auto& agent) {
    auto first = open(agent, with_session_id("s"));
    run();
    first.send(remark("one"));
    run();
    ASSERT_EQ(first.heard().turns, 1u);
    auto second = open(agent, with_session_id("s"));
    run();
    EXPECT_FALSE(second.heard().open);
    EXPECT_EQ(code_of(second.heard().refused), errc::failed_precondition);
    auto third = open(agent, with_session_id("s"), with_take_over{});
    run();
    ASSERT_EQ(first.heard().ends, 1u);
    EXPECT_EQ(first.code(), errc::cancelled);
    ASSERT_TRUE(third.heard().open);
    third.send(remark("two"));
    run();
    third.close();
    run();
    ASSERT_EQ(third.code(), errc::ok);
    EXPECT_EQ(texts_of(log_of(agent.info().key)),
              (std::vector<std::string>{"one", "two"}));
  });
}

INSTANTIATE_TEST_SUITE_P(conversation_kinds, a_live_conversation,
                         ::testing::Values(kind::chat_agent,
                                           kind::session_flow),
                         [](const auto& x) { return name_of(x.param); });

} // namespace tertulia::test::conversation_kinds_tests
