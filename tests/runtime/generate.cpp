// SPDX-License-Identifier: BSD-3-Clause

// Loop of model and tools, and structured answers.

#include <tertulia/span_recorder.hpp>

#include <stdexcept>
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

struct generate : generating {
  /// Generates an answer in a separate body.
  template <class... Options>
  ai::generation make(const Options&... options) {
    return come_of(
      [&](context ctx) { return ai::generate(ctx, model(), options...); });
  }

  /// Generates an answer in a separate body, with a callback for its chunks.
  template <class Hear, class... Options>
  ai::generation stream(const Hear& hear, const Options&... options) {
    return come_of([&](context ctx) {
      return ai::generate_stream(ctx, model(), hear, options...);
    });
  }

  template <class Begin>
  ai::generation come_of(const Begin& begin) {
    auto result = std::make_shared<ai::generation>();
    auto client = open_body(
      [&, result](context ctx) -> task<> { *result = co_await begin(ctx); });
    failure = client.error();
    return *result;
  }

  status_error failure{errc::ok, ""};
};

} // namespace

// -- the loop -----------------------------------------------------------------

TEST_F(generate, an_answer_without_tools_is_the_end) {
  answers("Hello!");
  ai::model_config config;
  config.temperature = 0.5;
  const auto made = make(ai::with_system("Be brief."), ai::with_user_text("Hi"),
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

TEST_F(generate, what_the_user_says_comes_last_however_it_is_given) {
  const ai::message_log before{{ai::user_text("Hi"), ai::model_text("Yes?")}};
  answers(model_says(), model_says());
  make(ai::with_user_text("A joke?"), ai::with_messages(before));
  make(ai::with_messages(before), ai::with_user_text("A joke?"));
  const lines all{"user: Hi", "model: Yes?", "user: A joke?"};
  EXPECT_EQ(received(0), all);
  EXPECT_EQ(received(1), all);
}

TEST_F(generate, what_comes_is_heard_in_its_order) {
  answers(model_says(ai::part::text("So: "), asks("add", 1, 2)), "3");
  lines received;
  const auto write_down = [&](const ai::model_response_chunk& x) {
    for (const auto& part : x.content) {
      if (const auto* text = part.as_text())
        received.push_back(text->text);
      if (const auto* done = part.as_response())
        received.push_back(done->name + '=' + to_json_text(done->output));
    }
  };
  const auto made = stream(write_down, ai::with_tools(define_add()));
  EXPECT_EQ(received, (lines{"So: ", "add=3", "3"}));
  EXPECT_EQ(made.text(), "3");
  EXPECT_EQ(made.iterations, 2u);
}

TEST_F(generate, what_was_not_streamed_is_heard_at_the_end_of_its_answer) {
  script->streams = false;
  answers(model_says(ai::part::text("So: "), asks("add", 1, 2)), "3.",
          R"({"name":"soup","servings":4})");
  std::vector<ai::model_response_chunk> received;
  stream([&](auto x) { received.push_back(std::move(x)); },
         ai::with_tools(define_add()), ai::with_repairs(1),
         ai::with_output_schema{schema_of<recipe>()});
  EXPECT_EQ(lines_of(received),
            (lines{R"(model: So:  add({"a":1,"b":2}))", "tool: add=3",
                   "model: 3.", R"(model: {"name":"soup","servings":4})"}))
    << "once each";
  std::vector<std::int64_t> messages;
  for (const auto& x : received)
    messages.push_back(x.index);
  EXPECT_EQ(messages, (std::vector<std::int64_t>{0, 1, 2, 3}));
}

TEST_F(generate, who_hears_and_throws_ends_it) {
  answers(model_says(ai::part::text("a"), asks("add", 1, 2)), "b", "c");
  int received = 0;
  const auto hear = [&](ai::model_response_chunk) -> task<> {
    if (++received == 2)
      throw status_error{errc::out_of_range, "enough"};
    co_return;
  };
  stream(hear, ai::with_tools(define_add()));
  EXPECT_EQ(failure.code(), errc::out_of_range);
  EXPECT_EQ(received, 2);
  EXPECT_EQ(script->asked.size(), 1u);
}

TEST_F(generate, what_tools_give_back_goes_to_the_model) {
  const auto add = define_add();
  answers(model_says(ai::part::text("Wait."), asks("add", 1, 2, "x"),
                     asks("add", 3, 4, "y")),
          asks("add", 3, 7), "10");
  const auto made = make(ai::with_user_text("1+2+3+4?"), ai::with_tools(add));
  EXPECT_EQ(lines_of(made.messages),
            (lines{"user: 1+2+3+4?",
                   R"(model: Wait. addx({"a":1,"b":2}) addy({"a":3,"b":4}))",
                   "tool: addx=3 addy=7", R"(model: add({"a":3,"b":7}))",
                   "tool: add=10", "model: 10"}));
  EXPECT_EQ(made.iterations, 3u);
  EXPECT_EQ(made.usage.input_tokens, 30);
  EXPECT_EQ(made.usage.output_tokens, 3);
  EXPECT_EQ(made.usage.total_tokens, 33);
  EXPECT_EQ(received(1).size(), 3u);
  EXPECT_EQ(script->asked.at(2).tools,
            std::vector<ai::tool_definition>{add.definition()});
}

TEST_F(generate, the_tools_of_one_answer_run_side_by_side) {
  answers(model_says(asks("slow", 1, 0, "x"), asks("slow", 2, 0, "y")), "done");
  const auto slow = define_slow();
  auto client = open_body([&](context ctx) -> task<std::string> {
    const auto result
      = co_await ai::generate(ctx, model(), ai::with_tools(slow));
    co_return result.text();
  });
  EXPECT_EQ(slow_left, 0);
  advance(1s);
  EXPECT_EQ(slow_left, 2);
  EXPECT_EQ(client.output(), "done");
}

TEST_F(generate, requests_that_nobody_could_tell_apart_get_references) {
  answers(model_says(asks("add", 1, 0), asks("add", 2, 0), asks("add", 3, 0)),
          model_says());
  make(ai::with_tools(define_add()));
  EXPECT_EQ(received(1).at(1), "tool: add=1 add#2=2 add#3=3");
}

TEST_F(generate, what_goes_wrong_in_a_tool_goes_to_the_model) {
  const auto bad = define_bad(status_error{errc::not_found, "no such sum"});
  answers(model_says(asks("bad", 1, 2), asks("unknown", 1, 2),
                     ai::part::request("add", json{{"a", 1}}),
                     asks("add", 1, 1, "z")),
          "Sorry.");
  const auto made = make(ai::with_tools(bad, define_add()));
  EXPECT_EQ(made.text(), "Sorry.");
  EXPECT_EQ(
    received(1).at(1),
    R"(tool: bad={"error":{"code":"not_found","message":"no such sum"}} )"
    R"(unknown={"error":{"code":"not_found",)"
    R"("message":"there is no tool unknown"}} )"
    R"(add={"error":{"code":"invalid_argument",)"
    R"("message":"$.b: expected a value, found no such member"}} )"
    "addz=2");
}

TEST_F(generate, what_a_tool_has_not_said_itself_does_not_go_to_the_model) {
  const auto bad = define_bad(std::runtime_error{"password=1234"});
  answers(asks("bad", 1, 2), "Sorry.");
  make(ai::with_tools(bad));
  const auto told = received(1).at(1);
  EXPECT_FALSE(has(told, "password"));
  EXPECT_TRUE(told.starts_with(R"(tool: bad={"error":{"code":"internal",)"
                               R"("message":"an unexpected error: )"))
    << told;
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
  auto client = open_body([&](context ctx) -> task<> {
    co_await ai::generate(ctx, model(), ai::with_tools(bad, slow));
  });
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
    answers(asks("add", i, 0));
  make(ai::with_tools(define_add()), ai::with_max_iterations(3));
  EXPECT_EQ(failure.code(), errc::resource_exhausted);
  EXPECT_EQ(script->asked.size(), 3u);
}

TEST_F(generate, an_answer_may_ask_for_so_many_tools_only) {
  answers(model_says(asks("add", 1, 0, "x"), asks("add", 2, 0, "y"),
                     asks("add", 3, 0, "z")),
          model_says());
  make(ai::with_tools(define_add()), ai::with_max_tool_calls(2));
  EXPECT_EQ(received(1).at(1),
            R"(tool: addx=1 addy=2 addz={"error":{"code":"resource_exhausted",)"
            R"("message":"an answer may request at most 2 tools"}})");
}

TEST_F(generate, tools_that_are_required_are_so_once) {
  answers(asks("add", 1, 0), model_says());
  make(ai::with_tools(define_add()),
       ai::with_tool_choice(ai::tool_choice::required));
  EXPECT_EQ(script->asked.at(0).tool_choice, ai::tool_choice::required);
  EXPECT_EQ(script->asked.at(1).tool_choice, ai::tool_choice::automatic);
}

TEST_F(generate, options_that_make_no_sense_are_refused) {
  const auto add = define_add();
  EXPECT_EQ(code_from([&] {
              return ai::prompt{model(), ai::with_tools(add, add)};
            }),
            errc::invalid_argument);
  EXPECT_EQ(code_from([&] {
              return ai::prompt{model(), ai::with_max_iterations(0)};
            }),
            errc::invalid_argument);
}

TEST_F(generate, model_and_tools_are_steps_of_the_generation) {
  const auto recorder = std::make_shared<span_recorder>();
  const auto listening = rt->traces().listen(recorder);
  answers(asks("add", 1, 0), model_says());
  make(ai::with_tools(define_add()));
  const auto whole = recorder->find("generate");
  const auto call = recorder->find("/tool/add");
  ASSERT_TRUE(whole && call);
  EXPECT_EQ(call->parent, whole->context.span);
}

// -- structured answers -------------------------------------------------------

TEST_F(generate, an_answer_can_be_a_value_of_a_type) {
  answers("```json\n{\"name\":\"soup\",\n"
          "\"servings\":4}\n```\n");
  auto client = open_body([&](context ctx) -> task<recipe> {
    co_return co_await ai::generate<recipe>(ctx, model(),
                                            ai::with_user_text("Soup?"));
  });
  EXPECT_EQ(client.output(), (recipe{"soup", 4}));
  EXPECT_EQ(script->asked.at(0).output_schema, schema_of<recipe>());
}

TEST_F(generate, an_answer_of_another_shape_is_refused_with_its_path) {
  const ai::with_output_schema shape{schema_of<recipe>()};
  answers(R"({"name":"soup","servings":"4"})", "Soup for four.");
  make(shape);
  EXPECT_EQ(error_text(failure), "invalid_argument: the answer of the model "
                                 "does not fit the schema: $.servings: "
                                 "expected an integer, found a string");
  EXPECT_EQ(json::parse(failure.details()).at("path"), "$.servings");
  make(shape);
  EXPECT_EQ(failure.code(), errc::invalid_argument);
}

TEST_F(generate, a_model_can_be_told_what_is_wrong_with_its_answer) {
  answers("Soup.", R"({"name":"soup","servings":4})", "Soup.", "Stew.");
  const ai::with_output_schema shape{schema_of<recipe>()};
  const auto made
    = make(shape, ai::with_user_text("What?"), ai::with_repairs(1));
  EXPECT_EQ(made.output.at("servings"), 4);
  EXPECT_EQ(received(1).size(), 3u);
  EXPECT_TRUE(received(1).at(2).starts_with(
    "user: The answer does not fit the schema: "));
  EXPECT_EQ(lines_of(made.messages),
            (lines{"user: What?", R"(model: {"name":"soup","servings":4})"}))
    << "nobody needs to see the wrong one";
  make(shape, ai::with_repairs(1));
  EXPECT_EQ(failure.code(), errc::invalid_argument) << "once is enough";
}

TEST_F(generate, a_correction_is_not_said_again_once_the_model_asks_for_tools) {
  answers("Soup.", asks("add", 1, 2), R"({"name":"soup","servings":3})");
  const auto made = make(ai::with_user_text("What?"), ai::with_repairs(1),
                         ai::with_tools(define_add()),
                         ai::with_output_schema{schema_of<recipe>()});
  EXPECT_EQ(made.output.at("servings"), 3);
  EXPECT_EQ(received(1).size(), 3u) << "what is wrong with it";
  EXPECT_EQ(received(2), (lines{"user: What?", R"(model: add({"a":1,"b":2}))",
                                "tool: add=3"}));
}

} // namespace tertulia::test::generate_tests
