// SPDX-License-Identifier: BSD-3-Clause

// Reading of JSON, and its errors.

#include <tertulia/json.hpp>
#include <tertulia/schema.hpp>
#include <tertulia/status.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "support/json_samples.hpp"
#include "support/refusal.hpp"
#include <gtest/gtest.h>

namespace tertulia::test::json_tests {

namespace {

struct tolerant {
  int n = 0;
};
BOOST_DESCRIBE_STRUCT(tolerant, (), (n))

struct strict {
  std::string name;
  tolerant inner;
};
BOOST_DESCRIBE_STRUCT(strict, (), (name, inner))

} // namespace

} // namespace tertulia::test::json_tests

template <>
inline constexpr bool
  tertulia::refuses_unknown_members<tertulia::test::json_tests::strict> = true;

namespace tertulia::test::json_tests {

namespace {

struct owners {
  std::unique_ptr<named> own;
  std::shared_ptr<const named> shared;
};
BOOST_DESCRIBE_STRUCT(owners, (), (own, shared))

struct term;

struct sum {
  std::vector<term> of;
};

struct product {
  std::vector<term> of;
};

struct term {
  std::variant<int, sum, product> is;
};
BOOST_DESCRIBE_STRUCT(sum, (), (of))
BOOST_DESCRIBE_STRUCT(product, (), (of))
BOOST_DESCRIBE_STRUCT(term, (), (is))

static_assert(json_value<owners>);

std::string nested(std::size_t levels) {
  return std::string(levels, '[') + std::string(levels, ']');
}

// -- reading ------------------------------------------------------------------

TEST(json, unknown_members_are_refused_by_a_struct_that_says_so) {
  const auto read = [](const json& x) { return from_json<strict>(x); };
  EXPECT_EQ(read(json{{"name", "x"}, {"inner", {{"more", 1}, {"n", 2}}}}).name,
            "x")
    << "a struct within says for itself";
  EXPECT_EQ(error_text([&] {
              (void)read(json{{"name", "x"}, {"Inner", 1}});
            }),
            "invalid_argument: $.Inner: expected one of \"name\", \"inner\", "
            "found \"Inner\"");
  const auto schema = schema_of<strict>();
  EXPECT_EQ(schema.at("additionalProperties"), false);
  EXPECT_FALSE(
    schema.at("properties").at("inner").contains("additionalProperties"));
}

TEST(json, unknown_members_are_ignored) {
  EXPECT_EQ(parse_json<named>(R"({"x":[1,{}],"fullName":"Ada"})"),
            named{"Ada"});
}

TEST(json, a_missing_member_keeps_its_default) {
  const auto x = parse_json<user::item>("{}");
  EXPECT_EQ(x.unit_price, 9.5);
  EXPECT_EQ(x.article, "");
  EXPECT_EQ(x.pieces, std::nullopt);
}

TEST(json, null_is_an_empty_optional_and_an_error_elsewhere) {
  EXPECT_EQ(parse_json<user::item>(R"({"pieces":null})").pieces, std::nullopt);
  EXPECT_EQ(refusal_to_read<user::item>(R"({"unitPrice":null})"),
            "$.unitPrice: expected a number, found null");
}

TEST(json, a_wrong_type_names_its_path) {
  EXPECT_EQ(
    refusal_to_read<user::order>(R"({"items":[{},{},{},{"unitPrice":"x"}]})"),
    "$.items[3].unitPrice: expected a number, found a string");
  EXPECT_EQ(refusal_to_read<user::order>(R"({"items":{}})"),
            "$.items: expected an array, found an object");
  EXPECT_EQ(refusal_to_read<user::order>(R"({"notes":[]})"),
            "$.notes: expected an object, found an array");
  EXPECT_EQ(refusal_to_read<user::order>(R"({"notes":{"a b":true}})"),
            R"($.notes["a b"]: expected a string, found a boolean)");
  EXPECT_EQ(refusal_to_read<bool>("1"), "$: expected a boolean, found 1");
  EXPECT_EQ(refusal_to_read<int>(R"("1")"),
            "$: expected an integer, found a string");
}

TEST(json, the_details_of_an_error_are_json) {
  try {
    (void)parse_json<std::map<std::string, int>>(R"({"a\"b":"x"})");
    FAIL() << "a string was read as an integer";
  } catch (const status_error& e) {
    const auto details = json::parse(e.details());
    EXPECT_EQ(details["path"], R"($["a\"b"])");
    EXPECT_EQ(details["expected"], "an integer");
  }
}

TEST(json, a_long_key_is_cut_in_a_path) {
  const auto text = "{\"" + std::string(100000, 'k') + "\":true}";
  const auto message = refusal_to_read<std::map<std::string, int>>(text);
  EXPECT_EQ(message, "$." + std::string(64, 'k')
                       + "…: expected an integer, found a boolean");
}

TEST(json, an_integer_just_out_of_range_is_not_another_one) {
  const auto is_refused = [](const std::string& refusal) {
    return refusal.starts_with("$: expected an integer from ");
  };
  for (const auto* x : {"128", "-129"})
    EXPECT_TRUE(is_refused(refusal_to_read<std::int8_t>(x))) << x;
  for (const auto* x : {"256", "-1"})
    EXPECT_TRUE(is_refused(refusal_to_read<std::uint8_t>(x))) << x;
  EXPECT_TRUE(is_refused(refusal_to_read<std::uint64_t>("-1")));
  EXPECT_TRUE(is_refused(refusal_to_read<std::int64_t>("9223372036854775808")));
}

TEST(json, an_integer_out_of_range_names_its_path) {
  EXPECT_EQ(refusal_to_read<pet>(R"({"age":300})"),
            "$.age: expected an integer from 0 to 255, found 300");
  EXPECT_EQ(refusal_to_read<pet>(R"({"age":-1})"),
            "$.age: expected an integer from 0 to 255, found -1");
  EXPECT_EQ(refusal_to_read<pet>(R"({"age":1.5})"),
            "$.age: expected an integer from 0 to 255, found 1.5");
  EXPECT_EQ(refusal_to_read<std::int8_t>("-129"),
            "$: expected an integer from -128 to 127, found -129");
  EXPECT_EQ(refusal_to_read<std::int64_t>("9223372036854775808"),
            "$: expected an integer from -9223372036854775808 to "
            "9223372036854775807, found 9223372036854775808");
  EXPECT_EQ(refusal_to_read<std::uint64_t>("18446744073709551616"),
            "$: expected an integer from 0 to 18446744073709551615, found "
            "18446744073709552000");
}

TEST(json, an_integral_number_with_a_point_is_an_integer) {
  EXPECT_EQ(parse_json<int>("3.0"), 3);
  EXPECT_EQ(parse_json<unsigned>("3e2"), 300u);
  EXPECT_EQ(parse_json<std::int64_t>("-9007199254740992.0"), -9007199254740992);
}

TEST(json, an_integer_that_was_rounded_is_refused) {
  // as a double it would be the lowest int64, which is another number
  EXPECT_TRUE(has(refusal_to_read<std::int64_t>("-9223372036854775809"),
                  "expected an integer"));
}

TEST(json, an_unknown_enumerator_names_the_known_ones) {
  EXPECT_EQ(parse_json<user::colour>(R"("default")"), user::colour::default_);
  EXPECT_EQ(
    refusal_to_read<std::vector<user::colour>>(R"(["blue","pur\u0000ple"])"),
    R"($[1]: expected one of "darkRed", "blue", "default", found )"
    R"("pur\u0000ple")");
}

TEST(json, an_array_of_another_length_is_refused) {
  EXPECT_EQ((refusal_to_read<std::array<int, 2>>("[1]")),
            "$: expected an array of 2, found one of 1");
  EXPECT_EQ((refusal_to_read<std::pair<int, int>>("[1,2,3]")),
            "$: expected an array of 2, found one of 3");
}

TEST(json, malformed_text_is_refused) {
  for (const std::string text :
       {"", " ", "{", "[1,]", "nul", "01", "1 2", "'a'", "\"\t\"", "[1}",
        "{\"a\"}", "\"\\ud800\"", "\"\xff\"", "NaN", "+1", ".5", "1e999",
        "// c\n1"})
    EXPECT_TRUE(
      refusal_to_read<json>(text).starts_with("$: expected JSON, found"))
      << text;
}

TEST(json, a_zero_byte_does_not_end_the_text) {
  using namespace std::string_literals;
  EXPECT_EQ(refusal_to_read<json>("1\0 and more"s),
            "$: expected JSON, found a zero byte");
}

TEST(json, text_of_a_stranger_is_limited_in_depth) {
  EXPECT_EQ(to_json_text(parse_json<json>(nested(max_json_depth))),
            nested(max_json_depth));
  const std::string refused
    = "$: expected at most 200 levels of arrays and objects, found more";
  EXPECT_EQ(refusal_to_read<json>(nested(max_json_depth + 1)), refused);
  EXPECT_EQ(refusal_to_read<json>(std::string(10'000'000, '[')), refused);
  EXPECT_EQ(refusal_to_read<tree>(std::string(10'000'000, '[')), refused);
}

TEST(json, brackets_in_strings_are_not_levels) {
  const auto text = R"("\"\\)" + std::string(1000, '[') + '"';
  EXPECT_EQ(untyped(text), text);
  const auto many = "[" + std::string(R"("]","[",)") + nested(199) + ']';
  EXPECT_EQ(untyped(many), many);
}

// -- sums and pointers --------------------------------------------------------

TEST(json, a_variant_takes_the_first_alternative_that_accepts) {
  using choice = std::variant<std::monostate, bool, int, std::string>;
  EXPECT_EQ(parse_json<choice>("null"), choice{});
  EXPECT_EQ(parse_json<choice>("true"), choice{true});
  EXPECT_EQ(parse_json<choice>("7"), choice{7});
  EXPECT_EQ(parse_json<choice>("\"7\""), choice{"7"});
  using vectors = std::variant<std::vector<int>, std::vector<std::string>>;
  EXPECT_EQ(parse_json<vectors>(R"(["a"])"),
            vectors{std::vector<std::string>{"a"}});
}

TEST(json, a_struct_whose_members_match_goes_first) {
  using choice = std::variant<nothing, named, pet>;
  pet rex;
  rex.full_name = "Rex";
  EXPECT_EQ(parse_json<choice>(to_json_text(choice{rex})), choice{rex});
  const choice ada{named{"Ada"}};
  EXPECT_EQ(parse_json<choice>(to_json_text(ada)), ada);
  EXPECT_EQ(parse_json<choice>(R"({"somethingNew":1})"), choice{nothing{}});
}

TEST(json, a_variant_names_the_path_inside_the_only_fitting_alternative) {
  using choice = std::variant<std::string, pet>;
  EXPECT_EQ(refusal_to_read<choice>(R"({"age":300})"),
            "$.age: expected an integer from 0 to 255, found 300");
  EXPECT_EQ(refusal_to_read<choice>("[]"),
            "$: expected one of the alternatives of a variant, found an "
            "array");
}

TEST(json, nested_variants_are_not_read_again_for_each_alternative_outside) {
  const std::size_t levels = 60; // 2^60 readings would not end in practice
  std::string text;
  for (std::size_t i = 0; i < levels; ++i)
    text += R"({"is":{"of":[)";
  text += R"({"is":"x"})";
  for (std::size_t i = 0; i < levels; ++i)
    text += "]}}";
  EXPECT_TRUE(refusal_to_read<term>(text).starts_with(
    "$.is: expected one of the alternatives of a variant"));
}

TEST(json, a_null_pointer_is_null) {
  owners x;
  EXPECT_EQ(to_json_text(x), R"({"own":null,"shared":null})");
  const std::string text
    = R"({"own":{"fullName":"a"},"shared":{"fullName":"b"}})";
  x = parse_json<owners>(text);
  ASSERT_TRUE(x.own && x.shared);
  EXPECT_EQ(x.own->full_name, "a");
  EXPECT_EQ(x.shared->full_name, "b");
  EXPECT_EQ(to_json_text(x), text);
  x = parse_json<owners>(R"({"own":null})");
  EXPECT_FALSE(x.own || x.shared);
}

TEST(json, an_optional_that_holds_null_is_as_good_as_empty) {
  using maybe = std::optional<std::optional<json>>;
  const maybe x{std::in_place, json{}};
  EXPECT_EQ(to_json_text(std::vector<maybe>{x}), "[null]");
  EXPECT_EQ(parse_json<std::vector<maybe>>("[null]")[0], std::nullopt);
}

TEST(json, a_codec_names_the_path_of_what_it_refuses) {
  EXPECT_EQ(parse_json<user::code>("\"#12\""), user::code{12});
  EXPECT_EQ(refusal_to_read<std::vector<user::code>>(R"(["#1",2])"),
            "$[1]: expected a code, found 2");
}

// -- single reader ------------------------------------------------------------

TEST(json, a_document_that_keeps_the_order_has_the_same_limits) {
  using detail::parse_ordered_document;
  EXPECT_EQ(parse_ordered_document(R"({"b":1,"a":2})").dump(),
            R"({"b":1,"a":2})");
  EXPECT_NO_THROW((void)parse_ordered_document(nested(max_json_depth)));
  EXPECT_THROW((void)parse_ordered_document(nested(100'000)), status_error);
  EXPECT_THROW((void)parse_ordered_document("[1"), status_error);
  EXPECT_THROW((void)parse_ordered_document("1e999"), status_error);
}

TEST(json, text_that_is_refused_can_be_passed_over) {
  EXPECT_EQ(detail::document_or_null("[1]"), json::array({1}));
  for (const auto& text : {nested(100'000), std::string{"[1"}, std::string{}})
    EXPECT_EQ(detail::document_or_null(text), nullptr);
}

} // namespace

} // namespace tertulia::test::json_tests
