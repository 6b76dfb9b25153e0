// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/define_model.hpp>
#include <tertulia/ai/offline_model.hpp>
#include <tertulia/schema.hpp>

#include "support/flows.hpp"
#include "support/refusal.hpp"

using namespace std::literals;

namespace tertulia::test::offline_model_tests {

namespace {

struct trip {
  std::string to;
  int days = 0;
  std::optional<bool> by_train;
};

BOOST_DESCRIBE_STRUCT(trip, (), (to, days, by_train))

struct offline_model : flows {
  offline_model() : eliza(ai::define_offline_model(*rt)) {}

  /// Asks the model, and stores its chunks in `received`.
  ai::model_response answer(ai::generate_request request) {
    received.clear();
    auto client = open_body([&](context ctx) -> task<ai::model_response> {
      co_return co_await eliza.generate(ctx, request,
                                        [&](ai::model_response_chunk x) {
                                          received.push_back(std::move(x));
                                        });
    });
    if (const auto& end = client.received().end; end && end->reason)
      raise(end->reason);
    return client.output();
  }

  /// Sends a text in the running conversation, and returns the answer.
  std::string say(std::string text) {
    talk = talk.with(ai::user_text(std::move(text)));
    const auto response = answer(ai::generate_request{talk});
    talk = talk.with(*response.message);
    return response.text();
  }

  /// Sends a text with tools, in a conversation of one message.
  ai::message ask_with_tools(std::string text) {
    ai::generate_request request{
      ai::message_log{{ai::user_text(std::move(text))}}};
    request.tools = tools;
    request.tool_choice = choice;
    return answer(std::move(request)).message.value();
  }

  /// Returns the answer to this text alone, with tools turned off.
  std::string reply_without_tools(std::string text) {
    ai::generate_request request{
      ai::message_log{{ai::user_text(std::move(text))}}};
    request.tool_choice = ai::tool_choice::none;
    return answer(std::move(request)).text();
  }

  ai::model eliza;
  ai::message_log talk;
  std::vector<ai::model_response_chunk> received;
  std::vector<ai::tool_definition> tools{
    ai::tool_definition{"getWeather", "Looks out.",
                        json::parse(R"({"type":"object","properties":{)"
                                    R"("city":{"type":"string"}},)"
                                    R"("required":["city"]})")},
    ai::tool_definition{"clock"},
    ai::tool_definition{"plan_trip", "", schema_of<trip>()},
  };
  ai::tool_choice choice = ai::tool_choice::automatic;
};

} // namespace

// -- conversation -------------------------------------------------------------

TEST_F(offline_model, it_turns_what_is_said_into_a_question) {
  EXPECT_EQ(say("I am sure that you like my dog."),
            "How does it feel to be sure that I like your dog?");
  EXPECT_EQ(say("I need a rest, but nobody gives me one"),
            "Would a rest really help you?");
}

TEST_F(offline_model, it_is_sorry_for_who_is_tired) {
  const auto text = say("I am tired");
  EXPECT_TRUE(has(text, "tired"));
  EXPECT_NE(text, say("I am tired")) << "it does not repeat itself";
}

TEST_F(offline_model, it_streams_word_by_word_what_it_answers) {
  const auto text = say("Hello");
  std::string streamed;
  for (const auto& x : received) {
    const auto word = x.text();
    EXPECT_GE(word.find(' '), word.size() - 1) << word;
    streamed += word;
  }
  EXPECT_EQ(streamed, text);
  EXPECT_GT(received.size(), 3u);
}

TEST_F(offline_model, it_comes_back_to_what_was_said_before) {
  say("My sister moved to Porto");
  EXPECT_TRUE(has(say("Hm"), "your sister moved to Porto"));
}

TEST_F(offline_model, it_knows_the_name_that_it_was_told) {
  EXPECT_EQ(say("What is my name?"), "You have not told me your name yet.");
  say("Hi! My name is Ada.");
  say("I like tea");
  EXPECT_EQ(say("Do you know my name?"), "You told me that your name is Ada.");
}

TEST_F(offline_model, it_can_say_what_was_said) {
  EXPECT_EQ(say("What did I say?"), "This is where we began.");
  talk = {};
  say("I am tired");
  EXPECT_EQ(say("What did I say?"), "You said \"I am tired\".");
}

TEST_F(offline_model, the_same_conversation_has_the_same_answer) {
  const auto texts = {"Hello", "I am tired", "My job is dull", "Hm", "Hm"};
  std::vector<std::string> first;
  for (const auto* x : texts)
    first.push_back(say(x));
  talk = {};
  std::vector<std::string> second;
  for (const auto* x : texts)
    second.push_back(say(x));
  EXPECT_EQ(first, second);
}

TEST_F(offline_model, any_text_has_an_answer) {
  for (const auto* x : {"", "   ", "?!", "\n", "%", "*", "i", "my", "you me",
                        "\xC3\xA9t\xC3\xA9", "I'm", "but but but", "because"})
    EXPECT_NE(say(x), "") << x;
  EXPECT_NE(say(std::string(10'000, 'x')), "");
}

TEST_F(offline_model, it_pauses_before_each_word_if_it_is_told_to) {
  ai::offline_options options;
  options.word_pause = 20ms;
  eliza = ai::define_offline_model(*rt, "slow", options);
  std::size_t words = 0;
  auto client = open_body([&](context ctx) -> task<> {
    const ai::message_log log{{ai::user_text("Hello")}};
    co_await eliza.generate(ctx, ai::generate_request{log},
                            [&](const ai::model_response_chunk&) { ++words; });
  });
  EXPECT_EQ(words, 0u);
  advance(20ms);
  EXPECT_EQ(words, 1u);
  advance(20ms);
  EXPECT_EQ(words, 2u);
  options.word_pause = -1ms;
  EXPECT_EQ(code_from([&] { ai::define_offline_model(*rt, "odd", options); }),
            errc::invalid_argument);
}

TEST_F(offline_model, it_keeps_to_the_limits_of_the_request) {
  ai::generate_request request{ai::message_log{{ai::user_text("Hello")}}};
  const auto full = answer(request);
  EXPECT_EQ(full.finish_reason, ai::finish_reason::stop);
  request.config.max_output_tokens = 2;
  const auto limited = answer(request);
  EXPECT_EQ(limited.finish_reason, ai::finish_reason::length);
  EXPECT_EQ(limited.usage, (ai::generation_usage{1, 2}));
  EXPECT_TRUE(full.text().starts_with(limited.text() + ' '));
  request.config.max_output_tokens.reset();
  request.config.stop_sequences = {full.text().substr(5, 3)};
  EXPECT_EQ(answer(request).text(), full.text().substr(0, 5));
}

// -- tools --------------------------------------------------------------------

TEST_F(offline_model, it_asks_for_the_tool_that_is_named) {
  for (const auto* text :
       {"Use the weather tool for Lisbon", "please call getWeather for Lisbon.",
        "Ask the get_weather tool: Lisbon", "run get weather with Lisbon"}) {
    const auto said = ask_with_tools(text);
    ASSERT_EQ(said.content.size(), 1u) << text;
    ASSERT_NE(said.content[0].as_request(), nullptr) << text;
    EXPECT_EQ(
      *said.content[0].as_request(),
      (ai::tool_request{"getWeather", json{{"city", "Lisbon"}}, "call-1-1"}))
      << to_json_text(said);
    ASSERT_EQ(received.size(), 1u);
    EXPECT_EQ(received[0].content[0], said.content[0]);
  }
}

TEST_F(offline_model, it_asks_for_several_tools_at_once) {
  const auto said = ask_with_tools(
    "Use the weather tool for Lisbon and then the clock tool, please");
  ASSERT_EQ(said.content.size(), 2u) << to_json_text(said);
  EXPECT_EQ(said.content[0].as_request()->input, (json{{"city", "Lisbon"}}));
  EXPECT_EQ(said.content[1].as_request()->name, "clock");
  EXPECT_EQ(said.content[1].as_request()->ref, "call-1-2");
}

TEST_F(offline_model, its_input_fits_the_schema) {
  const auto input_for = [&](const char* text) {
    const auto said = ask_with_tools(text);
    const auto* request = said.content.at(0).as_request();
    return request == nullptr ? json{} : request->input;
  };
  EXPECT_EQ(input_for("Use the plan trip tool to Porto, days 3"),
            json::parse(R"({"to":"Porto","days":3})"));
  EXPECT_EQ(input_for("Use plan_trip: to: Rome days: 12 byTrain no"),
            json::parse(R"({"to":"Rome","days":12,"byTrain":false})"));
  EXPECT_EQ(input_for(R"(Use plan_trip {"to":"Rome","days":2})"),
            json::parse(R"({"to":"Rome","days":2})"));
  EXPECT_EQ(input_for("Use plan_trip for 3 days").at("days"), 3);
  EXPECT_EQ(from_json<trip>(input_for("Use plan_trip")).to, "")
    << "what is not said is empty, but there";
}

TEST_F(offline_model, what_is_nested_too_deep_is_no_input) {
  const std::size_t levels = 100'000;
  EXPECT_EQ(refusal([&] {
              (void)ask_with_tools("Use plan_trip " + std::string(levels, '[')
                                   + std::string(levels, ']'));
            }),
            "$: expected at most 200 levels of arrays and objects, found more");
}

TEST_F(offline_model, it_says_what_the_tools_have_answered) {
  const auto request = ask_with_tools("Use the weather tool for Lisbon");
  std::vector<ai::tool_response> done;
  done.emplace_back("getWeather", json{{"sky", "clear"}, {"degrees", 18}});
  done.emplace_back("clock", "noon");
  ai::generate_request question{
    ai::message_log{{ai::user_text("Use the weather tool for Lisbon"), request,
                     ai::tool_responses(std::move(done))}}};
  question.tools = tools;
  question.tool_choice = ai::tool_choice::required;
  EXPECT_EQ(answer(question).text(),
            "The get weather tool says: degrees 18, sky clear. "
            "The clock tool says: noon.");
}

TEST_F(offline_model, it_heeds_whether_it_may_use_tools) {
  choice = ai::tool_choice::none;
  const auto text = ask_with_tools("Use the clock tool").text();
  EXPECT_EQ(text, reply_without_tools("Use the clock tool"));
  choice = ai::tool_choice::required;
  const auto said = ask_with_tools("Hello");
  ASSERT_NE(said.content[0].as_request(), nullptr);
  EXPECT_EQ(said.content[0].as_request()->name, "getWeather");
}

TEST_F(offline_model, it_says_which_tool_it_does_not_have) {
  EXPECT_EQ(ask_with_tools("Use the hammer tool on it").text(),
            "I have no tool called hammer. I could use getWeather, clock, "
            "plan_trip.");
  tools.clear();
  EXPECT_EQ(ask_with_tools("Use the hammer tool on it").text(),
            "I have no tool called hammer.");
}

TEST_F(offline_model, it_talks_about_tools_without_using_them) {
  EXPECT_EQ(ask_with_tools("The weather is fine").content[0].as_request(),
            nullptr);
}

// -- structured output --------------------------------------------------------

TEST_F(offline_model, an_answer_of_a_certain_shape_is_json_of_that_shape) {
  ai::generate_request request{
    ai::message_log{{ai::user_text("to Porto, days 3")}}};
  request.output_schema = schema_of<trip>();
  const auto made = parse_json<trip>(answer(request).text());
  EXPECT_EQ(made.to, "Porto");
  EXPECT_EQ(made.days, 3);
}

TEST_F(offline_model, any_schema_has_a_value) {
  for (const auto* x :
       {R"({})", R"(true)", R"({"type":"array","items":{"type":"integer"}})",
        R"({"enum":["a","b"]})", R"({"const":7})", R"({"type":"null"})",
        R"({"anyOf":[{"type":"null"},{"type":"number","minimum":2}]})",
        R"({"type":["null","boolean"]})", R"({"$ref":"#/nowhere"})",
        R"({"$ref":"#"})", R"({"type":"object","properties":7})",
        R"({"type":"object","properties":{"a":{"$ref":"#"}},)"
        R"("required":["a"]})"}) {
    ai::generate_request request{
      ai::message_log{{ai::user_text("1, 2 and b")}}};
    request.output_schema = json::parse(x);
    EXPECT_NO_THROW((void)parse_json<json>(answer(request).text())) << x;
  }
}

} // namespace tertulia::test::offline_model_tests
