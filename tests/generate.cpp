// SPDX-License-Identifier: BSD-3-Clause

// The loop of model and tools, and what becomes of the conversation.

#include <tertulia/ai/session_flow.hpp>
#include <tertulia/memory_store.hpp>
#include <tertulia/span_recorder.hpp>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/refusal.hpp"
#include "support/scripted_model.hpp"

using namespace std::literals;

namespace tertulia::test::generate_tests {

namespace {

struct recipe {
  std::string name;
  int servings = 0;

  friend bool operator==(const recipe&, const recipe&) = default;
};
BOOST_DESCRIBE_STRUCT(recipe, (), (name, servings))

struct tally {
  int count = 0;
};
BOOST_DESCRIBE_STRUCT(tally, (), (count))

struct generate : generating {
  /// Generates something in a body of its own.
  /// @param within how far the clock is moved meanwhile.
  template <class... Options>
  ai::generation make(const Options&... options) {
    return come_of(
      [&](context ctx) { return ai::generate(ctx, model(), options...); });
  }

  /// The same with somebody who hears what comes.
  template <class Hear, class... Options>
  ai::generation stream(const Hear& hear, const Options&... options) {
    return come_of([&](context ctx) {
      return ai::generate_stream(ctx, model(), hear, options...);
    });
  }

  template <class Begin>
  ai::generation come_of(const Begin& begin) {
    auto result = std::make_shared<ai::generation>();
    auto client = open_to([&, result](context ctx, input<int>, output<int>) //
                          -> task<> { *result = co_await begin(ctx); });
    run();
    failure = to_error_code(client);
    return *result;
  }

  template <class Client>
  status_error to_error_code(const Client& client) {
    const auto& reason = client.heard().end.value().reason;
    return reason ? to_status(reason) : status_error{errc::ok, ""};
  }

  status_error failure{errc::ok, ""};
};

/// Whether every tool request has exactly one response, in the message behind
/// its own.
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

/// A session flow whose turns are answered by the scripted model.
struct generate_in_session : generate {
  using chunk = ai::stream_chunk<nothing>;

  /// @param more options of the generation.
  template <class... Options>
  auto define_chat(const Options&... more) {
    return ai::define_session_flow(
      *rt, "chat",
      [=, this](context ctx, ai::flow_session<tally> sess,
                ai::flow_responder<nothing> out) -> task<> {
        const auto turn
          = [&](context here, const ai::conversation_input&) -> task<> {
          co_await ai::generate_stream(here, model(), out,
                                       ai::with_session(sess), more...);
        };
        co_await sess.run(ctx, turn);
      },
      with_snapshot_store(store));
  }

  template <class Client>
  void say(Client& client, std::string text) {
    client.send(ai::conversation_input{{ai::user_text(std::move(text))}});
    run();
  }

  /// The states of all snapshots, oldest first: the messages, as lines.
  template <class Client>
  std::vector<lines> snapshots(const Client& client) {
    std::vector<lines> result;
    for (const auto& x : client.heard().chunks)
      if (x.snapshot_created) {
        json query;
        query["snapshotId"] = x.snapshot_created.str();
        auto asking = open(rt->action("/snapshot-store/chat/getSnapshot"));
        run();
        asking.send(query);
        asking.close();
        run();
        result.push_back(lines_of(from_json<ai::message_log>(
          asking.output().at("state").at("messages"))));
      }
    return result;
  }

  managed_store store = spawn_memory_store(system);
};

} // namespace

// -- the loop -----------------------------------------------------------------

TEST_F(generate, an_answer_without_tools_is_the_end) {
  answers(model_says(ai::part::text("Hello!")));
  ai::model_config config;
  config.temperature = 0.5;
  const auto made = make(ai::with_system("Be brief."), ai::with_prompt("Hi"),
                         ai::with_config(config));
  EXPECT_EQ(made.text(), "Hello!");
  EXPECT_EQ(made.iterations, 1u);
  EXPECT_EQ(made.response.finish_reason, ai::finish_reason::stop);
  EXPECT_EQ(lines_of(made.messages), (lines{"user: Hi", "model: Hello!"}));
  const auto& asked = script->asked.at(0);
  EXPECT_EQ(asked.system, "Be brief.");
  EXPECT_EQ(asked.config, config);
  EXPECT_TRUE(asked.tools.empty() && asked.output_schema.is_null());
}

TEST_F(generate, what_comes_is_heard_in_its_order) {
  answers(model_says(ai::part::text("So: "), asks("add", 1, 2)),
          model_says(ai::part::text("3")));
  lines heard;
  const auto write_down = [&](const ai::model_response_chunk& x) {
    for (const auto& part : x.content) {
      if (const auto* text = part.as_text())
        heard.push_back(text->text);
      if (const auto* done = part.as_response())
        heard.push_back(done->name + '=' + to_json_text(done->output));
    }
  };
  const auto made = stream(write_down, ai::with_tools(define_add()));
  EXPECT_EQ(heard, (lines{"So: ", "add=3", "3"}));
  EXPECT_EQ(made.text(), "3");
  EXPECT_EQ(made.iterations, 2u);
}

TEST_F(generate, who_hears_and_throws_ends_it) {
  answers(model_says(ai::part::text("a"), asks("add", 1, 2)),
          model_says(ai::part::text("b")), model_says(ai::part::text("c")));
  int heard = 0;
  const auto hear = [&](ai::model_response_chunk) -> task<> {
    if (++heard == 2)
      throw status_error{errc::out_of_range, "enough"};
    co_return;
  };
  stream(hear, ai::with_tools(define_add()));
  EXPECT_EQ(failure.code(), errc::out_of_range);
  EXPECT_EQ(heard, 2);
  EXPECT_EQ(script->asked.size(), 1u);
}

TEST_F(generate, what_tools_give_back_goes_to_the_model) {
  const auto add = define_add();
  answers(model_says(ai::part::text("Wait."), asks("add", 1, 2, "x"),
                     asks("add", 3, 4, "y")),
          model_says(asks("add", 3, 7)), model_says(ai::part::text("10")));
  const auto made = make(ai::with_prompt("1+2+3+4?"), ai::with_tools(add));
  EXPECT_EQ(lines_of(made.messages),
            (lines{"user: 1+2+3+4?",
                   R"(model: Wait. addx({"a":1,"b":2}) addy({"a":3,"b":4}))",
                   "tool: addx=3 addy=7", R"(model: add({"a":3,"b":7}))",
                   "tool: add=10", "model: 10"}));
  EXPECT_EQ(made.iterations, 3u);
  EXPECT_EQ(made.usage.input_tokens, 30);
  EXPECT_EQ(made.usage.total_tokens, 33);
  EXPECT_EQ(heard(1).size(), 3u);
  EXPECT_EQ(script->asked.at(2).tools,
            std::vector<ai::tool_definition>{add.definition()});
}

TEST_F(generate, the_tools_of_one_answer_run_side_by_side) {
  answers(model_says(asks("slow", 1, 0, "x"), asks("slow", 2, 0, "y")),
          model_says(ai::part::text("done")));
  const auto slow = define_slow();
  auto client = open_to([&](context ctx, input<int>, output<int>) //
                        -> task<std::string> {
    const auto made = co_await ai::generate(ctx, model(), ai::with_tools(slow));
    co_return made.text();
  });
  run();
  EXPECT_EQ(slow_left, 0);
  advance(1s);
  EXPECT_EQ(slow_left, 2);
  EXPECT_EQ(client.output(), "done");
}

TEST_F(generate, requests_that_nobody_could_tell_apart_get_references) {
  answers(model_says(asks("add", 1, 0), asks("add", 2, 0), asks("add", 3, 0)),
          model_says());
  make(ai::with_tools(define_add()));
  EXPECT_EQ(heard(1).at(1), "tool: add=1 add#2=2 add#3=3");
}

TEST_F(generate, what_goes_wrong_in_a_tool_goes_to_the_model) {
  const auto bad
    = ai::define_tool(*rt, "bad", "", [](ai::tool_context, sum) -> task<> {
        throw status_error{errc::not_found, "no such sum"};
        co_return;
      });
  answers(model_says(asks("bad", 1, 2), asks("unknown", 1, 2),
                     ai::part::request("add", json{{"a", 1}}),
                     asks("add", 1, 1, "z")),
          model_says(ai::part::text("Sorry.")));
  const auto made = make(ai::with_tools(bad, define_add()));
  EXPECT_EQ(made.text(), "Sorry.");
  EXPECT_EQ(
    heard(1).at(1),
    R"(tool: bad={"error":{"code":"not_found","message":"no such sum"}} )"
    R"(unknown={"error":{"code":"not_found",)"
    R"("message":"there is no tool unknown"}} )"
    R"(add={"error":{"code":"invalid_argument",)"
    R"("message":"$.b: expected a value, found no such member"}} )"
    "addz=2");
}

TEST_F(generate, a_tool_can_fail_the_turn) {
  const auto bad = ai::define_tool(
    *rt, "bad", "",
    [](ai::tool_context ctx, sum) -> task<> {
      co_await ctx.sleep(1ms);
      throw status_error{errc::data_loss, "gone"};
    },
    ai::with_tool_failure(ai::tool_failure::fails_turn));
  answers(model_says(ai::part::request("bad", json::object()),
                     asks("slow", 1, 2)),
          model_says(asks("bad", 1, 2), asks("slow", 1, 2)));
  const auto slow = define_slow();
  auto client = open_to([&](context ctx, input<int>, output<int>) -> task<> {
    co_await ai::generate(ctx, model(), ai::with_tools(bad, slow));
  });
  run();
  advance(1s);
  EXPECT_EQ(script->asked.size(), 2u)
    << "the model's own mistake fails nothing";
  advance(1ms);
  EXPECT_EQ(client.code(), errc::data_loss);
  EXPECT_EQ(slow_left, 2) << "nothing goes on";
  EXPECT_EQ(extra_actors(), 1u) << "the client";
}

TEST_F(generate, a_model_that_never_ends_is_ended) {
  for (int i = 0; i < 5; ++i)
    answers(model_says(asks("add", i, 0)));
  make(ai::with_tools(define_add()), ai::with_max_iterations(3));
  EXPECT_EQ(failure.code(), errc::resource_exhausted);
  EXPECT_EQ(script->asked.size(), 3u);
}

TEST_F(generate, an_answer_may_ask_for_so_many_tools_only) {
  answers(model_says(asks("add", 1, 0, "x"), asks("add", 2, 0, "y"),
                     asks("add", 3, 0, "z")),
          model_says());
  make(ai::with_tools(define_add()), ai::with_max_tool_calls(2));
  EXPECT_EQ(heard(1).at(1),
            R"(tool: addx=1 addy=2 addz={"error":{"code":"resource_exhausted",)"
            R"("message":"an answer may ask for 2 tools at most"}})");
}

TEST_F(generate, tools_that_are_required_are_so_once) {
  answers(model_says(asks("add", 1, 0)), model_says());
  make(ai::with_tools(define_add()),
       ai::with_tool_choice(ai::tool_choice::required));
  EXPECT_EQ(script->asked.at(0).tool_choice, ai::tool_choice::required);
  EXPECT_EQ(script->asked.at(1).tool_choice, ai::tool_choice::automatic);
}

TEST_F(generate, options_that_make_no_sense_are_refused) {
  const auto add = define_add();
  EXPECT_EQ(error_of([&] {
              return ai::prompt{model(), ai::with_tools(add, add)};
            }).code(),
            errc::invalid_argument);
  EXPECT_EQ(error_of([&] {
              return ai::prompt{model(), ai::with_max_iterations(0)};
            }).code(),
            errc::invalid_argument);
}

TEST_F(generate, model_and_tools_are_steps_of_the_generation) {
  const auto recorder = std::make_shared<span_recorder>();
  rt->traces().listen(recorder);
  answers(model_says(asks("add", 1, 0)), model_says());
  make(ai::with_tools(define_add()));
  const auto whole = recorder->find("generate");
  const auto call = recorder->find("/tool/add");
  ASSERT_TRUE(whole && call);
  EXPECT_EQ(call->parent, whole->context.span);
}

// -- answers of a shape -------------------------------------------------------

TEST_F(generate, an_answer_can_be_a_value_of_a_type) {
  answers(model_says(ai::part::text("```json\n{\"name\":\"soup\",\n"
                                    "\"servings\":4}\n```\n")));
  auto client
    = open_to([&](context ctx, input<int>, output<int>) -> task<recipe> {
        co_return co_await ai::generate<recipe>(ctx, model(),
                                                ai::with_prompt("Soup?"));
      });
  run();
  EXPECT_EQ(client.output(), (recipe{"soup", 4}));
  EXPECT_EQ(script->asked.at(0).output_schema, schema_of<recipe>());
}

TEST_F(generate, an_answer_of_another_shape_is_refused_with_its_path) {
  const ai::with_output_schema shape{schema_of<recipe>()};
  answers(model_says(ai::part::text(R"({"name":"soup","servings":"4"})")),
          model_says(ai::part::text("Soup for four.")));
  make(shape);
  EXPECT_EQ(failure.code(), errc::invalid_argument);
  EXPECT_EQ(failure.message(), "the model's answer is not what was asked for: "
                               "$.servings: expected an integer, found a "
                               "string");
  EXPECT_EQ(json::parse(failure.details()).at("path"), "$.servings");
  make(shape);
  EXPECT_EQ(failure.code(), errc::invalid_argument);
}

TEST_F(generate, a_model_can_be_told_what_is_wrong_with_its_answer) {
  answers(model_says(ai::part::text("Soup.")),
          model_says(ai::part::text(R"({"name":"soup","servings":4})")),
          model_says(ai::part::text("Soup.")),
          model_says(ai::part::text("Stew.")));
  const ai::with_output_schema shape{schema_of<recipe>()};
  const auto made = make(shape, ai::with_prompt("What?"), ai::with_repairs(1));
  EXPECT_EQ(made.output.at("servings"), 4);
  EXPECT_EQ(heard(1).size(), 3u);
  EXPECT_TRUE(
    heard(1).at(2).starts_with("user: That is not what was asked for: "));
  EXPECT_EQ(lines_of(made.messages),
            (lines{"user: What?", R"(model: {"name":"soup","servings":4})"}))
    << "nobody needs to see the wrong one";
  make(shape, ai::with_repairs(1));
  EXPECT_EQ(failure.code(), errc::invalid_argument) << "once is enough";
}

// -- in a session -------------------------------------------------------------

TEST_F(generate_in_session, the_session_has_what_was_said) {
  answers(model_says(asks("add", 1, 2)), model_says(ai::part::text("3")),
          model_says(ai::part::text("Bye")));
  auto client = open(define_chat(ai::with_tools(define_add())));
  run();
  say(client, "1+2?");
  say(client, "Thanks");
  client.close();
  run();
  const lines all{"user: 1+2?",   R"(model: add({"a":1,"b":2}))",
                  "tool: add=3",  "model: 3",
                  "user: Thanks", "model: Bye"};
  EXPECT_EQ(lines_of(client.output().state.messages), all);
  EXPECT_EQ(heard(2), lines(all.begin(), all.end() - 1));
  lines streamed;
  for (const auto& x : client.heard().chunks)
    if (x.chunk && x.chunk->role == ai::role::tool)
      streamed.push_back(
        to_json_text(x.chunk->content[0].as_response()->output));
  EXPECT_EQ(streamed, lines{"3"}) << "the client sees what tools gave back";
}

TEST_F(generate_in_session, a_tool_changes_the_session) {
  const auto count = ai::define_tool(
    *rt, "count", "", [](ai::tool_context ctx, nothing) -> task<int> {
      const auto sess = ctx.session<ai::session<tally>>();
      co_await sess->patch_custom([](tally& x) { ++x.count; });
      const auto now = co_await sess->custom();
      co_return now.count;
    });
  answers(model_says(ai::part::request("count", json::object(), "x"),
                     ai::part::request("count", {}, "y")),
          model_says());
  auto client = open(define_chat(ai::with_tools(count)));
  run();
  say(client, "Count!");
  client.close();
  run();
  EXPECT_EQ(client.output().state.custom.count, 2);
}

TEST_F(generate_in_session, each_round_of_tools_is_worth_a_snapshot) {
  answers(model_says(asks("add", 1, 2)), model_says(asks("add", 3, 3)),
          model_says(ai::part::text("6")));
  auto client = open(define_chat(ai::with_tools(define_add())));
  run();
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
  answers(model_says(asks("add", 1, 2)), model_says(asks("bad", 1, 2)),
          model_says(ai::part::text("Hello again")));
  const auto bad = ai::define_tool(
    *rt, "bad", "",
    [](ai::tool_context, sum) -> task<> {
      throw status_error{errc::data_loss, "gone"};
      co_return;
    },
    ai::with_tool_failure(ai::tool_failure::fails_turn));
  const auto add = define_add();
  const auto flow = ai::define_session_flow(
    *rt, "chat",
    [&](context ctx, ai::flow_session<tally> sess,
        ai::flow_responder<nothing>) -> task<> {
      const auto turn
        = [&](context here, const ai::conversation_input&) -> task<> {
        auto made = ai::generate(here, model(), ai::with_session(sess),
                                 ai::with_tools(add, bad));
        const auto done = co_await as_expected(std::move(made));
        if (!done)
          co_await sess.add_messages(ai::model_text("Sorry."));
      };
      co_await sess.run(ctx, turn);
    });
  auto client = open(flow);
  run();
  say(client, "1+2?");
  say(client, "Hello?");
  client.close();
  run();
  EXPECT_EQ(lines_of(client.output().state.messages),
            (lines{"user: 1+2?", R"(model: add({"a":1,"b":2}))", "tool: add=3",
                   "model: Sorry.", "user: Hello?", "model: Hello again"}));
}

TEST_F(generate_in_session, a_cancel_leaves_a_history_to_go_on_with) {
  answers(model_says(ai::part::text("Hello!")), model_says(asks("slow", 1, 2)),
          model_says(ai::part::text("Here I am.")));
  const auto flow = define_chat(ai::with_tools(define_slow()));
  auto client = open(flow, with_session_id("s"));
  run();
  say(client, "Hi");
  say(client, "Wait.");
  client.cancel();
  run();
  EXPECT_EQ(client.code(), errc::cancelled);
  EXPECT_EQ(slow_left, 1);
  auto again = open(flow, with_session_id("s"));
  run();
  say(again, "Where are you?");
  again.close();
  run();
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
            model_says(asks("add", 5, 6)), model_says(ai::part::text("Done.")));
    const auto id = "s" + std::to_string(steps);
    auto client = open(flow, with_session_id(id));
    run();
    client.send(ai::conversation_input{{ai::user_text("Add!")}});
    for (auto i = 0; i < steps && sched.has_job(); ++i)
      sched.run_once();
    over = static_cast<int>(client.heard().turns);
    client.cancel();
    run();
    cancelled += over == 0 ? 1 : 0;
    for (const auto& asked : script->asked)
      EXPECT_TRUE(is_whole(asked.messages)) << steps;
    script->asked.clear();
    script->answers.clear();
    answers(model_says(ai::part::text("Here I am.")));
    auto again = open(flow, with_session_id(id));
    run();
    say(again, "Well?");
    ASSERT_EQ(script->asked.size(), 1u) << steps;
    EXPECT_TRUE(is_whole(script->asked[0].messages)) << steps;
    again.close();
    run();
    ASSERT_EQ(again.code(), errc::ok) << steps;
    EXPECT_EQ(again.output().state.messages.back().text(), "Here I am.");
  }
  EXPECT_GT(cancelled, 20) << "the turn was cancelled at many places";
}

TEST_F(generate_in_session, a_tool_that_takes_its_time_delays_nobody_else) {
  const auto flow = define_chat(ai::with_tools(define_slow()));
  answers(model_says(asks("slow", 1, 0)), model_says(ai::part::text("Hello!")),
          model_says(ai::part::text("1")));
  auto slow = open(flow);
  auto other = open(flow);
  run();
  say(slow, "Take a second");
  say(other, "Hi");
  EXPECT_EQ(slow.heard().turns, 0u);
  EXPECT_EQ(other.heard().turns, 1u) << "without the clock being moved";
  advance(1s);
  EXPECT_EQ(slow.heard().turns, 1u);
}

TEST_F(generate_in_session, what_another_program_left_open_is_closed) {
  ai::conversation_state<tally> left;
  left.messages
    = left.messages.with(ai::user_text("1+2, 3+4?"))
        .with(model_says(asks("add", 1, 2, "x"), asks("add", 3, 4, "y")));
  answers(model_says(ai::part::text("Sorry.")));
  auto client
    = open(define_chat(ai::with_tools(define_add())), ai::with_state(left));
  run();
  say(client, "Well?");
  const auto gone = R"({"error":{"code":"aborted","message":"the tool was )"
                    R"(stopped before it was done"}})"s;
  EXPECT_EQ(heard(0).at(2), "tool: addx=" + gone + " addy=" + gone);
  EXPECT_EQ(heard(0).at(3), "user: Well?");
  client.close();
  run();
  EXPECT_EQ(client.output().state.messages.size(), 5u);
}

TEST_F(generate_in_session, messages_of_its_own_are_refused) {
  answers(model_says());
  auto client = open(define_chat(ai::with_prompt("and this")));
  run();
  say(client, "Hi");
  EXPECT_EQ(client.code(), errc::invalid_argument);
}

} // namespace tertulia::test::generate_tests
