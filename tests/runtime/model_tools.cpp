// SPDX-License-Identifier: BSD-3-Clause

// Tools without a model: their definitions, calls and callers.

#include <tertulia/span_recorder.hpp>

#include <optional>
#include <string>
#include <vector>

#include "support/refusal.hpp"
#include "support/scripted_model.hpp"

using namespace std::literals;

namespace tertulia::test::model_tools_tests {

namespace {

struct place {
  std::string city;
  std::optional<int> days;
};
BOOST_DESCRIBE_STRUCT(place, (), (city, days))

struct numbers {
  int x = 0;
};
BOOST_DESCRIBE_STRUCT(numbers, (), (x))

using doubler = caf::typed_actor<caf::replies_to<numbers>::with<int>>;

doubler::behavior_type double_it() {
  return {[](const numbers& of) { return 2 * of.x; }};
}

/// Defines an actor that never answers.
doubler::behavior_type keep_silent(doubler::pointer self) {
  return {[self](const numbers&) -> caf::result<int> {
    return self->make_response_promise<int>();
  }};
}

using baker = caf::typed_actor<caf::replies_to<sum>::with<int>>;

/// Refuses with an error of the application's own category.
baker::behavior_type refuse() {
  return {[](const sum&) -> caf::result<int> {
    return caf::error{std::uint8_t{1}, caf::atom("oven"),
                      caf::make_message("the oven is locked"s)};
  }};
}

/// Result of running a tool.
struct outcome {
  json output;
  status_error error{errc::ok, ""};
};

struct model_tools : generating {
  /// Runs a tool in a body and returns its result.
  outcome outcome_of(const ai::tool& what, const json& input,
                     const std::vector<json>& replies = {}) {
    auto client = open_to(
      [&](context ctx, tertulia::input<int>, output<int>) //
      -> task<json> { co_return co_await what.call(ctx, input, replies); });
    outcome result{{}, client.error()};
    if (client.code() == errc::ok)
      result.output = client.output();
    return result;
  }
};

} // namespace

TEST_F(model_tools, a_tool_is_described_by_its_types) {
  const auto weather = ai::define_tool(
    *rt, "weather", "Says how the weather is.",
    [](ai::tool_context, place) -> task<std::string> { co_return ""; });
  const auto told = weather.definition();
  EXPECT_EQ(told.name, "weather");
  EXPECT_EQ(told.description, "Says how the weather is.");
  EXPECT_EQ(told.input_schema, schema_of<place>());
  EXPECT_EQ(told.output_schema, schema_of<std::string>());
  EXPECT_EQ(rt->find_action("/tool/weather"), weather.info());
}

TEST_F(model_tools, a_body_runs_a_tool_with_its_types_or_with_json) {
  const auto add = define_add();
  auto client = open_body([=](context ctx) -> task<int> {
    const sum typed{1, 2};
    json untyped;
    untyped["a"] = 30;
    untyped["b"] = 40;
    const ai::tool any = add;
    const auto other = co_await any.call(ctx, untyped);
    co_return co_await add.call(ctx, typed) + other.get<int>();
  });
  EXPECT_EQ(client.output(), 73);
}

TEST_F(model_tools, an_input_is_checked_before_the_tool_runs) {
  auto ran = 0;
  const auto weather = ai::define_tool(*rt, "weather", "",
                                       [&](ai::tool_context, place) //
                                       -> task<> {
                                         ++ran;
                                         co_return;
                                       });
  const auto told = [&](const char* text) {
    return outcome_of(weather, json::parse(text)).error.message();
  };
  EXPECT_EQ(told(R"({"city":"Lisbon"})"), "");
  EXPECT_EQ(told(R"({"city":"Lisbon","days":2})"), "");
  EXPECT_EQ(told(R"({"city":7})"), "$.city: expected a string, found 7");
  EXPECT_EQ(told("{}"), "$.city: expected a value, found no such member")
    << "what is forgotten is not made up";
  EXPECT_EQ(told(R"("Lisbon")"), "$: expected an object, found a string");
  EXPECT_EQ(ran, 2);
}

TEST_F(model_tools, an_actor_can_be_a_tool) {
  const auto actor = system.spawn(double_it);
  const auto silent = system.spawn(keep_silent);
  const auto twice
    = ai::define_tool(*rt, "twice", "", ai::asking<numbers>(actor, 1s));
  const auto never
    = ai::define_tool(*rt, "never", "", ai::asking<numbers>(silent, 1s));
  EXPECT_EQ(outcome_of(twice, json{{"x", 21}}).output, 42);
  auto client = open_body([&](context ctx) -> task<> {
    const numbers input{1};
    co_await never.call(ctx, input);
  });
  advance(1s);
  EXPECT_EQ(client.code(), errc::deadline_exceeded);
  caf::anon_send_exit(actor, caf::exit_reason::kill);
  kill(silent);
}

TEST_F(model_tools, what_an_actor_says_reaches_the_caller_and_the_model) {
  const auto oven = system.spawn(refuse);
  const auto bake = ai::define_tool(*rt, "bake", "", ai::asking<sum>(oven, 1s));
  const json input{{"a", 1}, {"b", 2}};
  EXPECT_EQ(outcome_of(bake, input).error.message(), "the oven is locked");
  answers(model_says(asks("bake", 1, 2)), "Done.");
  const auto generate = [&] {
    auto client = open_body([&](context ctx) -> task<std::string> {
      const ai::with_user_text question{"Bread?"};
      const ai::with_tools tools{bake};
      co_return (co_await ai::generate(ctx, model(), question, tools)).text();
    });
    EXPECT_EQ(client.output(), "Done.");
  };
  generate();
  EXPECT_NE(received(1).back().find("the oven is locked"), std::string::npos);
  caf::anon_send(caf::actor_cast<caf::actor>(oven),
                 caf::exit_msg{oven.address(),
                               fail(errc::aborted, "the fuse has blown")});
  run();
  const auto dead = "the actor was lost before it answered: the fuse has blown";
  EXPECT_EQ(outcome_of(bake, input).error.message(), dead);
  answers(model_says(asks("bake", 1, 2)), "Done.");
  generate();
  EXPECT_NE(received(3).back().find(dead), std::string::npos);
}

TEST_F(model_tools, a_tool_has_its_time) {
  const auto slow = ai::define_tool(
    *rt, "late", "",
    [this](ai::tool_context ctx, nothing) -> task<> {
      const departure here{slow_left};
      co_await ctx.sleep(10s);
    },
    ai::with_tool_timeout(2s));
  auto client = open_body([&](context ctx) -> task<> {
    const nothing no_input;
    co_await slow.call(ctx, no_input);
  });
  advance(1s);
  EXPECT_EQ(slow_left, 0);
  advance(1s);
  EXPECT_EQ(slow_left, 1);
  EXPECT_EQ(client.code(), errc::deadline_exceeded);
  EXPECT_EQ(extra_actors(), 1u) << "the client";
}

TEST_F(model_tools, a_cancelled_body_takes_its_tools_along) {
  const auto slow = define_slow();
  auto client = open_body([&](context ctx) -> task<> {
    const sum any;
    co_await slow.call(ctx, any);
  });
  client.cancel();
  EXPECT_EQ(client.code(), errc::cancelled);
  EXPECT_EQ(slow_left, 1);
  EXPECT_EQ(extra_actors(), 1u) << "the client";
}

TEST_F(model_tools, a_call_is_a_step_of_its_caller) {
  const auto recorder = std::make_shared<span_recorder>();
  const auto listening = rt->traces().listen(recorder);
  const auto add = define_add();
  auto client = open_body([=](context ctx) -> task<> {
    const sum any;
    co_await add.call(ctx, any);
  });
  const auto caller = recorder->find("/bidi-flow/flow1");
  const auto call = recorder->find("/tool/add");
  ASSERT_TRUE(caller && call);
  EXPECT_EQ(call->parent, caller->context.span);
}

TEST_F(model_tools, a_person_can_be_asked) {
  const auto pay = ai::define_tool(
    *rt, "pay", "", [](ai::tool_context ctx, numbers of) -> task<std::string> {
      const auto first = co_await ctx.interrupt("pay?");
      const auto second = co_await ctx.interrupt("really?");
      co_return first.dump() + second.dump() + std::to_string(of.x);
    });
  const json input{{"x", 1}};
  const auto unasked = outcome_of(pay, input).error;
  EXPECT_EQ(unasked.code(), errc::failed_precondition);
  EXPECT_EQ(ai::question_of(unasked), json("pay?"));
  const auto again = outcome_of(pay, input, {true}).error;
  EXPECT_EQ(ai::question_of(again), json("really?"));
  EXPECT_EQ(outcome_of(pay, input, {true, 7}).output, "true71");
  EXPECT_EQ(outcome_of(pay, input, {true, 7, "too much"}).output, "true71");
}

TEST_F(model_tools, other_errors_are_no_questions) {
  EXPECT_FALSE(ai::question_of({errc::failed_precondition, "x", ""}));
  EXPECT_FALSE(ai::question_of({errc::failed_precondition, "x", "no json"}));
  EXPECT_FALSE(ai::question_of({errc::failed_precondition, "x", "[1]"}));
  EXPECT_FALSE(ai::question_of({errc::internal, "x", R"({"interrupt":1})"}));
  EXPECT_EQ(ai::question_of(ai::interrupt_error(nullptr)), json(nullptr));
}

TEST_F(model_tools, a_client_that_knows_the_key_runs_a_tool) {
  define_add();
  const auto any = rt->action("/tool/add");
  auto client = open(any, with_init(json::parse(R"({"a":1,"b":2})")));
  EXPECT_EQ(client.output(), json(3));
  auto without = open(any);
  auto wrong = open(any, with_init(json::parse(R"({"a":1})")));
  EXPECT_EQ(code_of(without.received().refused), errc::invalid_argument);
  EXPECT_EQ(to_status(wrong.received().refused).message(),
            "$.b: expected a value, found no such member");
}

TEST_F(model_tools, a_definition_that_makes_no_sense_is_refused) {
  const auto define_as = [&](const std::string& name) {
    return code_from([&] {
      return ai::define_tool(
        *rt, name, "", [](ai::tool_context, nothing) -> task<> { co_return; });
    });
  };
  EXPECT_EQ(define_as("a-tool_1"), errc::ok);
  EXPECT_EQ(define_as("a-tool_1"), errc::already_exists);
  EXPECT_EQ(define_as(std::string(64, 'x')), errc::ok);
  for (const auto& name : {""s, "a tool"s, "a/b"s, std::string(65, 'x')})
    EXPECT_EQ(define_as(name), errc::invalid_argument) << name;
  EXPECT_EQ(code_from([] {
              ai::tool_options to;
              ai::with_tool_timeout(0s).apply(to);
              return 0;
            }),
            errc::invalid_argument);
}

} // namespace tertulia::test::model_tools_tests
