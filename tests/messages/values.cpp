// SPDX-License-Identifier: BSD-3-Clause

// Members that a struct omits from its JSON, and the JSON of class templates.

#include <tertulia/ai/artifact.hpp>
#include <tertulia/ai/message.hpp>
#include <tertulia/ai/message_log.hpp>
#include <tertulia/ai/model.hpp>
#include <tertulia/ai/part.hpp>
#include <tertulia/chunks.hpp>
#include <tertulia/inspect.hpp>
#include <tertulia/nothing.hpp>
#include <tertulia/schema.hpp>

#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>
#include <caf/deep_to_string.hpp>

#include <array>
#include <cmath>
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

#include "support/json_texts.hpp"
#include <gtest/gtest.h>

namespace buyer {

enum class colour { red, blue };
BOOST_DESCRIBE_ENUM(colour, red, blue)

/// Struct with a member of each type that can be empty, and of some that never
/// are.
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

/// Struct that lists a member of its base as omitted when empty.
struct plant : named {};
BOOST_DESCRIBE_STRUCT(plant, (named), ())

struct exact {
  std::string name;
};
BOOST_DESCRIBE_STRUCT(exact, (), (name))

/// Class template, like the states of conversations.
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

} // namespace tertulia

namespace tertulia::test::values_tests {

namespace {

using namespace ai;

// -- supported types ----------------------------------------------------------

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

// -- omission -----------------------------------------------------------------

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
  EXPECT_FALSE(has(schema.dump(), "$schema"));
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

} // namespace

} // namespace tertulia::test::values_tests
