// SPDX-License-Identifier: BSD-3-Clause

// Writing of JSON, and values that cannot be written.

#include <tertulia/json.hpp>
#include <tertulia/status.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "support/json_samples.hpp"
#include "support/refusal.hpp"
#include <gtest/gtest.h>

namespace tertulia::test::json_tests {

namespace {

// Local on purpose: descriptions must work in an anonymous namespace.

class counter {
public:
  counter() = default;

  explicit counter(int value) : value_(value) {}

  int value() const {
    return value_;
  }

private:
  int value_ = 0;

  BOOST_DESCRIBE_CLASS(counter, (), (), (), (value_))
};

struct keeps_a_char {
  char letter = 'a';
};
BOOST_DESCRIBE_STRUCT(keeps_a_char, (), (letter))

struct names_wire {
  int snake_case_name = 0;
  int default_ = 0;
  int a__b_ = 0;
  int line_2 = 0;
  int plain = 0;
};
BOOST_DESCRIBE_STRUCT(names_wire, (),
                      (snake_case_name, default_, a__b_, line_2, plain))

// -- supported types ----------------------------------------------------------

static_assert(json_value<everything>);
static_assert(json_value<std::tuple<int, bool>>);
static_assert(!json_value<keeps_a_char>);
static_assert(!json_value<std::vector<std::optional<keeps_a_char>>>);
static_assert(!json_value<user::undescribed>);
static_assert(!json_value<std::map<int, int>>);
static_assert(!json_value<int*>);
static_assert(!json_value<void*>);
static_assert(!json_value<std::string_view>);
static_assert(json_writable<std::string_view>);
static_assert(json_writable<char[4]>);
static_assert(described<everything> && !described<int> && !described<json>);

// -- canonical text -----------------------------------------------------------

TEST(json, members_are_named_in_camel_case_in_declared_order) {
  EXPECT_EQ(to_json_text(names_wire{}),
            R"({"snakeCaseName":0,"default":0,"aB":0,"line2":0,"plain":0})");
}

TEST(json, members_of_a_base_come_first) {
  pet x;
  x.full_name = "Rex";
  x.age = 7;
  EXPECT_EQ(to_json_text(x), R"({"fullName":"Rex","age":7})");
}

TEST(json, private_members_can_be_described) {
  EXPECT_EQ(to_json_text(counter{3}), R"({"value":3})");
  EXPECT_EQ(parse_json<counter>(R"({"value":4})").value(), 4);
}

TEST(json, a_default_of_everything_has_this_text) {
  EXPECT_EQ(to_json_text(everything{}),
            R"({"flag":false,"tiny":0,"big":0,"huge":0,"single":0,"real":0,)"
            R"("text":"","shade":"blue","bits":[],"two":[0,0],"both":[0,""],)"
            R"("sorted":{},"unsorted":{},"byColour":{},"set":[],)"
            R"("choice":null,"any":null,"code":"#0","none":{},)"
            R"("root":{"value":0,"children":[]}})");
}

TEST(json, an_empty_optional_member_is_left_out) {
  user::item x{"tea", 1, {}};
  EXPECT_EQ(to_json_text(x), R"({"article":"tea","unitPrice":1})");
  x.pieces = 0;
  EXPECT_EQ(to_json_text(x), R"({"article":"tea","unitPrice":1,"pieces":0})");
}

TEST(json, an_empty_optional_element_is_null) {
  EXPECT_EQ(to_json_text(std::vector<std::optional<int>>{1, {}, 2}),
            "[1,null,2]");
}

TEST(json, empty_things_are_short) {
  EXPECT_EQ(to_json_text(nothing{}), "{}");
  EXPECT_EQ(to_json_text(std::vector<int>{}), "[]");
  EXPECT_EQ(to_json_text(std::map<std::string, int>{}), "{}");
  EXPECT_EQ(to_json_text(std::tuple<>{}), "[]");
  EXPECT_EQ(to_json_text(std::string{}), R"("")");
  EXPECT_EQ(to_json_text(std::optional<int>{}), "null");
  EXPECT_EQ(to_json_text(json{}), "null");
}

TEST(json, integers_are_exact_at_their_edges) {
  using i64 = std::numeric_limits<std::int64_t>;
  using u64 = std::numeric_limits<std::uint64_t>;
  EXPECT_EQ(to_json_text(i64::min()), "-9223372036854775808");
  EXPECT_EQ(to_json_text(i64::max()), "9223372036854775807");
  EXPECT_EQ(to_json_text(u64::max()), "18446744073709551615");
  EXPECT_EQ(parse_json<std::int64_t>("-9223372036854775808"), i64::min());
  EXPECT_EQ(parse_json<std::int64_t>("9223372036854775807"), i64::max());
  EXPECT_EQ(parse_json<std::uint64_t>("18446744073709551615"), u64::max());
  EXPECT_EQ(untyped("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(untyped("18446744073709551615"), "18446744073709551615");
}

TEST(json, doubles_have_the_shortest_text_as_in_go) {
  const std::vector<std::pair<double, std::string>> golden{
    {0.0, "0"},
    {-0.0, "-0.0"},
    {1.0, "1"},
    {-1.0, "-1"},
    {0.1, "0.1"},
    {0.30000000000000004, "0.30000000000000004"},
    {123456.789, "123456.789"},
    {100000, "100000"},
    {9007199254740993.0, "9007199254740992"},
    {9223372036854775808.0, "9223372036854776000"},
    {123456789012345678901.0, "123456789012345680000"},
    {999999999999999868928.0, "999999999999999900000"},
    {1e20, "100000000000000000000"},
    {1e21, "1e+21"},
    {-1.5e300, "-1.5e+300"},
    {0.000001, "0.000001"},
    {0.00000123, "0.00000123"},
    {1e-7, "1e-7"},
    {1.25e-10, "1.25e-10"},
    {5e-324, "5e-324"},
    {2.2250738585072014e-308, "2.2250738585072014e-308"},
    {1.7976931348623157e308, "1.7976931348623157e+308"},
  };
  for (const auto& [x, text] : golden) {
    EXPECT_EQ(to_json_text(x), text);
    EXPECT_EQ(untyped(text), text);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(parse_json<double>(text)),
              std::bit_cast<std::uint64_t>(x))
      << text;
  }
}

TEST(json, floats_have_only_the_digits_of_a_float) {
  EXPECT_EQ(to_json_text(0.1f), "0.1");
  EXPECT_EQ(to_json_text(16777216.0f), "16777216");
  EXPECT_EQ(to_json_text(std::numeric_limits<float>::max()), "3.4028235e+38");
  EXPECT_EQ(to_json_text(std::numeric_limits<float>::denorm_min()), "1e-45");
  EXPECT_EQ(parse_json<float>("3.4028235e+38"),
            std::numeric_limits<float>::max());
  EXPECT_EQ(parse_json<float>("-3.4028235e+38"),
            std::numeric_limits<float>::lowest());
  // The shortest text as a float is 7.038531e-26: read as a double it gives the
  // neighbouring float.
  const auto odd = std::bit_cast<float>(0x15ae43fdu);
  EXPECT_EQ(to_json_text(odd), "7.038530691851209e-26");
  EXPECT_EQ(parse_json<float>(to_json_text(odd)), odd);
  EXPECT_EQ(refusal_to_read<float>("3.4028236e+38"),
            "$: expected a number in the range of a float, found "
            "3.4028236e+38");
}

TEST(json, only_what_must_be_escaped_is_escaped) {
  std::string all;
  for (auto c = 0; c < 0x20; ++c)
    all += static_cast<char>(c);
  EXPECT_EQ(to_json_text(all),
            R"("\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007)"
            R"(\b\t\n\u000b\f\r\u000e\u000f)"
            R"(\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017)"
            R"(\u0018\u0019\u001a\u001b\u001c\u001d\u001e\u001f")");
  EXPECT_EQ(to_json_text("\"\\/<>&'\x7f"), "\"\\\"\\\\/<>&'\x7f\"");
}

TEST(json, an_escape_is_found_at_every_offset) {
  for (std::size_t i = 0; i < 20; ++i)
    for (const std::string escape : {"\"", "\\", "\n", "é"}) {
      const auto text = std::string(i, 'a') + escape + std::string(20, 'b');
      const auto quoted
        = (escape == "é" ? "" : "\\") + (escape == "\n" ? "n" : escape);
      EXPECT_EQ(to_json_text(text), '"' + std::string(i, 'a') + quoted
                                      + std::string(20, 'b') + '"');
    }
}

TEST(json, unicode_stays_as_it_is) {
  const std::string text = "tertulia café Ω 茶 \U0001F600 \u2028";
  EXPECT_EQ(to_json_text(text), '"' + text + '"');
  EXPECT_EQ(parse_json<std::string>(R"("\u00e9 \ud83d\ude00")"),
            "é \U0001F600");
}

TEST(json, maps_are_sorted_by_the_bytes_of_their_keys) {
  const std::map<std::string, int> sorted{{"b", 1}, {"a", 2}, {"é", 3}};
  EXPECT_EQ(to_json_text(sorted), R"({"a":2,"b":1,"é":3})");
  const std::map<std::string, int, std::greater<>> backwards{{"a", 1},
                                                             {"b", 2}};
  EXPECT_EQ(to_json_text(backwards), R"({"a":1,"b":2})");
  std::unordered_map<std::string, int> many;
  std::string expected;
  for (auto i = 100; i < 200; ++i) {
    many.emplace(std::to_string(i), i);
    expected += (i == 100 ? "{\"" : ",\"") + std::to_string(i)
                + "\":" + std::to_string(i);
  }
  EXPECT_EQ(to_json_text(many), expected + '}');
}

TEST(json, keys_that_are_enumerators_are_sorted_by_name) {
  const std::map<user::colour, int> x{{user::colour::dark_red, 1},
                                      {user::colour::blue, 2},
                                      {user::colour::default_, 3}};
  EXPECT_EQ(to_json_text(x), R"({"blue":2,"darkRed":1,"default":3})");
  EXPECT_EQ((parse_json<std::map<user::colour, int>>(to_json_text(x))), x);
}

TEST(json, untyped_values_are_written_canonically) {
  EXPECT_EQ(untyped(R"( { "b" : [ 1.0 , 1e2, true ] , "a" : "\u0041\/" } )"),
            R"({"a":"A/","b":[1,100,true]})");
}

TEST(json, text_views_can_be_written) {
  const char padded[8] = "abc";
  EXPECT_EQ(to_json_text(padded), R"("abc")");
  EXPECT_EQ(to_json_text(std::string_view{"abc"}), R"("abc")");
}

TEST(json, text_is_appended) {
  std::string out = "x=";
  append_json_text(out, 1);
  EXPECT_EQ(out, "x=1");
}

TEST(json, a_failed_append_leaves_the_text_as_it_was) {
  std::string out = "x=";
  const std::vector<double> bad{1, 2, std::nan("")};
  EXPECT_THROW(append_json_text(out, bad), status_error);
  EXPECT_EQ(out, "x=");
}

TEST(json, a_document_equals_the_parsed_text) {
  const user::order x{{{"tea", 2.0, 3}}, {{"k", "v"}}};
  const auto document = to_json(x);
  EXPECT_TRUE(document["items"][0]["unitPrice"].is_number_integer());
  EXPECT_EQ(from_json<user::order>(document), x);
}

// -- values that cannot be written --------------------------------------------

TEST(json, nan_and_infinities_are_refused_with_their_path) {
  user::order x{{{"tea", 1, 1}, {"cake", std::nan(""), 1}}, {}};
  EXPECT_EQ(refusal_to_write(x),
            "$.items[1].unitPrice: expected a finite number, found NaN");
  x.items[1].unit_price = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(refusal_to_write(x),
            "$.items[1].unitPrice: expected a finite number, found an "
            "infinity");
  EXPECT_EQ(refusal_to_write(std::numeric_limits<float>::infinity()),
            "$: expected a finite number, found an infinity");
  json untyped;
  untyped["a"] = std::nan("");
  EXPECT_EQ(refusal_to_write(untyped),
            "$.a: expected a finite number, found NaN");
}

TEST(json, text_that_is_not_utf_8_is_refused_with_its_path) {
  const std::vector<std::string> bad{
    "\x80",             // a tail without a head
    "\xc3",             // cut off
    "\xc0\xaf",         // overlong
    "\xe0\x80\xaf",     // overlong
    "\xf0\x80\x80\xaf", // overlong
    "\xed\xa0\x80",     // a surrogate
    "\xf4\x90\x80\x80", // above U+10FFFF
    "\xf5\x80\x80\x80", // above U+10FFFF
    "\xe2\x82",         // cut off
    "\xf0\x9f\x98",     // cut off
    "\xe2\x28\xa1",     // an invalid tail
    "\xff",
  };
  for (const auto& tail : bad)
    EXPECT_EQ(refusal_to_write(named{"good " + tail}),
              "$.fullName: expected UTF-8, found an invalid byte at offset 5");
  EXPECT_TRUE(has(refusal_to_write(std::map<std::string, int>{{"\xff", 1}}),
                  "expected UTF-8"));
}

TEST(json, the_edges_of_utf_8_are_accepted) {
  const std::vector<std::string> good{
    "\x7f",         "\xc2\x80",         "\xdf\xbf",
    "\xe0\xa0\x80", "\xed\x9f\xbf",     "\xee\x80\x80",
    "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf",
  };
  for (const auto& text : good) {
    EXPECT_EQ(to_json_text(text), '"' + text + '"');
    EXPECT_EQ(untyped('"' + text + '"'), '"' + text + '"');
  }
}

TEST(json, an_enum_value_without_a_name_is_refused) {
  EXPECT_EQ(refusal_to_write(static_cast<user::colour>(17)),
            "$: expected a described enumerator, found 17");
}

TEST(json, what_is_written_can_be_read_to_the_last_level) {
  tree x;
  for (std::size_t i = 1; i < max_json_depth / 2; ++i) {
    tree parent;
    parent.children.push_back(std::move(x));
    x = std::move(parent);
  }
  EXPECT_EQ(parse_json<tree>(to_json_text(x)), x);
  tree parent;
  parent.children.push_back(std::move(x));
  tree grandparent;
  grandparent.children.push_back(std::move(parent));
  const auto message = refusal_to_write(grandparent);
  EXPECT_TRUE(message.ends_with("expected at most 200 levels of arrays and "
                                "objects, found more"))
    << message;
}

} // namespace

} // namespace tertulia::test::json_tests
