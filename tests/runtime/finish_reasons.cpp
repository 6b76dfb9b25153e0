// SPDX-License-Identifier: BSD-3-Clause

// The reason for which a turn ended: on the end of the turn, in the output and
// in the record.

#include <tertulia/ai/define_model.hpp>
#include <tertulia/ai/prompt_agent.hpp>
#include <tertulia/ask_store.hpp>

#include <optional>
#include <string>
#include <vector>

#include "support/conversations.hpp"

namespace tertulia::test::finish_reasons_tests {

namespace {

using reason = std::optional<ai::finish_reason>;
using enum ai::finish_reason;

/// Model that ends its answers for the reason that its last message names.
task<ai::model_response> answer(context, ai::generate_request asked,
                                ai::model_output) {
  const auto text = asked.messages.back().text();
  ai::model_response result{ai::model_text("said " + text)};
  if (text == "length")
    result.finish_reason = length;
  else if (text == "stop")
    result.finish_reason = stop;
  else if (text == "ask") {
    result.message->content.push_back(ai::part::request("ask", json::object()));
    result.finish_reason = stop;
  }
  co_return result;
}

struct finish_reasons : conversations {
  auto define_agent() {
    const auto model = ai::define_model(*rt, "model", answer);
    const auto ask = ai::define_tool(
      *rt, "ask", "Asks.", [](ai::tool_context ctx, nothing) -> task<json> {
        co_return co_await ctx.interrupt("well?");
      });
    return ai::define_prompt_agent(*rt, "chat",
                                   ai::prompt{model, ai::with_tools(ask)},
                                   with_snapshot_store(store));
  }

  template <class Talk>
  static void turn(Talk& talk, const std::string& text) {
    talk.send_text(text);
    read_turn(talk);
  }

  /// Takes one turn in a session of its own and returns the reason on its end.
  template <class Flow>
  reason reason_after(const Flow& flow, const std::string& text) {
    auto talk = flow.stream_bidi();
    EXPECT_FALSE(talk.finish_reason());
    turn(talk, text);
    const auto result = talk.finish_reason();
    EXPECT_EQ(finish(talk).finish_reason, result)
      << "the output has it as well";
    return result;
  }
};

} // namespace

TEST_F(finish_reasons, a_turn_ends_for_the_reason_of_its_last_answer) {
  const auto flow = define_agent();
  EXPECT_EQ(reason_after(flow, "stop"), stop);
  EXPECT_EQ(reason_after(flow, "length"), length);
  EXPECT_EQ(reason_after(flow, "ask"), interrupted);
  EXPECT_EQ(reason_after(flow, "nothing"), reason{});
}

TEST_F(finish_reasons,
       a_turn_without_a_reason_forgets_that_of_the_turn_before) {
  const auto flow = define_agent();
  auto talk = flow.stream_bidi();
  turn(talk, "length");
  turn(talk, "nothing");
  EXPECT_EQ(talk.finish_reason(), reason{});
}

TEST_F(finish_reasons, the_record_of_a_turn_has_it) {
  const auto flow = define_agent();
  const auto said = flow.run_text("length", my_session);
  EXPECT_EQ(said.finish_reason, length);
  const auto session
    = get_session(system, store, {flow.info().key, session_id{"mine"}});
  EXPECT_EQ(session.head.record.id, said.snapshot_id);
  EXPECT_EQ(session.head.record.finish_reason, length);
  EXPECT_EQ(flow.snapshots(said.session_id).back().finish_reason, length);
}

TEST_F(finish_reasons, a_turn_function_may_return_it) {
  const auto flow = define_flow([](context ctx, flow_session sess,
                                   flow_responder) -> task<> {
    const auto turn
      = [](context, const ai::conversation_input&) -> task<ai::finish_reason> {
      co_return blocked;
    };
    co_await sess.run_turns(ctx, turn);
  });
  EXPECT_EQ(reason_after(flow, "hi"), blocked);
}

TEST_F(finish_reasons, a_body_may_give_it_at_the_end_of_a_turn) {
  const auto chat = define_stored_chat(
    [](context, chat_session, chat_input in, chat_responder out) -> task<> {
      while (const auto input = co_await in.next())
        co_await out.end_turn(other);
    },
    each_turn);
  EXPECT_EQ(reason_after(chat, "hi"), other);
}

TEST_F(finish_reasons, an_agent_with_a_state_of_its_own_has_it_as_well) {
  const auto agent = define_stored(
    [](context, agent_session<notebook> sess, input<std::string> in,
       agent_responder<std::string> out) -> task<> {
      while (const auto word = co_await in.next()) {
        co_await sess.update([](notebook& x) { ++x.count; });
        co_await out.end_turn(length);
      }
    },
    each_turn);
  auto talk = agent.stream_bidi(my_session);
  talk.send("a");
  read_turn(talk);
  EXPECT_EQ(talk.finish_reason(), length);
  EXPECT_EQ(finish(talk).finish_reason, length);
  EXPECT_EQ(snapshots_of("mine").at(0).at("finishReason"), "length");
}

TEST_F(finish_reasons, a_generation_in_a_flow_that_the_body_calls_counts) {
  const auto model = ai::define_model(*rt, "model", answer);
  const auto inner = rt->define_bidi_flow(
    "inner", [model](context ctx, input<int>, output<int>) -> task<> {
      const auto chat = ctx.session<chat_session>();
      co_await ai::generate(ctx, model, ai::with_session(*chat));
    });
  const auto flow
    = define_turns([inner](context ctx, auto, const auto&, auto&) -> task<> {
        auto talk = co_await inner.open(ctx);
        talk.close();
        co_await talk.output();
      });
  EXPECT_EQ(reason_after(flow, "length"), length);
}

TEST_F(finish_reasons, a_generation_beside_the_session_does_not_count) {
  const auto model = ai::define_model(*rt, "model", answer);
  const auto flow
    = define_turns([model](context ctx, auto, const auto&, auto&) -> task<> {
        const ai::with_user_text question{"length"};
        co_await ai::generate(ctx, model, question);
      });
  EXPECT_EQ(reason_after(flow, "hi"), reason{});
}

TEST_F(finish_reasons, the_snapshot_that_a_session_continues_from_is_known) {
  const auto flow = define_agent();
  const auto said = flow.run_text("stop", my_session);
  const auto talk = flow.stream_bidi(my_session);
  EXPECT_EQ(talk.last_snapshot(), said.snapshot_id) << "before any turn";
}

} // namespace tertulia::test::finish_reasons_tests
