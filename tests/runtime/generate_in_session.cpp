// SPDX-License-Identifier: BSD-3-Clause

// Loop of model and tools in a session flow, and its effect on the
// conversation.

#include <tertulia/ai/session_flow.hpp>
#include <tertulia/memory_store.hpp>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/scripted_model.hpp"
#include "support/states.hpp"

using namespace std::literals;

namespace tertulia::test::generate_in_session_tests {

namespace {

/// Returns whether every tool request has exactly one response, in the message
/// after it.
bool is_whole(const ai::message_log& all) {
  using calls = std::multiset<std::pair<std::string, std::string>>;
  calls open;
  for (const auto& x : all) {
    calls requests;
    calls responses;
    for (const auto& part : x.content) {
      if (const auto* wanted = part.as_request())
        requests.emplace(wanted->name, wanted->ref);
      if (const auto* done = part.as_response())
        responses.emplace(done->name, done->ref);
    }
    if (responses != open)
      return false;
    open = requests;
  }
  return open.empty();
}

/// Fixture of a session flow whose turns are answered by the scripted model.
struct generate_in_session : generating {
  using chunk = ai::stream_chunk<nothing>;

  /// @param more further options of the generation.
  template <class... Options>
  auto define_chat(const Options&... more) {
    return ai::define_session_flow(
      *rt, "chat",
      [=, this](context ctx, ai::flow_session<notebook> sess,
                ai::flow_responder<nothing> out) -> task<> {
        const auto turn
          = [&](context inner, const ai::conversation_input&) -> task<> {
          co_await ai::generate_stream(inner, model(), out,
                                       ai::with_session(sess), more...);
        };
        co_await sess.run_turns(ctx, turn);
      },
      with_snapshot_store(store), with_client_states{});
  }

  /// Returns the states of all snapshots, oldest first: their messages, as
  /// lines.
  template <class Client>
  std::vector<lines> snapshots(const Client& client) {
    std::vector<lines> result;
    for (const auto& x : client.received().chunks)
      if (x.snapshot_created) {
        json query;
        query["snapshotId"] = x.snapshot_created.str();
        auto asking = open(rt->action("/snapshot-store/chat/getSnapshot"));
        asking.send(query);
        asking.close();
        result.push_back(lines_of(from_json<ai::message_log>(
          asking.output().at("state").at("messages"))));
      }
    return result;
  }

  managed_store store = spawn_memory_store(system);
};

} // namespace

TEST_F(generate_in_session, the_session_has_what_was_said) {
  answers(asks("add", 1, 2), "3", "Bye");
  auto client = open(define_chat(ai::with_tools(define_add())));
  say(client, "1+2?");
  say(client, "Thanks");
  client.close();
  const lines all{"user: 1+2?",   R"(model: add({"a":1,"b":2}))",
                  "tool: add=3",  "model: 3",
                  "user: Thanks", "model: Bye"};
  EXPECT_EQ(lines_of(client.output().state.messages), all);
  EXPECT_EQ(received(2), lines(all.begin(), all.end() - 1));
  lines streamed;
  for (const auto& x : client.received().chunks)
    if (x.chunk && x.chunk->role == ai::role::tool)
      streamed.push_back(
        to_json_text(x.chunk->content[0].as_response()->output));
  EXPECT_EQ(streamed, lines{"3"}) << "the client sees what tools gave back";
}

TEST_F(generate_in_session, a_tool_changes_the_session) {
  const auto count = ai::define_tool(
    *rt, "count", "", [](ai::tool_context ctx, nothing) -> task<int> {
      const auto sess = ctx.session<ai::chat_session<notebook>>();
      co_await sess->patch_custom([](notebook& x) { ++x.count; });
      const auto now = co_await sess->custom();
      co_return now.count;
    });
  answers(model_says(ai::part::request("count", json::object(), "x"),
                     ai::part::request("count", {}, "y")),
          model_says());
  auto client = open(define_chat(ai::with_tools(count)));
  say(client, "Count!");
  client.close();
  EXPECT_EQ(client.output().state.custom.count, 2);
}

TEST_F(generate_in_session, each_round_of_tools_is_worth_a_snapshot) {
  answers(asks("add", 1, 2), asks("add", 3, 3), "6");
  auto client = open(define_chat(ai::with_tools(define_add())));
  say(client, "1+2+3?");
  const lines all{"user: 1+2+3?", R"(model: add({"a":1,"b":2}))",
                  "tool: add=3",  R"(model: add({"a":3,"b":3}))",
                  "tool: add=6",  "model: 6"};
  EXPECT_EQ(snapshots(client),
            (std::vector{lines(all.begin(), all.begin() + 3),
                         lines(all.begin(), all.begin() + 5), all}))
    << "no request without its response";
}

TEST_F(generate_in_session, a_failure_leaves_no_request_without_response) {
  answers(asks("add", 1, 2), asks("bad", 1, 2), "Hello again");
  const auto bad
    = define_bad(status_error{errc::data_loss, "gone"},
                 ai::with_tool_failure(ai::tool_failure::fails_turn));
  const auto add = define_add();
  const auto flow = ai::define_session_flow(
    *rt, "chat",
    [&](context ctx, ai::flow_session<notebook> sess,
        ai::flow_responder<nothing>) -> task<> {
      const auto turn
        = [&](context inner, const ai::conversation_input&) -> task<> {
        auto made = ai::generate(inner, model(), ai::with_session(sess),
                                 ai::with_tools(add, bad));
        const auto done = co_await as_expected(std::move(made));
        if (!done)
          co_await sess.add_messages(ai::model_text("Sorry."));
      };
      co_await sess.run_turns(ctx, turn);
    });
  auto client = open(flow);
  say(client, "1+2?");
  say(client, "Hello?");
  client.close();
  EXPECT_EQ(lines_of(client.output().state.messages),
            (lines{"user: 1+2?", R"(model: add({"a":1,"b":2}))", "tool: add=3",
                   "model: Sorry.", "user: Hello?", "model: Hello again"}));
}

TEST_F(generate_in_session, a_cancel_leaves_a_history_to_go_on_with) {
  answers("Hello!", asks("slow", 1, 2), "Here I am.");
  const auto flow = define_chat(ai::with_tools(define_slow()));
  auto client = open(flow, with_session_id("s"));
  say(client, "Hi");
  say(client, "Wait.");
  client.cancel();
  EXPECT_EQ(client.code(), errc::cancelled);
  EXPECT_EQ(slow_left, 1);
  auto again = open(flow, with_session_id("s"));
  say(again, "Where are you?");
  again.close();
  EXPECT_EQ(lines_of(again.output().state.messages),
            (lines{"user: Hi", "model: Hello!", "user: Where are you?",
                   "model: Here I am."}));
}

TEST_F(generate_in_session, wherever_a_turn_is_cancelled_the_history_is_whole) {
  const auto flow = define_chat(ai::with_tools(define_add()));
  auto cancelled = 0;
  for (auto steps = 0, over = 0; over == 0; ++steps) {
    script->asked.clear();
    script->answers.clear();
    answers(model_says(asks("add", 1, 2, "x"), asks("add", 3, 4, "y")),
            asks("add", 5, 6), "Done.");
    const auto id = "s" + std::to_string(steps);
    auto client = open(flow, with_session_id(id));
    client.post(ai::conversation_input{{ai::user_text("Add!")}});
    for (auto i = 0; i < steps && sched.has_job(); ++i)
      sched.run_once();
    over = static_cast<int>(client.received().turns);
    client.cancel();
    cancelled += over == 0 ? 1 : 0;
    for (const auto& asked : script->asked)
      EXPECT_TRUE(is_whole(asked.messages)) << steps;
    script->asked.clear();
    script->answers.clear();
    answers("Here I am.");
    auto again = open(flow, with_session_id(id));
    say(again, "Well?");
    ASSERT_EQ(script->asked.size(), 1u) << steps;
    EXPECT_TRUE(is_whole(script->asked[0].messages)) << steps;
    again.close();
    ASSERT_EQ(again.code(), errc::ok) << steps;
    EXPECT_EQ(again.output().state.messages.back().text(), "Here I am.");
  }
  EXPECT_GT(cancelled, 20) << "the turn was cancelled at many places";
}

TEST_F(generate_in_session, a_tool_that_takes_its_time_delays_nobody_else) {
  const auto flow = define_chat(ai::with_tools(define_slow()));
  answers(asks("slow", 1, 0), "Hello!", "1");
  auto slow = open(flow);
  auto other = open(flow);
  say(slow, "Take a second");
  say(other, "Hi");
  EXPECT_EQ(slow.received().turns, 0u);
  EXPECT_EQ(other.received().turns, 1u) << "without the clock being moved";
  advance(1s);
  EXPECT_EQ(slow.received().turns, 1u);
}

TEST_F(generate_in_session, what_another_program_left_open_is_closed) {
  ai::conversation_state<notebook> left;
  left.messages
    = left.messages.with(ai::user_text("1+2, 3+4?"))
        .with(model_says(asks("add", 1, 2, "x"), asks("add", 3, 4, "y")));
  answers("Sorry.");
  auto client
    = open(define_chat(ai::with_tools(define_add())), ai::with_state(left));
  say(client, "Well?");
  const auto gone = R"({"error":{"code":"aborted","message":"the tool was )"
                    R"(stopped before it finished"}})"s;
  EXPECT_EQ(received(0).at(2), "tool: addx=" + gone + " addy=" + gone);
  EXPECT_EQ(received(0).at(3), "user: Well?");
  client.close();
  EXPECT_EQ(client.output().state.messages.size(), 5u);
}

TEST_F(generate_in_session, messages_of_its_own_are_refused) {
  answers(model_says());
  auto client = open(define_chat(ai::with_user_text("and this")));
  say(client, "Hi");
  EXPECT_EQ(client.code(), errc::invalid_argument);
}

} // namespace tertulia::test::generate_in_session_tests
