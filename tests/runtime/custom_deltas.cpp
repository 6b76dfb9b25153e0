// SPDX-License-Identifier: BSD-3-Clause

// Changes of the custom value as JSON Patches, for clients that request them.

#include <tertulia/ai/custom_view.hpp>
#include <tertulia/ai/prompt_agent.hpp>
#include <tertulia/when.hpp>

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "support/conversations.hpp"
#include "support/flows.hpp"
#include "support/gen_messages.hpp"
#include <rapidcheck/gtest.h>

namespace tertulia::test::custom_deltas_tests {

namespace {

using table = std::map<std::string, json>;

/// Function that changes the custom value once for each message of an input.
/// The text of a message is `key=value`.
const auto change_all =
  [](context, auto sess, const ai::conversation_input& input, auto&) -> task<> {
  for (const auto& x : input.messages) {
    const auto text = x.text();
    const auto at = text.find('=');
    const auto set = [&](table& all) {
      all[text.substr(0, at)] = parse_json<json>(text.substr(at + 1));
    };
    co_await sess.patch_custom(set);
  }
};

std::vector<ai::message> changes(const std::vector<std::string>& xs) {
  std::vector<ai::message> result;
  for (const auto& x : xs)
    result.push_back(ai::user_text(x));
  return result;
}

/// Fixture with clients that are threads.
struct custom_deltas : conversations {
  auto define_tables() {
    return define_turns<table>(change_all);
  }

  /// Takes one turn and returns the patches in it as texts.
  template <class Talk>
  static texts patches_of(Talk& talk, const std::vector<std::string>& xs) {
    talk.send_messages(changes(xs));
    texts result;
    for (const auto& x : talk.responses(patience))
      if (!x.custom_patch.is_null())
        result.push_back(to_json_text(x.custom_patch));
    return result;
  }
};

/// Fixture with a client that grants each credit itself.
struct custom_deltas_and_credit : flows {
  auto define_tables() {
    return ai::define_session_flow(
      *rt, "chat",
      [](context ctx, ai::flow_session<table> sess,
         ai::flow_responder<nothing> out) -> task<> {
        const auto turn
          = [&](context inner, const ai::conversation_input& input) {
              return change_all(inner, sess, input, out);
            };
        co_await sess.run_turns(ctx, turn);
      });
  }
};

} // namespace

TEST_F(custom_deltas, the_first_of_a_turn_is_whole_and_the_others_are_changes) {
  auto talk = define_tables().stream_bidi(ai::with_custom_deltas{});
  EXPECT_EQ(patches_of(talk, {"a=1", "b=2", "a=3"}),
            (texts{R"([{"op":"replace","path":"","value":{"a":1}}])",
                   R"([{"op":"add","path":"/b","value":2}])",
                   R"([{"op":"replace","path":"/a","value":3}])"}));
  EXPECT_EQ(patches_of(talk, {"b=4"}),
            texts{R"([{"op":"replace","path":"","value":{"a":3,"b":4}}])"});
  finish(talk);
}

TEST_F(custom_deltas, who_does_not_ask_gets_none) {
  auto talk = define_tables().stream_bidi();
  EXPECT_EQ(patches_of(talk, {"a=1"}), texts{});
  finish(talk);
}

TEST_F(custom_deltas, a_change_that_changes_nothing_is_not_sent) {
  auto talk = define_tables().stream_bidi(ai::with_custom_deltas{});
  EXPECT_EQ(patches_of(talk, {"a=1", "a=1"}).size(), 1u);
  EXPECT_EQ(patches_of(talk, {}), texts{});
  finish(talk);
}

TEST_F(custom_deltas, a_change_by_a_tool_comes_before_what_the_body_sends) {
  const auto set = ai::define_tool(
    *rt, "set", "", [](ai::tool_context ctx, nothing) -> task<> {
      const auto chat = ctx.session<ai::chat_session<table>>();
      co_await chat->patch_custom([](table& x) { x["tool"] = true; });
    });
  const auto flow = define_turns<table>(
    [set](context ctx, auto, const auto&, auto& out) -> task<> {
      co_await set.call(ctx);
      co_await out.send_text("done");
    });
  auto talk = flow.stream_bidi(ai::with_custom_deltas{});
  talk.send_messages(changes({"go"}));
  texts order;
  for (const auto& x : talk.responses(patience))
    if (x.chunk)
      order.push_back(x.chunk->text());
    else if (!x.custom_patch.is_null())
      order.push_back("patch");
  EXPECT_EQ(order, (texts{"patch", "done"}));
  finish(talk);
}

TEST_F(custom_deltas, only_a_conversation_with_a_custom_value_has_them) {
  define_notes("plain");
  auto request = rt->action("/agent/plain").opening_for(chunk_sink{});
  request.options.custom_deltas = true;
  caf::scoped_actor self{system};
  const auto desk = rt->front_desk();
  auto code = errc::ok;
  const auto sink = system.spawn([](chunk_sink::pointer) {
    return chunk_sink::behavior_type{[](const chunk_batch&) {},
                                     [](const input_credit&) {},
                                     [](const turn_end&) {},
                                     [](const completion&) {}};
  });
  request.client = sink;
  self->request(desk, patience, std::move(request))
    .receive([](const open_result&) {},
             [&](const caf::error& x) { code = code_of(x); });
  EXPECT_EQ(code, errc::invalid_argument);
  self->send_exit(sink, caf::exit_reason::user_shutdown);
}

TEST_F(custom_deltas, a_view_that_missed_a_change_says_so) {
  ai::custom_view<table> seen;
  ai::stream_chunk<nothing> x;
  EXPECT_FALSE(seen.apply(x)) << "no change";
  x.custom_patch
    = parse_json<json>(R"([{"op":"replace","path":"/a","value":1}])");
  EXPECT_EQ(error_of([&] { seen.apply(x); }).code(), errc::data_loss);
  EXPECT_FALSE(seen.value());
}

TEST_F(custom_deltas_and_credit, changes_without_credit_become_one) {
  auto client
    = open(define_tables(), ai::with_custom_deltas{}, with_chunk_window(1));
  client.send(ai::conversation_input{changes({"a=1", "b=2", "c=3", "a=4"})});
  ASSERT_EQ(client.received().chunks.size(), 1u);
  EXPECT_EQ(client.received().turns, 0u);
  client.grant(1);
  ASSERT_EQ(client.received().chunks.size(), 2u);
  EXPECT_EQ(to_json_text(client.received().chunks[1].custom_patch),
            R"([{"op":"replace","path":"/a","value":4},)"
            R"({"op":"add","path":"/b","value":2},)"
            R"({"op":"add","path":"/c","value":3}])");
  EXPECT_EQ(client.received().turns, 0u) << "the end of the turn waits behind";
  client.grant(1);
  EXPECT_EQ(client.received().turns, 1u);
}

TEST_F(custom_deltas_and_credit,
       a_change_that_changes_nothing_takes_no_credit) {
  auto client
    = open(define_tables(), ai::with_custom_deltas{}, with_chunk_window(2));
  client.send(ai::conversation_input{changes({"a=1", "a=1"})});
  EXPECT_EQ(client.received().chunks.size(), 1u);
  EXPECT_EQ(client.received().turns, 1u)
    << "the end of the turn takes the second credit";
}

TEST_F(custom_deltas_and_credit, a_change_comes_behind_what_was_said_before) {
  const auto flow = ai::define_session_flow(
    *rt, "racer",
    [](context ctx, ai::flow_session<table> sess,
       ai::flow_responder<nothing> out) -> task<> {
      const auto change = [&]() -> task<> {
        co_await sess.patch_custom([](table& x) { x["a"] = 1; });
      };
      const auto turn = [&](context, const ai::conversation_input&) -> task<> {
        for (int i = 0; i < 4; ++i)
          co_await out.send_text("x"); // until there is no credit
        // Both texts wait for credit before the change does. Two credits wake
        // both of them; the first one is sent and cancels the second one, whose
        // credit goes to the change while the first one is still gathered.
        co_await when_all(when_any(out.send_text("a"), out.send_text("b")),
                          change());
      };
      co_await sess.run_turns(ctx, turn);
    });
  // Two chunks of a window of four are sent as one message.
  auto client = open(flow, ai::with_custom_deltas{}, with_chunk_window(4));
  client.say("go");
  ASSERT_EQ(client.received().chunks.size(), 4u);
  client.grant(2);
  const auto& all = client.received().chunks;
  ASSERT_EQ(all.size(), 6u);
  ASSERT_TRUE(all[4].chunk);
  EXPECT_EQ(all[4].chunk->text(), "a");
  EXPECT_FALSE(all[5].custom_patch.is_null());
  EXPECT_EQ(client.received().gaps, 0u);
}

TEST_F(custom_deltas_and_credit, a_value_without_json_ends_the_connection) {
  const auto flow = ai::define_session_flow(
    *rt, "gauge",
    [](context ctx, ai::flow_session<double> sess,
       ai::flow_responder<nothing> out) -> task<> {
      const auto turn = [&](context, const ai::conversation_input&) -> task<> {
        co_await out.send_text("x"); // takes the only credit
        co_await sess.set_custom(std::numeric_limits<double>::quiet_NaN());
      };
      co_await sess.run_turns(ctx, turn);
    });
  auto client = open(flow, ai::with_custom_deltas{}, with_chunk_window(1));
  client.say("go");
  EXPECT_FALSE(client.received().end);
  client.grant(1);
  EXPECT_EQ(client.code(), errc::invalid_argument);
  EXPECT_EQ(client.received().ends, 1u);
}

RC_GTEST_FIXTURE_PROP(custom_deltas_and_credit,
                      a_view_has_the_value_at_the_end_of_each_turn, ()) {
  const auto flow = define_tables();
  auto client = open(flow, ai::with_custom_deltas{}, with_chunk_window(1));
  ai::custom_view<table> seen;
  table expected;
  std::size_t read = 0;
  for (auto turns = *rc::gen::inRange(1, 5); turns > 0; --turns) {
    const auto keys = rc::gen::element<std::string>("a", "b", "c", "d/e", "~");
    const auto count = *rc::gen::inRange(0, 6);
    std::vector<std::string> xs;
    for (auto i = 0; i < count; ++i) {
      const auto key = *keys;
      const auto value = *any_json();
      expected[key] = value;
      xs.push_back(key + '=' + to_json_text(value));
    }
    const auto before = client.received().turns;
    client.send(ai::conversation_input{changes(xs)});
    while (client.received().turns == before)
      client.grant(1);
    for (; read < client.received().chunks.size(); ++read)
      seen.apply(client.received().chunks[read]);
    if (count > 0)
      RC_ASSERT(seen.value() == expected);
  }
}

} // namespace tertulia::test::custom_deltas_tests
