// SPDX-License-Identifier: BSD-3-Clause

// JSON of parts, messages, artifacts and answers, as written by Genkit.

#include <tertulia/ai/artifact.hpp>
#include <tertulia/ai/message.hpp>
#include <tertulia/ai/message_log.hpp>
#include <tertulia/ai/model.hpp>
#include <tertulia/ai/part.hpp>
#include <tertulia/schema.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/json_texts.hpp"
#include "support/refusal.hpp"
#include <gtest/gtest.h>

namespace tertulia::test::values_tests {

namespace {

using namespace ai;

// -- parts --------------------------------------------------------------------

TEST(values, each_kind_of_part_is_written_as_by_genkit) {
  expect_text(part::text("hi"), R"({"text":"hi"})");
  expect_text(part::media("u", "image/png"),
              R"({"media":{"contentType":"image/png","url":"u"}})");
  expect_text(part::request("add", {{"a", 1}}, "r"),
              R"({"toolRequest":{"name":"add","ref":"r","input":{"a":1}}})");
  expect_text(part::response("add", 2, "r"),
              R"({"toolResponse":{"name":"add","ref":"r","output":2}})");
  expect_text(part::data({1, "a"}), R"({"data":[1,"a"]})");
  expect_text(part::reasoning("so"), R"({"reasoning":"so"})");
  expect_text(part::custom({{"k", nullptr}}), R"({"custom":{"k":null}})");
  expect_text(part::resource("file:///a"),
              R"({"resource":{"uri":"file:///a"}})");
}

TEST(values, what_is_empty_in_a_part_is_left_out) {
  expect_text(part{}, R"({"text":""})");
  expect_text(part::media("u"), R"({"media":{"url":"u"}})");
  expect_text(part::request("f"), R"({"toolRequest":{"name":"f"}})");
  expect_text(part::response("f"), R"({"toolResponse":{"name":"f"}})");
  expect_text(part::data({}), R"({"data":null})");
  expect_text(part{custom_part{}}, R"({"custom":{}})");
  // an empty object is not null
  expect_text(part::request("f", json::object()),
              R"({"toolRequest":{"name":"f","input":{}}})");
}

TEST(values, a_text_keeps_its_content_type) {
  expect_text(part::text("<b>", "text/html"),
              R"({"text":"<b>","contentType":"text/html"})");
  const part x{text_part{"<b>", "text/html"}, {{"k", 1}}};
  expect_text(x,
              R"({"text":"<b>","contentType":"text/html","metadata":{"k":1}})");
  EXPECT_NE(part::text("<b>"), part::text("<b>", "text/html"));
}

TEST(values, metadata_comes_last_for_each_kind) {
  const std::vector<part> parts{text_part{},    media_part{},
                                tool_request{}, tool_response{},
                                data_part{},    reasoning_part{},
                                custom_part{},  resource_part{}};
  for (auto x : parts) {
    x.metadata = {{"z", 1}, {"a", json::object()}};
    EXPECT_TRUE(to_json_text(x).ends_with(R"(,"metadata":{"a":{},"z":1}})"));
    EXPECT_EQ(parse_json<part>(to_json_text(x)), x);
  }
}

TEST(values, a_part_says_what_it_is) {
  EXPECT_EQ(part{}.which(), part::kind::text);
  EXPECT_EQ(part::resource("u").which(), part::kind::resource);
  EXPECT_EQ(part::text("a").as_text()->text, "a");
  EXPECT_EQ(part::media("u").as_media()->url, "u");
  EXPECT_EQ(part::request("f", 1, "r").as_request()->ref, "r");
  EXPECT_EQ(part::response("f", 1).as_response()->output, 1);
  EXPECT_EQ(part::data(1).as_data()->data, 1);
  EXPECT_EQ(part::reasoning("a").as_reasoning()->reasoning, "a");
  EXPECT_EQ(part::custom({{"a", 1}}).as_custom()->custom["a"], 1);
  EXPECT_EQ(part::resource("u").as_resource()->uri, "u");
  EXPECT_EQ(part::text("a").as_data(), nullptr);
  EXPECT_EQ(part::data("a").as_text(), nullptr);
}

TEST(values, integers_are_exact_anywhere_in_a_part) {
  for (const std::string number :
       {"9007199254740993", "-9007199254740993", "-9223372036854775808",
        "9223372036854775807", "18446744073709551615"})
    for (const std::string before :
         {R"({"data":)", R"({"toolRequest":{"name":"f","input":[)",
          R"({"toolResponse":{"name":"f","output":{"k":)", R"({"custom":{"k":)",
          R"({"text":"","metadata":{"k":)"}) {
      auto text = before + number;
      for (auto i = before.rbegin(); i != before.rend(); ++i)
        if (*i == '{' || *i == '[')
          text += *i == '{' ? '}' : ']';
      (void)expect_same_text<part>(text);
    }
  const auto x = parse_json<part>(R"({"data":-9223372036854775808})");
  EXPECT_EQ(x.as_data()->data.get<std::int64_t>(), INT64_MIN);
  const auto y = parse_json<part>(R"({"data":18446744073709551615})");
  EXPECT_EQ(y.as_data()->data.get<std::uint64_t>(), UINT64_MAX);
}

TEST(values, a_part_of_no_kind_is_refused) {
  const std::string expected
    = "expected exactly one of text, media, toolRequest, toolResponse, data, "
      "reasoning, custom, resource, found none of them";
  EXPECT_EQ(refusal_to_read<part>("{}"), "$: " + expected);
  EXPECT_EQ(refusal_to_read<part>(R"({"metadata":{"text":""}})"),
            "$: " + expected);
  EXPECT_EQ(refusal_to_read<std::vector<message>>(
              R"([{"content":[{"text":""},{"txt":""}]}])"),
            "$[0].content[1]: " + expected);
}

TEST(values, a_part_of_two_kinds_is_refused) {
  EXPECT_EQ(refusal_to_read<message>(
              R"({"content":[{"media":{"url":""},"text":"","data":null}]})"),
            "$.content[0]: expected exactly one of text, media, toolRequest, "
            "toolResponse, data, reasoning, custom, resource, found text and "
            "media and data");
}

TEST(values, what_does_not_fit_into_a_part_is_refused_with_its_path) {
  const std::vector<std::pair<std::string, std::string>> all{
    {"[]", "$: expected an object, found an array"},
    {R"({"text":1})", "$.text: expected a string, found 1"},
    {R"({"text":null})", "$.text: expected a string, found null"},
    {R"({"text":"","contentType":1})",
     "$.contentType: expected a string, found 1"},
    {R"({"media":"u"})", "$.media: expected an object, found a string"},
    {R"({"media":{"url":1}})", "$.media.url: expected a string, found 1"},
    {R"({"toolRequest":{"ref":[]}})",
     "$.toolRequest.ref: expected a string, found an array"},
    {R"({"toolResponse":{"name":true}})",
     "$.toolResponse.name: expected a string, found a boolean"},
    {R"({"reasoning":{}})", "$.reasoning: expected a string, found an object"},
    {R"({"custom":[]})", "$.custom: expected an object, found an array"},
    {R"({"resource":{"uri":{}}})",
     "$.resource.uri: expected a string, found an object"},
    {R"({"data":1,"metadata":[]})",
     "$.metadata: expected an object, found an array"},
  };
  for (const auto& [text, message] : all)
    EXPECT_EQ(refusal_to_read<part>(text), message);
}

TEST(values, what_has_no_json_is_not_written) {
  EXPECT_EQ(refusal_to_write(part::text("a\xff")),
            "$.text: expected UTF-8, found an invalid byte at offset 1");
  EXPECT_EQ(refusal_to_write(part::custom({1})),
            "$.custom: expected an object, found an array");
  EXPECT_EQ(refusal_to_write(part::request("f", {{"x", std::nan("")}})),
            "$.toolRequest.input.x: expected a finite number, found NaN");
  EXPECT_EQ(refusal_to_write(message{role::user, {part::data(INFINITY)}}),
            "$.content[0].data: expected a finite number, found an infinity");
}

TEST(values, what_is_not_known_of_a_part_is_ignored) {
  EXPECT_EQ(parse_json<part>(R"({"text":"a","later":1})"), part::text("a"));
}

TEST(values, the_schema_of_a_part_has_exactly_one_kind) {
  const auto schema = schema_without_dialect<part>();
  ASSERT_EQ(schema["oneOf"].size(), 8u);
  EXPECT_EQ(schema["oneOf"][0], parsed(R"({"type":"object","properties":{
    "text":{"type":"string"},"contentType":{"type":"string"},
    "metadata":{"type":"object"}},"required":["text"]})"));
  EXPECT_EQ(schema["oneOf"][2], parsed(R"({"type":"object","properties":{
    "toolRequest":{"type":"object","properties":{"name":{"type":"string"},
      "ref":{"type":"string"},"input":{}},"required":["name"]},
    "metadata":{"type":"object"}},"required":["toolRequest"]})"));
  EXPECT_EQ(schema["oneOf"][6], parsed(R"({"type":"object","properties":{
    "custom":{"type":"object"},
    "metadata":{"type":"object"}},"required":["custom"]})"));
}

// -- messages -----------------------------------------------------------------

TEST(values, a_message_is_written_in_the_order_of_go) {
  expect_text(message{}, R"({"content":[],"role":"user"})");
  expect_text(message(role::tool, {part::text("a")}, {{"k", 1}}),
              R"({"content":[{"text":"a"}],"metadata":{"k":1},"role":"tool"})");
  EXPECT_EQ(refusal_to_read<message>(R"({"content":[],"role":"bot"})"),
            R"($.role: expected one of "system", "user", "model", "tool", )"
            R"(found "bot")");
}

TEST(values, a_message_of_text_has_its_role) {
  expect_text(system_text("a"),
              R"({"content":[{"text":"a"}],"role":"system"})");
  expect_text(user_text("a"), R"({"content":[{"text":"a"}],"role":"user"})");
  expect_text(model_text("a"), R"({"content":[{"text":"a"}],"role":"model"})");
}

TEST(values, the_text_of_a_message_is_that_of_its_text_parts) {
  EXPECT_EQ(message{}.text(), "");
  const message x{role::model,
                  {part::text("a"), part::reasoning("b"),
                   part::text("c", "text/html"), part::data("d")}};
  EXPECT_EQ(x.text(), "ac");
}

TEST(values, the_answers_of_tools_are_one_message) {
  expect_text(tool_responses(
                {tool_response{"f", 1, "a"}, tool_response{"g", nullptr, "b"}}),
              R"({"content":[{"toolResponse":{"name":"f","ref":"a",)"
              R"("output":1}},{"toolResponse":{"name":"g","ref":"b"}}],)"
              R"("role":"tool"})");
}

TEST(values, a_message_has_a_schema) {
  const auto schema = schema_without_dialect<message>();
  EXPECT_EQ(schema["required"], parsed(R"(["content","role"])"));
  EXPECT_EQ(schema["properties"]["content"]["items"],
            schema_without_dialect<part>());
}

// -- artifacts ----------------------------------------------------------------

TEST(values, an_artifact_leaves_out_an_empty_name) {
  expect_text(artifact{}, R"({"parts":[]})");
  expect_text(artifact("a.go", {part::text("package a")}, {{"k", 1}}),
              R"({"name":"a.go","parts":[{"text":"package a"}],)"
              R"("metadata":{"k":1}})");
  EXPECT_EQ(schema_of<artifact>()["required"], parsed(R"(["parts"])"));
}

// -- models -------------------------------------------------------------------

TEST(values, a_chunk_of_an_answer_has_this_text) {
  expect_text(model_response_chunk{},
              R"({"content":[],"role":"model","index":0})");
  model_response_chunk x{{part::text("a"), part::text("b")}, role::tool, 3};
  x.aggregated = true;
  x.custom = 1;
  expect_text(x, R"({"content":[{"text":"a"},{"text":"b"}],"role":"tool",)"
                 R"("index":3,"aggregated":true,"custom":1})");
  EXPECT_EQ(x.text(), "ab");
  EXPECT_EQ(schema_of<model_response_chunk>()["required"],
            parsed(R"(["content","role","index"])"));
}

TEST(values, an_answer_leaves_out_what_is_empty) {
  expect_text(model_response{}, "{}");
  EXPECT_EQ(model_response{}.text(), "");
  EXPECT_FALSE(schema_of<model_response>().contains("required"));
  model_response x{model_text("a"), finish_reason::interrupted};
  x.finish_message = "wait";
  x.usage.emplace(2, 3);
  x.latency_ms = 1.5;
  x.custom = {{"k", 1}};
  expect_text(x, R"({"message":{"content":[{"text":"a"}],"role":"model"},)"
                 R"("finishReason":"interrupted","finishMessage":"wait",)"
                 R"("usage":{"inputTokens":2,"outputTokens":3,)"
                 R"("totalTokens":5},"latencyMs":1.5,"custom":{"k":1}})");
  EXPECT_EQ(x.text(), "a");
  expect_text(generation_usage{}, "{}");
}

TEST(values, each_reason_to_finish_has_its_name) {
  using enum finish_reason;
  EXPECT_EQ(to_json_text(
              std::vector{stop, length, blocked, interrupted, other, unknown}),
            R"(["stop","length","blocked","interrupted","other","unknown"])");
}

} // namespace

} // namespace tertulia::test::values_tests
