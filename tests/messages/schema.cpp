// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/schema.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace drawn {

/// Struct with the same short name as another struct below.
struct node {
  std::vector<node> left;
};
BOOST_DESCRIBE_STRUCT(node, (), (left))

struct stamp {
  std::int64_t ns = 0;
};

} // namespace drawn

template <>
struct tertulia::json_codec<drawn::stamp> {
  static void write(std::string& out, const drawn::stamp& x, const json_path&) {
    out += std::to_string(x.ns);
  }

  static drawn::stamp read(const json& from, const json_path&) {
    return {from.get<std::int64_t>()};
  }

  static json schema() {
    return json::parse(R"({"type":"integer","description":"nanoseconds"})");
  }
};

namespace tertulia::test::schema_tests {

namespace {

enum class colour { dark_red, blue };
BOOST_DESCRIBE_ENUM(colour, dark_red, blue)

struct nothing {};
BOOST_DESCRIBE_STRUCT(nothing, (), ())

struct item {
  std::string article;
  std::optional<double> unit_price;
};
BOOST_DESCRIBE_STRUCT(item, (), (article, unit_price))

struct special_item : item {
  colour shade = colour::blue;
};
BOOST_DESCRIBE_STRUCT(special_item, (item), (shade))

struct order {
  item first;
  std::vector<item> rest;
};
BOOST_DESCRIBE_STRUCT(order, (), (first, rest))

struct node {
  int value = 0;
  std::unique_ptr<node> next;
};
BOOST_DESCRIBE_STRUCT(node, (), (value, next))

struct branch;

struct leaf {
  std::vector<branch> up;
};

struct branch {
  std::vector<leaf> leaves;
};
BOOST_DESCRIBE_STRUCT(leaf, (), (up))
BOOST_DESCRIBE_STRUCT(branch, (), (leaves))

struct holder {
  node mine;
  drawn::node theirs;
  node again;
  std::vector<leaf> leaves;
};
BOOST_DESCRIBE_STRUCT(holder, (), (mine, theirs, again, leaves))

/// Returns the schema without the `$schema` member of every root.
template <class T>
json inner() {
  auto result = schema_of<T>();
  EXPECT_EQ(result.erase("$schema"), 1u);
  return result;
}

TEST(schema, the_root_names_the_draft) {
  EXPECT_EQ(to_json_text(schema_of<bool>()),
            R"({"$schema":"https://json-schema.org/draft/2020-12/schema",)"
            R"("type":"boolean"})");
}

TEST(schema, scalars_have_their_type) {
  EXPECT_EQ(inner<std::string>(), json::parse(R"({"type":"string"})"));
  EXPECT_EQ(inner<double>(), json::parse(R"({"type":"number"})"));
  EXPECT_EQ(inner<float>(), json::parse(R"({"type":"number"})"));
  EXPECT_EQ(inner<std::monostate>(), json::parse(R"({"type":"null"})"));
}

TEST(schema, narrow_and_unsigned_integers_have_limits) {
  EXPECT_EQ(inner<std::int64_t>(), json::parse(R"({"type":"integer"})"));
  EXPECT_EQ(inner<std::uint64_t>(),
            json::parse(R"({"type":"integer","minimum":0})"));
  EXPECT_EQ(inner<std::int8_t>(),
            json::parse(R"({"type":"integer","minimum":-128,"maximum":127})"));
  EXPECT_EQ(inner<std::uint8_t>(),
            json::parse(R"({"type":"integer","minimum":0,"maximum":255})"));
  EXPECT_EQ(inner<std::int32_t>(),
            json::parse(R"({"type":"integer","minimum":-2147483648,
                            "maximum":2147483647})"));
  EXPECT_EQ(
    inner<std::uint32_t>(),
    json::parse(R"({"type":"integer","minimum":0,"maximum":4294967295})"));
}

TEST(schema, an_enum_lists_its_names) {
  EXPECT_EQ(inner<colour>(),
            json::parse(R"({"type":"string","enum":["darkRed","blue"]})"));
}

TEST(schema, all_members_but_the_optional_ones_are_required) {
  EXPECT_EQ(inner<item>(),
            json::parse(R"({"type":"object","required":["article"],
                            "properties":{"article":{"type":"string"},
                                          "unitPrice":{"type":"number"}}})"));
}

TEST(schema, an_empty_struct_requires_nothing) {
  EXPECT_EQ(inner<nothing>(),
            json::parse(R"({"type":"object","properties":{}})"));
}

TEST(schema, members_of_a_base_belong_to_the_struct) {
  const auto schema = inner<special_item>();
  EXPECT_EQ(schema["required"], json::parse(R"(["article","shade"])"));
  EXPECT_EQ(schema["properties"].size(), 3u);
}

TEST(schema, nested_structs_stand_in_place) {
  const auto schema = inner<order>();
  EXPECT_EQ(schema["properties"]["first"], inner<item>());
  EXPECT_EQ(schema["properties"]["rest"]["items"], inner<item>());
  EXPECT_FALSE(schema.contains("$defs"));
}

TEST(schema, arrays_say_how_long_they_may_be) {
  EXPECT_EQ(inner<std::vector<bool>>(),
            json::parse(R"({"type":"array","items":{"type":"boolean"}})"));
  EXPECT_EQ((inner<std::array<bool, 3>>()),
            json::parse(R"({"type":"array","items":{"type":"boolean"},
                            "minItems":3,"maxItems":3})"));
  EXPECT_EQ(inner<std::set<std::string>>(),
            json::parse(R"({"type":"array","items":{"type":"string"},
                            "uniqueItems":true})"));
  EXPECT_EQ((inner<std::pair<bool, std::string>>()),
            json::parse(R"({"type":"array","minItems":2,"maxItems":2,
                  "prefixItems":[{"type":"boolean"},{"type":"string"}]})"));
  EXPECT_EQ(inner<std::tuple<>>(),
            json::parse(R"({"type":"array","minItems":0,"maxItems":0})"));
}

TEST(schema, maps_describe_their_values_and_named_keys) {
  EXPECT_EQ((inner<std::map<std::string, bool>>()),
            json::parse(R"({"type":"object",
                            "additionalProperties":{"type":"boolean"}})"));
  EXPECT_EQ((inner<std::map<colour, bool>>()["propertyNames"]),
            inner<colour>());
}

TEST(schema, sums_offer_their_alternatives) {
  EXPECT_EQ((inner<std::variant<std::monostate, bool>>()),
            json::parse(R"({"anyOf":[{"type":"null"},{"type":"boolean"}]})"));
  EXPECT_EQ(inner<std::optional<bool>>(),
            json::parse(R"({"anyOf":[{"type":"boolean"},{"type":"null"}]})"));
  EXPECT_EQ(inner<std::shared_ptr<const bool>>(),
            json::parse(R"({"anyOf":[{"type":"boolean"},{"type":"null"}]})"));
}

TEST(schema, a_json_value_may_be_anything) {
  EXPECT_EQ(inner<json>(), json::object());
  EXPECT_EQ(inner<std::vector<json>>()["items"], json::object());
}

TEST(schema, a_codec_brings_its_own) {
  EXPECT_EQ(inner<std::vector<drawn::stamp>>()["items"]["description"],
            "nanoseconds");
}

TEST(schema, a_struct_that_contains_itself_is_defined_once) {
  EXPECT_EQ(inner<node>(),
            json::parse(R"({"$ref":"#/$defs/node","$defs":{"node":{
              "type":"object","required":["value","next"],"properties":{
                "value":{"type":"integer","minimum":-2147483648,
                         "maximum":2147483647},
                "next":{"anyOf":[{"$ref":"#/$defs/node"},
                                 {"type":"null"}]}}}}})"));
}

TEST(schema, structs_of_the_same_name_are_kept_apart) {
  const auto schema = inner<holder>();
  EXPECT_EQ(schema["properties"]["mine"]["$ref"], "#/$defs/node");
  EXPECT_EQ(schema["properties"]["theirs"]["$ref"], "#/$defs/node2");
  EXPECT_EQ(schema["properties"]["again"]["$ref"], "#/$defs/node");
  EXPECT_TRUE(schema["$defs"]["node"]["properties"].contains("next"));
  EXPECT_TRUE(schema["$defs"]["node2"]["properties"].contains("left"));
}

TEST(schema, structs_that_contain_each_other_are_defined_where_they_begin) {
  const auto schema = inner<holder>();
  EXPECT_EQ(schema["properties"]["leaves"]["items"]["$ref"], "#/$defs/leaf");
  const auto& branch
    = schema["$defs"]["leaf"]["properties"]["up"]["items"]["properties"];
  EXPECT_EQ(branch["leaves"]["items"]["$ref"], "#/$defs/leaf");
  EXPECT_EQ(schema["$defs"].size(), 3u);
}

} // namespace

} // namespace tertulia::test::schema_tests
