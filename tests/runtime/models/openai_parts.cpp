// SPDX-License-Identifier: BSD-3-Clause

#include "runtime/models/openai/request_json.hpp"
#include "runtime/models/openai/response_assembly.hpp"
#include "support/refusal.hpp"
#include <gtest/gtest.h>

using namespace std::literals;

namespace tertulia::test::openai_parts_tests {

namespace {

json openai_body_of(const ai::generate_request& request) {
  return json::parse(openai::request_text("m", request));
}

ai::generate_request openai_asking(std::vector<ai::message> messages) {
  return ai::generate_request{ai::message_log{std::move(messages)}};
}

/// Returns the response that is assembled from these events.
ai::model_response openai_assembled(const std::vector<std::string>& events) {
  openai::response_assembly result;
  for (const auto& x : events)
    result.take(x);
  result.take_requests();
  return result.finish();
}

} // namespace

// -- requests -----------------------------------------------------------------

TEST(openai_request, it_says_what_was_asked) {
  auto asked = openai_asking({ai::user_text("Rain?")});
  asked.system = "Be brief.";
  asked.config.temperature = 0.5;
  asked.config.max_output_tokens = 10;
  asked.config.stop_sequences = {"END"};
  asked.config.custom = json{{"seed", 7}};
  asked.output_schema = json{{"type", "object"}};
  EXPECT_EQ(openai_body_of(asked), json::parse(R"({
    "model":"m","stream":true,"stream_options":{"include_usage":true},
    "messages":[{"role":"system","content":"Be brief."},
                {"role":"user","content":"Rain?"}],
    "temperature":0.5,"max_tokens":10,"stop":["END"],"seed":7,
    "response_format":{"type":"json_schema","json_schema":
      {"name":"answer","schema":{"type":"object"}}}})"));
}

TEST(openai_request, tools_and_whether_to_use_them_are_told) {
  auto asked = openai_asking({ai::user_text("Rain?")});
  asked.tools.emplace_back("weather", "Looks out.", json{{"type", "object"}});
  asked.tools.emplace_back("clock");
  asked.tool_choice = ai::tool_choice::required;
  const auto body = openai_body_of(asked);
  EXPECT_EQ(body.at("tools"), json::parse(R"([
    {"type":"function","function":{"name":"weather",
      "description":"Looks out.","parameters":{"type":"object"}}},
    {"type":"function","function":{"name":"clock",
      "parameters":{"type":"object","properties":{}}}}])"));
  EXPECT_EQ(body.at("tool_choice"), "required");
}

TEST(openai_request, pictures_are_sent_by_their_url) {
  ai::message said;
  said.content = {ai::part::text("What is this?"),
                  ai::part::media("https://example.org/cat.png"),
                  ai::part::media("data:image/png;base64,AA==", "image/png")};
  EXPECT_EQ(openai_body_of(openai_asking({said})).at("messages"),
            json::parse(R"([
    {"role":"user","content":[{"type":"text","text":"What is this?"},
      {"type":"image_url","image_url":{"url":"https://example.org/cat.png"}},
      {"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}
    ]}])"));
  said.content = {ai::part::media("https://example.org/a.mp3", "audio/mpeg")};
  EXPECT_EQ(refusal([&] { (void)openai_body_of(openai_asking({said})); }),
            "this model takes pictures, not audio/mpeg");
}

TEST(openai_request, each_tool_response_names_the_request_it_answers) {
  const ai::message wanted{ai::role::model,
                           {ai::part::request("a", 1, "id-1"),
                            ai::part::request("b", json{}, ""),
                            ai::part::request("b", "x", "")}};
  std::vector<ai::tool_response> done;
  done.emplace_back("b", "first");
  done.emplace_back("a", json{{"n", 1}}, "id-1");
  done.emplace_back("b", "second");
  const auto body = openai_body_of(openai_asking(
    {ai::user_text("go"), wanted, ai::tool_responses(std::move(done))}));
  const auto& messages = body.at("messages");
  ASSERT_EQ(messages.size(), 5u);
  EXPECT_EQ(messages[1], json::parse(R"({"role":"assistant","content":null,
    "tool_calls":[
      {"id":"id-1","type":"function",
       "function":{"name":"a","arguments":"1"}},
      {"id":"call_1_1","type":"function",
       "function":{"name":"b","arguments":"{}"}},
      {"id":"call_1_2","type":"function",
       "function":{"name":"b","arguments":"\"x\""}}]})"));
  EXPECT_EQ(messages[2], json::parse(R"({"role":"tool",
    "tool_call_id":"call_1_1","content":"first"})"));
  EXPECT_EQ(messages[3], json::parse(R"({"role":"tool",
    "tool_call_id":"id-1","content":"{\"n\":1}"})"));
  EXPECT_EQ(messages[4], json::parse(R"({"role":"tool",
    "tool_call_id":"call_1_2","content":"second"})"));
}

// -- answers ------------------------------------------------------------------

TEST(openai_answer, text_thoughts_and_usage_are_put_together) {
  const auto answer = openai_assembled(
    {R"({"choices":[{"delta":{"role":"assistant","content":""}}]})",
     R"({"choices":[{"delta":{"reasoning_content":"Hm."}}]})",
     R"({"choices":[{"delta":{"content":"Hel"}}]})",
     R"({"choices":[{"delta":{"content":"lo"},"finish_reason":null}]})",
     R"({"choices":[{"delta":{},"finish_reason":"length"}]})",
     R"({"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,)"
     R"("total_tokens":7}})",
     "[DONE]", R"({"choices":[{"delta":{"content":"?"}}]})"});
  EXPECT_EQ(answer.text(), "Hello") << "nothing follows the end";
  EXPECT_EQ(answer.message->content.at(0), ai::part::reasoning("Hm."));
  EXPECT_EQ(answer.finish_reason, ai::finish_reason::length);
  EXPECT_EQ(answer.usage, (ai::generation_usage{5, 2}));
}

TEST(openai_answer, tool_calls_that_come_in_pieces_are_put_together) {
  const auto answer = openai_assembled(
    {R"({"choices":[{"delta":{"tool_calls":[{"index":1,"id":"y",)"
     R"("function":{"name":"clock","arguments":""}}]}}]})",
     R"({"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x",)"
     R"("function":{"name":"weather","arguments":"{\"ci"}}]}}]})",
     R"({"choices":[{"delta":{"tool_calls":[{"index":0,)"
     R"("function":{"arguments":"ty\":\"Lisbon\"}"}}]}}]})",
     R"({"choices":[{"delta":{},"finish_reason":"tool_calls"}]})"});
  EXPECT_EQ(
    answer.message->content,
    (std::vector{ai::part::request("weather", json{{"city", "Lisbon"}}, "x"),
                 ai::part::request("clock", json::object(), "y")}));
  EXPECT_EQ(answer.finish_reason, ai::finish_reason::stop);
}

TEST(openai_answer, tool_calls_that_nobody_has_counted_are_told_by_their_ids) {
  const auto piece = [](const char* id, const char* name, const char* input) {
    json call{{"function", {{"arguments", input}}}};
    if (*id != '\0')
      call["id"] = id;
    if (*name != '\0')
      call["function"]["name"] = name;
    return json{{"choices", {{{"delta", {{"tool_calls", {call}}}}}}}}.dump();
  };
  const auto answer = openai_assembled(
    {piece("x", "weather", R"({"ci)"), piece("", "", R"(ty":"Lis)"),
     piece("y", "clock", "{}"), piece("x", "", R"(bon"})"),
     R"({"choices":[{"delta":{},"finish_reason":"tool_calls"}]})"});
  EXPECT_EQ(
    answer.message->content,
    (std::vector{ai::part::request("weather", json{{"city", "Lisbon"}}, "x"),
                 ai::part::request("clock", json::object(), "y")}));
}

TEST(openai_answer, tool_calls_that_come_at_once_need_neither) {
  const auto calls = R"({"tool_calls":[)"
                     R"({"function":{"name":"clock","arguments":"{}"}},)"
                     R"({"function":{"name":"clock","arguments":"{}"}}]},)"
                     R"("finish_reason":"tool_calls"}]})"s;
  const auto clock = ai::part::request("clock", json::object(), "");
  openai::response_assembly whole;
  whole.take_document(R"({"choices":[{"message":)" + calls);
  whole.take_requests();
  EXPECT_EQ(whole.finish().message->content, (std::vector{clock, clock}));
  const auto streamed = openai_assembled({R"({"choices":[{"delta":)" + calls});
  EXPECT_EQ(streamed.message->content, (std::vector{clock, clock}));
}

TEST(openai_answer, tool_calls_side_by_side_may_have_one_id) {
  const auto clock = ai::part::request("clock", json::object(), "clock");
  openai::response_assembly whole;
  whole.take_document(
    R"({"choices":[{"message":{"tool_calls":[)"
    R"({"id":"clock","function":{"name":"clock","arguments":"{}"}},)"
    R"({"id":"clock","function":{"name":"clock","arguments":"{}"}}]},)"
    R"("finish_reason":"tool_calls"}]})");
  whole.take_requests();
  EXPECT_EQ(whole.finish().message->content, (std::vector{clock, clock}));
}

TEST(openai_answer, of_an_answer_that_is_too_long_half_a_call_is_left_out) {
  for (const auto* half : {"", R"({"ci)", "1"}) {
    json calls = json::array();
    calls.push_back({{"index", 0}, {"id", "x"}});
    calls[0]["function"] = {{"name", "clock"}, {"arguments", "{}"}};
    calls.push_back({{"index", 1}, {"id", "y"}});
    calls[1]["function"] = {{"name", "weather"}, {"arguments", half}};
    json choice{{"finish_reason", "length"}};
    choice["delta"] = {{"content", "Let me see"}, {"tool_calls", calls}};
    json event;
    event["choices"] = json::array({choice});
    const auto answer = openai_assembled({event.dump()});
    EXPECT_EQ(answer.finish_reason, ai::finish_reason::length);
    EXPECT_EQ(answer.message->content,
              (std::vector{ai::part::text("Let me see"),
                           ai::part::request("clock", json::object(), "x")}))
      << half;
  }
}

TEST(openai_answer, what_was_withheld_is_blocked) {
  const auto filtered
    = openai_assembled({R"({"choices":[{"finish_reason":"content_filter"}]})"});
  EXPECT_EQ(filtered.finish_reason, ai::finish_reason::blocked);
  EXPECT_FALSE(filtered.message);
  const auto refused = openai_assembled(
    {R"({"choices":[{"delta":{"refusal":"No."},"finish_reason":"stop"}]})"});
  EXPECT_EQ(refused.finish_reason, ai::finish_reason::blocked);
  EXPECT_EQ(refused.finish_message, "No.");
}

TEST(openai_answer, an_answer_in_one_document_is_read_too) {
  openai::response_assembly answer;
  const auto piece = answer.take_document(
    R"({"choices":[{"message":{"role":"assistant","content":"Hi"},)"
    R"("finish_reason":"stop"}]})");
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece->text(), "Hi");
  EXPECT_EQ(answer.finish().text(), "Hi");
}

TEST(openai_answer, what_is_not_of_the_protocol_is_data_loss) {
  for (const auto* x :
       {"{", "", "7", "[]", "\xFF", R"({"choices":[7]})",
        R"({"choices":[{"delta":7}]})", R"({"choices":[{"delta":[]}]})",
        R"({"choices":[{"delta":{"content":7}}]})",
        R"({"choices":[{"delta":{"tool_calls":7}}]})",
        R"({"choices":[{"delta":{"tool_calls":[7]}}]})",
        R"({"choices":[{"delta":{"tool_calls":[{"index":"x"}]}}]})",
        R"({"choices":[{"delta":{"tool_calls":[{"index":-1}]}}]})",
        R"({"choices":[{"delta":{"tool_calls":[{"function":7}]}}]})",
        R"({"choices":[{"delta":{"tool_calls":[{"function":)"
        R"({"arguments":"{}"}}]},"finish_reason":"stop"}]})",
        R"({"choices":[{"delta":{"tool_calls":[{"function":)"
        R"({"name":"a","arguments":"{"}}]},"finish_reason":"stop"}]})"})
    EXPECT_EQ(code_from([&] { openai_assembled({x}); }), errc::data_loss) << x;
}

TEST(openai_answer, a_stranger_cannot_fill_the_memory_with_tool_calls) {
  openai::response_assembly answer;
  const auto error = error_of([&] {
    for (int i = 0; i < 1'000; ++i)
      answer.take(R"({"choices":[{"delta":{"tool_calls":[{"index":)"
                  + std::to_string(i) + "}]}}]}");
  });
  EXPECT_EQ(error.code(), errc::resource_exhausted);
}

TEST(openai_answer, a_tool_call_has_its_limit) {
  openai::response_assembly answer;
  const auto piece
    = R"({"choices":[{"delta":{"tool_calls":[{"index":0,"function":)"
      R"({"arguments":")"
      + std::string(600'000, ' ') + R"("}}]}}]})";
  answer.take(piece);
  EXPECT_EQ(code_from([&] { answer.take(piece); }), errc::resource_exhausted);
}

TEST(openai_answer, an_answer_without_its_end_is_cut_off) {
  EXPECT_EQ(code_from([] {
              openai_assembled(
                {R"({"choices":[{"delta":{"content":"Hel"}}]})"});
            }),
            errc::unavailable);
  EXPECT_EQ(error_text([] {
              openai_assembled({R"({"error":{"message":"overloaded"}})"});
            }),
            "unavailable: the server says: overloaded");
  const auto bare
    = error_of([] { openai_assembled({R"({"error":"no \"x\""})"}); });
  EXPECT_EQ(bare.message(), "the server says: no \"x\"");
}

} // namespace tertulia::test::openai_parts_tests
