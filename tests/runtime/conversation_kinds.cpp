// SPDX-License-Identifier: BSD-3-Clause

#include <set>
#include <string>
#include <tuple>

#include "support/faulty_conversations.hpp"

using namespace std::literals;

// Behaviour of agents that the other kinds of conversation share.

namespace tertulia::test::conversation_kinds_tests {

namespace {

enum class kind { chat_agent, session_flow };
BOOST_DESCRIBE_ENUM(kind, chat_agent, session_flow)

struct conversation_kinds : faulty_conversations {
  auto define_flow() {
    return ai::define_session_flow(
      *rt, "flow",
      [](context ctx, flow_session mine, flow_responder) -> task<> {
        co_await mine.run_turns(
          ctx,
          [](context, const ai::conversation_input&) -> task<> { co_return; });
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
    const auto found
      = ask<stored_session>(get_session_request{{key, session_id{"s"}}});
    return found ? found->content.messages() : ai::message_log{};
  }

  static texts texts_of(const ai::message_log& log) {
    texts result;
    for (const auto& x : log)
      result.push_back(x.text());
    return result;
  }
};

struct a_broken_save
  : conversation_kinds,
    ::testing::WithParamInterface<std::tuple<kind, store_fault>> {};

struct a_live_conversation : conversation_kinds,
                             ::testing::WithParamInterface<kind> {};

} // namespace

TEST_P(a_broken_save, fails_its_turn_and_the_next_invocation_goes_on) {
  const auto what = std::get<store_fault>(GetParam());
  with(std::get<kind>(GetParam()), [&](const auto& agent) {
    const auto key = agent.info().key;
    {
      auto before = open(agent, with_session_id("s"));
      before.send(remark("before"));
      before.close();
      ASSERT_EQ(before.code(), errc::ok);
    }
    run();
    const auto records = records_of(key, "s");
    ASSERT_EQ(records.size(), 1u);

    auto client = open(agent, with_session_id("s"));
    kept.break_next<save_snapshot_request>(what);
    client.send(remark("broken"));
    if (what == store_fault::hangs)
      advance(30s);
    expect_end(client, what == store_fault::hangs ? errc::deadline_exceeded
                                                  : errc::unavailable);
    run();
    const auto now = records_of(key, "s");
    // Only a record whose answer was lost has been saved.
    const auto saved = what == store_fault::loses_its_answer;
    ASSERT_EQ(now.size(), saved ? 2u : 1u);
    EXPECT_EQ(now[0].id, records[0].id);

    auto after = open(agent, with_session_id("s"));
    ASSERT_TRUE(after.received().open);
    after.send(remark("after"));
    after.close();
    ASSERT_EQ(after.code(), errc::ok);
    const auto log = log_of(key);
    EXPECT_EQ(texts_of(log), saved ? (texts{"before", "broken", "after"})
                                   : (texts{"before", "after"}));
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
  conversation_kinds, a_broken_save,
  ::testing::Combine(::testing::ValuesIn(all_of<kind>()),
                     ::testing::ValuesIn(all_of<store_fault>())),
  [](const auto& x) {
    return name_of(std::get<store_fault>(x.param)) + "_in_"
           + name_of(std::get<kind>(x.param));
  });

TEST_P(a_live_conversation, refuses_another_one_until_it_is_taken_over) {
  with(GetParam(), [&](const auto& agent) {
    auto first = open(agent, with_session_id("s"));
    first.send(remark("one"));
    ASSERT_EQ(first.received().turns, 1u);
    auto second = open(agent, with_session_id("s"));
    EXPECT_FALSE(second.received().open);
    EXPECT_EQ(code_of(second.received().refused), errc::failed_precondition);
    auto third = open(agent, with_session_id("s"), with_take_over{});
    expect_end(first, errc::cancelled);
    ASSERT_TRUE(third.received().open);
    third.send(remark("two"));
    third.close();
    ASSERT_EQ(third.code(), errc::ok);
    EXPECT_EQ(texts_of(log_of(agent.info().key)), (texts{"one", "two"}));
  });
}

INSTANTIATE_TEST_SUITE_P(conversation_kinds, a_live_conversation,
                         ::testing::ValuesIn(all_of<kind>()),
                         [](const auto& x) { return name_of(x.param); });

} // namespace tertulia::test::conversation_kinds_tests
