// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/artifact.hpp>
#include <tertulia/ai/message.hpp>
#include <tertulia/ai/message_log.hpp>
#include <tertulia/ai/model.hpp>
#include <tertulia/ai/part.hpp>
#include <tertulia/chunks.hpp>
#include <tertulia/describe.hpp>
#include <tertulia/nothing.hpp>
#include <tertulia/schema.hpp>
#include <tertulia/sha256.hpp>

#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>
#include <caf/deep_to_string.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "support/gen_messages.hpp"
#include "support/refusal.hpp"
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace buyer {

enum class colour { red, blue };
BOOST_DESCRIBE_ENUM(colour, red, blue)

/// One member of each type that can be empty, and of some that never are.
struct drawer {
  std::string text;
  std::vector<int> list;
  std::set<int> set;
  std::map<std::string, int> map;
  tertulia::chunks<int> coded;
  tertulia::ai::message_log log;
  std::optional<int> maybe;
  std::shared_ptr<const int> owner;
  tertulia::json any;
  std::variant<std::monostate, int> choice;
  bool flag = false;
  int count = 0;
  double real = 0;
  tertulia::nothing none;
  std::array<int, 1> one{};
  std::pair<int, int> two;
  colour shade = colour::red;
  tertulia::ai::media_part inner;
  std::string kept;
};
BOOST_DESCRIBE_STRUCT(drawer, (),
                      (text, list, set, map, coded, log, maybe, owner, any,
                       choice, flag, count, real, none, one, two, shade, inner,
                       kept))

struct named {
  std::string full_name;
  std::string nick_name;
};
BOOST_DESCRIBE_STRUCT(named, (), (full_name, nick_name))

struct pet : named {
  int age = 0;
};
BOOST_DESCRIBE_STRUCT(pet, (named), (age))

/// Lists a member of its base.
struct plant : named {};
BOOST_DESCRIBE_STRUCT(plant, (named), ())

struct exact {
  std::string name;
};
BOOST_DESCRIBE_STRUCT(exact, (), (name))

/// A class template, as states of conversations are.
template <class State>
struct page {
  tertulia::ai::message_log messages;
  State custom{};
  std::vector<tertulia::ai::artifact> artifacts;

  friend bool operator==(const page&, const page&) = default;

  BOOST_DESCRIBE_CLASS(page, (), (messages, custom, artifacts), (), ())
};

} // namespace buyer

namespace tertulia {

template <>
inline constexpr auto omitted_when_empty<buyer::drawer> = std::tuple{
  &buyer::drawer::text,  &buyer::drawer::list,   &buyer::drawer::set,
  &buyer::drawer::map,   &buyer::drawer::coded,  &buyer::drawer::log,
  &buyer::drawer::maybe, &buyer::drawer::owner,  &buyer::drawer::any,
  &buyer::drawer::flag,  &buyer::drawer::choice, &buyer::drawer::count,
  &buyer::drawer::real,  &buyer::drawer::none,   &buyer::drawer::one,
  &buyer::drawer::two,   &buyer::drawer::shade,  &buyer::drawer::inner};

template <>
inline constexpr auto omitted_when_empty<buyer::named> = std::tuple{
  &buyer::named::nick_name};

template <>
inline constexpr auto omitted_when_empty<buyer::plant> = std::tuple{
  &buyer::plant::full_name};

template <class State>
inline constexpr auto omitted_when_empty<buyer::page<State>> = std::tuple{
  &buyer::page<State>::messages, &buyer::page<State>::custom,
  &buyer::page<State>::artifacts};

namespace {

using namespace ai;
using test::refusal_to_read;
using test::refusal_to_write;

const auto golden = std::filesystem::path{TERTULIA_SOURCE_DIR} / "tests/golden";

/// Reads a `T`, writes it, and expects the same text.
template <class T>
T expect_same_text(const std::string& text) {
  auto result = parse_json<T>(text);
  EXPECT_EQ(to_json_text(result), text);
  return result;
}

/// Writes `x`, expects this text, and reads it back.
template <class T>
void expect_text(const T& x, const std::string& text) {
  EXPECT_EQ(to_json_text(x), text);
  EXPECT_TRUE(parse_json<T>(text) == x) << text;
}

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  EXPECT_TRUE(in) << file;
  return {std::istreambuf_iterator<char>{in}, {}};
}

json parsed(const std::string& text) {
  return json::parse(text);
}

template <class T>
json schema_without_dialect() {
  auto result = schema_of<T>();
  EXPECT_EQ(result.erase("$schema"), 1u);
  return result;
}

// -- which types --------------------------------------------------------------

template <class... Ts>
constexpr bool are_no_aggregates = (!std::is_aggregate_v<Ts> && ...);

static_assert(
  are_no_aggregates<text_part, media_part, tool_request, tool_response,
                    data_part, reasoning_part, custom_part, resource_part, part,
                    message, artifact, model_response_chunk, generation_usage,
                    model_response, message_log>);
static_assert(json_value<part> && json_value<message> && json_value<artifact>);
static_assert(json_value<model_response> && json_value<model_response_chunk>);
static_assert(json_value<message_log>);
static_assert(described<buyer::page<int>> && json_value<buyer::page<int>>);
static_assert(!json_value<buyer::page<char>>);

// -- leaving out --------------------------------------------------------------

TEST(values, what_is_empty_is_left_out_where_the_struct_says_so) {
  EXPECT_EQ(to_json_text(buyer::drawer{}),
            R"({"one":[0],"two":[0,0],"shade":"red","inner":{"url":""},)"
            R"("kept":""})");
}

TEST(values, what_is_not_empty_is_written) {
  buyer::drawer x;
  x.text = "a";
  x.list = {0};
  x.set = {0};
  x.map = {{"", 0}};
  x.coded = {0};
  x.log = message_log{}.with(user_text(""));
  x.maybe = 0;
  x.owner = std::make_shared<const int>(0);
  x.any = json::object();
  x.choice = 0;
  x.flag = true;
  x.count = -1;
  x.real = -0.0;
  const auto text = to_json_text(x);
  EXPECT_EQ(text, R"({"text":"a","list":[0],"set":[0],"map":{"":0},)"
                  R"("coded":[0],"log":[{"content":[{"text":""}],)"
                  R"("role":"user"}],"maybe":0,"owner":0,"any":{},)"
                  R"("choice":0,"flag":true,"count":-1,"real":-0.0,"one":[0],)"
                  R"("two":[0,0],"shade":"red","inner":{"url":""},"kept":""})");
  const auto y = expect_same_text<buyer::drawer>(text);
  EXPECT_TRUE(std::signbit(y.real));
}

TEST(values, what_was_left_out_is_read_as_the_default) {
  const auto x = parse_json<buyer::drawer>("{}");
  EXPECT_EQ(to_json_text(x), to_json_text(buyer::drawer{}));
}

TEST(values, what_may_be_left_out_is_not_required) {
  const auto schema = schema_without_dialect<buyer::drawer>();
  EXPECT_EQ(schema["required"],
            parsed(R"(["one","two","shade","inner","kept"])"));
  EXPECT_EQ(schema["properties"].size(), 19u);
  EXPECT_EQ(schema["properties"]["text"], parsed(R"({"type":"string"})"));
}

TEST(values, what_a_base_leaves_out_is_left_out_of_what_derives_from_it) {
  EXPECT_EQ(to_json_text(buyer::named{}), R"({"fullName":""})");
  EXPECT_EQ(to_json_text(buyer::pet{}), R"({"fullName":"","age":0})");
  EXPECT_EQ(to_json_text(buyer::plant{}), "{}");
  EXPECT_EQ(schema_of<buyer::pet>()["required"],
            parsed(R"(["fullName","age"])"));
}

TEST(values, a_variant_finds_a_struct_whose_empty_members_are_left_out) {
  using either = std::variant<buyer::exact, buyer::pet>;
  const auto x = parse_json<either>(R"({"fullName":"Rex","age":1})");
  EXPECT_TRUE(std::holds_alternative<buyer::pet>(x));
}

// -- class templates ----------------------------------------------------------

TEST(values, a_class_template_is_described_inside_of_it) {
  using words = buyer::page<std::vector<std::string>>;
  words x;
  expect_text(x, "{}");
  x.custom = {"a"};
  x.messages = message_log{}.with(user_text("hi"));
  x.artifacts.emplace_back("n", std::vector<part>{});
  expect_text(x, R"({"messages":[{"content":[{"text":"hi"}],"role":"user"}],)"
                 R"("custom":["a"],"artifacts":[{"name":"n","parts":[]}]})");
}

TEST(values, a_member_of_any_type_may_be_listed_by_a_class_template) {
  EXPECT_EQ(to_json_text(buyer::page<int>{}), "{}");
  EXPECT_EQ(to_json_text(buyer::page<json>{}), "{}");
  EXPECT_EQ(to_json_text(buyer::page<nothing>{}), "{}");
  EXPECT_EQ(to_json_text(buyer::page<buyer::exact>{}),
            R"({"custom":{"name":""}})");
  EXPECT_EQ(schema_of<buyer::page<buyer::exact>>()["required"],
            parsed(R"(["custom"])"));
  EXPECT_FALSE(schema_of<buyer::page<int>>().contains("required"));
}

TEST(values, a_class_template_has_a_schema) {
  const auto schema = schema_without_dialect<buyer::page<int>>();
  EXPECT_EQ(schema["properties"]["custom"]["type"], "integer");
  EXPECT_EQ(schema["properties"]["messages"]["items"],
            schema_without_dialect<message>());
  EXPECT_EQ(schema.dump().find("$schema"), std::string::npos);
}

template <class T>
T over_the_wire(T x) {
  std::vector<char> bytes;
  caf::binary_serializer sink{nullptr, bytes};
  EXPECT_EQ(sink(x), caf::none);
  T result;
  caf::binary_deserializer source{nullptr, bytes};
  EXPECT_EQ(source(result), caf::none);
  return result;
}

TEST(values, a_class_template_can_be_sent_and_printed) {
  buyer::page<int> x;
  x.custom = 7;
  x.messages = message_log{}.with(user_text("hi"));
  EXPECT_TRUE(over_the_wire(x) == x);
  x.messages = {};
  EXPECT_EQ(caf::deep_to_string(x), R"({"custom":7})");
}

TEST(values, messages_artifacts_and_answers_can_be_sent) {
  const auto x = user_text("hi \U0001F600");
  EXPECT_EQ(over_the_wire(x), x);
  const artifact y{"a", {part::data(1)}};
  EXPECT_EQ(over_the_wire(y), y);
  const model_response z{x, finish_reason::stop};
  EXPECT_EQ(over_the_wire(z), z);
}

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
  // an empty object is no null
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

// -- anything -----------------------------------------------------------------

RC_GTEST_PROP(values, any_part_is_read_as_it_was_written, ()) {
  const auto x = *test::any_part();
  const auto text = to_json_text(x);
  const auto y = parse_json<part>(text);
  RC_ASSERT(y == x);
  RC_ASSERT(to_json_text(y) == text);
  RC_ASSERT(json::accept(text));
}

RC_GTEST_PROP(values, any_message_is_read_as_it_was_written, ()) {
  const auto x = *test::any_message();
  const auto text = to_json_text(x);
  const auto y = parse_json<message>(text);
  RC_ASSERT(y == x);
  RC_ASSERT(to_json_text(y) == text);
}

RC_GTEST_PROP(values, any_artifact_and_answer_is_read_as_it_was_written, ()) {
  const artifact x{
    *test::any_text(), {*test::any_part()}, *test::any_metadata()};
  RC_ASSERT(parse_json<artifact>(to_json_text(x)) == x);
  model_response y{*test::any_message()};
  y.custom = *test::any_json();
  y.finish_message = *test::any_text();
  RC_ASSERT(parse_json<model_response>(to_json_text(y)) == y);
  model_response_chunk z{{*test::any_part()}};
  z.custom = *test::any_json();
  z.index = *rc::gen::arbitrary<std::int64_t>();
  RC_ASSERT(parse_json<model_response_chunk>(to_json_text(z)) == z);
}

RC_GTEST_PROP(values, any_json_is_read_as_a_part_or_refused, ()) {
  try {
    const auto x = from_json<part>(*test::any_json());
    RC_ASSERT(parse_json<part>(to_json_text(x)) == x);
  } catch (const status_error& e) {
    RC_ASSERT(e.code() == errc::invalid_argument);
  }
}

// -- golden vectors -----------------------------------------------------------

TEST(values, golden_texts_are_written_as_they_were_read) {
  auto files = 0;
  auto sums = std::ifstream{golden / "SHA256SUMS"};
  for (std::string sum, name; sums >> sum >> name; ++files) {
    const auto text = bytes_of(golden / name);
    sha256 hash;
    hash.update(text);
    EXPECT_EQ(hash.hex(), sum) << name;
    if (name.starts_with("messages_")) {
      const auto messages = expect_same_text<std::vector<message>>(text);
      const message_log log{messages};
      EXPECT_EQ(to_json_text(log), text) << name;
      if (log.empty())
        continue;
      auto whole = log.digest();
      whole.update("]}");
      sha256 expected;
      expected.update("{\"messages\":" + text + '}');
      EXPECT_EQ(whole.hex(), expected.hex()) << name;
    } else {
      (void)expect_same_text<json>(text);
    }
  }
  EXPECT_EQ(files, 12);
}

TEST(values, every_golden_text_has_a_hash) {
  const auto sums = bytes_of(golden / "SHA256SUMS");
  for (const auto& entry : std::filesystem::directory_iterator{golden}) {
    const auto name = entry.path().filename().string();
    EXPECT_TRUE(name == "SHA256SUMS"
                || sums.find("  " + name + '\n') != std::string::npos)
      << name;
  }
}

} // namespace

} // namespace tertulia
