// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/conversation.hpp>
#include <tertulia/descriptor.hpp>
#include <tertulia/schema.hpp>
#include <tertulia/schema_check.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "support/refusal.hpp"

namespace checked {

enum class size { small, large };
BOOST_DESCRIBE_ENUM(size, small, large)

struct dish {
  std::string name;
  std::optional<double> price;
};
BOOST_DESCRIBE_STRUCT(dish, (), (name, price))

struct order {
  dish first;
  std::vector<dish> rest;
  std::map<size, std::uint8_t> counts;
  std::set<std::string> wishes;
  std::array<std::int32_t, 2> place{};
  std::pair<std::string, bool> paid;
  std::variant<std::string, dish> extra;
  std::shared_ptr<dish> maybe;
  tertulia::json anything;
};
BOOST_DESCRIBE_STRUCT(order, (),
                      (first, rest, counts, wishes, place, paid, extra, maybe,
                       anything))

struct tree {
  std::vector<tree> children;
};
BOOST_DESCRIBE_STRUCT(tree, (), (children))

} // namespace checked

namespace tertulia::test::schema_check_tests {

namespace {

/// Returns the error message for a value that does not match its schema; empty
/// if it matches.
std::string told(const std::string& schema, const std::string& x) {
  const auto error = error_of([&] {
    check_schema(json::parse(x), json::parse(schema));
    return 0;
  });
  if (error.code() == errc::ok)
    return {};
  EXPECT_EQ(error.code(), errc::invalid_argument);
  return error.message();
}

errc code_of_schema(const json& schema, const json& x = 1) {
  return code_from([&] {
    check_schema(x, schema);
    return 0;
  });
}

template <class T>
std::string told_of_type(const json& x) {
  return told(schema_of<T>().dump(), x.dump());
}

json an_order() {
  return json::parse(R"({"first":{"name":"soup"},
    "rest":[{"name":"bread","price":1.5}],"counts":{"small":2},
    "wishes":["a","b"],"place":[-1,7],"paid":["cash",true],"extra":"salt",
    "maybe":null,"anything":[{}]})");
}

} // namespace

// -- schemas of types ---------------------------------------------------------

TEST(schema_check, what_a_type_writes_is_what_its_schema_says) {
  EXPECT_EQ(told_of_type<checked::order>(an_order()), "");
  EXPECT_EQ(told_of_type<checked::order>(
              to_json(from_json<checked::order>(an_order()))),
            "");
  EXPECT_EQ(told_of_type<ai::conversation_input>(
              to_json(ai::conversation_input{{ai::user_text("hello")}})),
            "");
  EXPECT_EQ(told_of_type<descriptor>(to_json(descriptor{})), "");
}

TEST(schema_check, a_mismatch_is_told_with_its_path_as_the_reader_does) {
  const auto with = [](const char* pointer, json value) {
    auto x = an_order();
    x[json::json_pointer{pointer}] = std::move(value);
    return told_of_type<checked::order>(x);
  };
  EXPECT_EQ(with("/first", 7), "$.first: expected an object, found 7");
  EXPECT_EQ(with("/rest/0/name", nullptr),
            "$.rest[0].name: expected a string, found null");
  EXPECT_EQ(with("/rest/0/price", "much"),
            "$.rest[0].price: expected a number, found a string");
  EXPECT_EQ(with("/counts/huge", 1),
            R"($.counts.huge: expected one of "small", "large", found "huge")");
  EXPECT_EQ(with("/counts/small", 256),
            "$.counts.small: expected at most 255, found 256");
  EXPECT_EQ(with("/counts/small", -1),
            "$.counts.small: expected at least 0, found -1");
  EXPECT_EQ(with("/counts/small", 1.5),
            "$.counts.small: expected an integer, found 1.5");
  EXPECT_EQ(with("/wishes/1", "a"),
            "$.wishes[1]: expected an element that is new, found one that was "
            "there before");
  EXPECT_EQ(with("/place", json::array({1})),
            "$.place: expected at least 2 elements, found 1 elements");
  EXPECT_EQ(with("/paid/1", 0), "$.paid[1]: expected a boolean, found 0");
  EXPECT_EQ(with("/extra", 1),
            "$.extra: expected a string or an object, found 1");
  EXPECT_EQ(with("/extra", json{{"name", 1}}),
            "$.extra.name: expected a string, found 1");
}

TEST(schema_check, a_member_that_is_required_and_missing_is_named) {
  auto x = an_order();
  x["rest"][0].erase("name");
  EXPECT_EQ(told_of_type<checked::order>(x),
            "$.rest[0].name: expected a value, found no such member");
  const auto error = error_of([&] {
    check_schema(x, schema_of<checked::order>());
    return 0;
  });
  EXPECT_EQ(json::parse(error.details()),
            json::parse(R"({"expected":"a value","path":"$.rest[0].name"})"));
}

TEST(schema_check, a_type_that_contains_itself_is_checked_at_every_level) {
  auto x = json::parse(R"({"children":[{"children":[{"children":[]}]}]})");
  EXPECT_EQ(told_of_type<checked::tree>(x), "");
  x["children"][0]["children"][0]["children"] = 1;
  EXPECT_EQ(told_of_type<checked::tree>(x),
            "$.children[0].children[0].children: expected an array, found 1");
}

// -- keywords -----------------------------------------------------------------

TEST(schema_check, each_keyword_restricts_what_it_is_about_and_nothing_else) {
  struct example {
    const char* schema;
    std::vector<const char*> good;
    std::vector<const char*> bad;
  };
  const std::vector<example> examples{
    {"true", {"1", "null"}, {}},
    {"false", {}, {"1", "null"}},
    {"{}", {"1", "{}"}, {}},
    {R"({"type":["string","null"]})", {"null", "\"\""}, {"0", "[]"}},
    {R"({"type":"integer"})", {"1", "-3", "3.0", "1e3"}, {"1.5", "\"1\""}},
    {R"({"const":{"a":1}})", {R"({"a":1.0})"}, {"{}", "1"}},
    {R"({"enum":[1,"a",null]})", {"1", "1.0", "null"}, {"2", "\"b\"", "[]"}},
    {R"({"exclusiveMinimum":0,"exclusiveMaximum":1})",
     {"0.5", "\"7\""},
     {"0", "1"}},
    {R"({"maximum":18446744073709551614})",
     {"18446744073709551614", "-1"},
     {"18446744073709551615"}},
    {R"({"minimum":-1})", {"18446744073709551615", "-1"}, {"-2"}},
    {R"({"minLength":2,"maxLength":3})",
     {"\"äö\"", "\"äöü\"", "1"},
     {"\"ä\"", "\"äöüß\""}},
    {R"({"prefixItems":[{"type":"string"}],"items":{"type":"null"}})",
     {"[]", "[\"a\"]", "[\"a\",null]"},
     {"[1]", "[\"a\",1]"}},
    {R"({"additionalProperties":false,"properties":{"a":true}})",
     {"{}", R"({"a":1})"},
     {R"({"b":1})"}},
    {R"({"additionalProperties":{"type":"null"}})",
     {R"({"b":null})"},
     {R"({"b":1})"}},
    {R"({"minProperties":1,"maxProperties":1})",
     {R"({"b":null})", "[]"},
     {"{}", R"({"a":1,"b":1})"}},
    {R"({"allOf":[{"minimum":1},{"maximum":2}]})", {"1", "2"}, {"0", "3"}},
    {R"({"oneOf":[{"minimum":1},{"maximum":2}]})", {"0", "3"}, {"1", "2"}},
    {R"({"anyOf":[{"minimum":5},{"maximum":2}]})", {"0", "7"}, {"3"}},
    {R"({"not":{"type":"string"}})", {"0"}, {"\"\""}},
    {R"({"$ref":"#/$defs/a","$defs":{"a":{"type":"null"}}})", {"null"}, {"1"}},
    {R"({"$ref":"#/$defs/a~1b","$defs":{"a/b":{"type":"null"}}})",
     {"null"},
     {"1"}},
    {R"({"format":"date","description":"x","default":3})", {"1"}, {}},
  };
  for (const auto& x : examples) {
    for (const auto* good : x.good)
      EXPECT_EQ(told(x.schema, good), "") << x.schema << ' ' << good;
    for (const auto* bad : x.bad)
      EXPECT_NE(told(x.schema, bad), "") << x.schema << ' ' << bad;
  }
}

TEST(schema_check, of_alternatives_the_one_that_came_closest_is_named) {
  const auto schema = R"({"anyOf":[{"type":"null"},
    {"type":"object","properties":{"a":{"type":"array","items":
      {"type":"string"}}}}]})";
  EXPECT_EQ(told(schema, R"({"a":["b",1]})"),
            "$.a[1]: expected a string, found 1");
  EXPECT_EQ(told(schema, "1"), "$: expected null or an object, found 1");
}

// -- limits -------------------------------------------------------------------

TEST(schema_check, a_schema_that_makes_no_sense_is_refused) {
  for (const auto* text :
       {R"("string")", "1", R"({"type":"text"})", R"({"type":[1]})",
        R"({"enum":1})", R"({"minimum":"1"})", R"({"$ref":"other.json"})",
        R"({"$ref":"#/$defs/none"})", R"({"anyOf":[]})", R"({"anyOf":{}})"})
    EXPECT_EQ(code_of_schema(json::parse(text)), errc::invalid_argument)
      << text;
  EXPECT_EQ(code_of_schema(json::parse(R"({"minItems":-1})"), json::array()),
            errc::invalid_argument);
}

TEST(schema_check, what_is_not_understood_is_refused_and_not_passed_over) {
  for (const auto* keyword : {"pattern", "if", "contains", "multipleOf"})
    EXPECT_EQ(code_of_schema(json{{keyword, 1}}), errc::unimplemented);
}

TEST(schema_check, a_schema_that_goes_round_in_circles_is_refused) {
  EXPECT_EQ(told(R"({"$ref":"#"})", "1"),
            R"(the schema refers to itself without end: "#")");
  EXPECT_EQ(
    told(R"({"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#"}]}}})", "1"),
    R"(the schema refers to itself without end: "#/$defs/a")");
}

TEST(schema_check, a_schema_that_multiplies_its_alternatives_is_given_up) {
  auto schema = json::parse(R"({"$ref":"#/$defs/n0"})");
  for (int i = 0; i < 30; ++i) {
    const json next{{"$ref", "#/$defs/n" + std::to_string(i + 1)}};
    const json twice{{"allOf", json::array({next, next})}};
    schema["$defs"]["n" + std::to_string(i)]
      = json{{"anyOf", json::array({twice, next})}};
  }
  schema["$defs"]["n30"] = json{{"type", "null"}};
  EXPECT_EQ(code_of_schema(schema), errc::resource_exhausted);
}

TEST(schema_check, a_large_value_may_take_its_time) {
  auto large = json::array();
  for (std::size_t i = 0; i < max_schema_steps / 2; ++i)
    large.push_back(i); // three steps each
  const auto schema = json::parse(
    R"({"type":"array","items":{"anyOf":[{"type":"null"},{"type":"number"}]}})");
  EXPECT_NO_THROW(check_schema(large, schema));
  large.back() = "x";
  EXPECT_THROW(check_schema(large, schema), status_error);
}

TEST(schema_check, no_depth_exhausts_the_stack) {
  auto deep = json::array();
  for (std::size_t i = 0; i < max_json_depth + 1; ++i)
    deep = json::array({std::move(deep)});
  const auto list = json::parse(R"({"type":"array","items":{"$ref":"#"}})");
  EXPECT_EQ(code_of_schema(list, deep), errc::invalid_argument);
  EXPECT_EQ(code_of_schema(list, deep[0][0]), errc::ok);
  const auto numbers = json::parse(
    R"({"type":"array","items":{"anyOf":[{"type":"null"},{"type":"number"}]}})");
  auto large = json::array();
  for (std::size_t i = 0; i < max_schema_steps / 2; ++i)
    large.push_back(i); // so many that the size of the value is computed
  for (int i = 0; i < 200'000; ++i)
    deep = json::array({std::move(deep)});
  large.push_back(std::move(deep));
  EXPECT_EQ(code_of_schema(numbers, large), errc::invalid_argument);
  json nested{{"type", "integer"}};
  for (int i = 0; i < 5'000; ++i)
    nested = json{{"allOf", json::array({std::move(nested)})}};
  EXPECT_EQ(code_of_schema(nested), errc::invalid_argument);
}

} // namespace tertulia::test::schema_check_tests
