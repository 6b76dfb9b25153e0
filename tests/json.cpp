// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/json.hpp>
#include <tertulia/status.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "support/refusal.hpp"
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace user {

enum class colour {
  dark_red,
  blue,
  default_,
};
BOOST_DESCRIBE_ENUM(colour, dark_red, blue, default_)

enum class undescribed { yes, no };

struct item {
  std::string article;
  double unit_price = 9.5;
  std::optional<int> pieces;

  friend bool operator==(const item&, const item&) = default;
};
BOOST_DESCRIBE_STRUCT(item, (), (article, unit_price, pieces))

struct order {
  std::vector<item> items;
  std::map<std::string, std::string> notes;

  friend bool operator==(const order&, const order&) = default;
};
BOOST_DESCRIBE_STRUCT(order, (), (items, notes))

/// Brings its own mapping: a hexadecimal string.
struct code {
  std::uint32_t value = 0;

  friend bool operator==(const code&, const code&) = default;
};

} // namespace user

template <>
struct tertulia::json_codec<user::code> {
  static void write(std::string& out, const user::code& x, const json_path&) {
    out += "\"#" + std::to_string(x.value) + '"';
  }

  static user::code read(const json& from, const json_path& at) {
    if (!from.is_string()
        || !from.get_ref<const std::string&>().starts_with('#'))
      raise_mismatch(at, "a code", from);
    return {static_cast<std::uint32_t>(
      std::stoul(from.get_ref<const std::string&>().substr(1)))};
  }

  static json schema() {
    return json::object();
  }
};

namespace tertulia {

namespace {

using test::refusal;
using test::refusal_to_read;
using test::refusal_to_write;

// Local on purpose: descriptions must work in an anonymous namespace.

struct nothing {
  friend bool operator==(const nothing&, const nothing&) = default;
};
BOOST_DESCRIBE_STRUCT(nothing, (), ())

struct named {
  std::string full_name;

  friend bool operator==(const named&, const named&) = default;
};
BOOST_DESCRIBE_STRUCT(named, (), (full_name))

struct pet : named {
  std::uint8_t age = 0;

  friend bool operator==(const pet&, const pet&) = default;
};
BOOST_DESCRIBE_STRUCT(pet, (named), (age))

struct tree {
  int value = 0;
  std::vector<tree> children;

  friend bool operator==(const tree&, const tree&) = default;
};
BOOST_DESCRIBE_STRUCT(tree, (), (value, children))

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

struct everything {
  bool flag = false;
  std::int8_t tiny = 0;
  std::int64_t big = 0;
  std::uint64_t huge = 0;
  float single = 0;
  double real = 0;
  std::string text;
  user::colour shade = user::colour::blue;
  std::optional<std::string> maybe;
  std::vector<bool> bits;
  std::array<int, 2> two{};
  std::pair<int, std::string> both;
  std::map<std::string, int> sorted;
  std::unordered_map<std::string, int> unsorted;
  std::map<user::colour, int> by_colour;
  std::set<int> set;
  std::variant<std::monostate, int, std::string, pet, user::item> choice;
  json any;
  user::code code;
  nothing none;
  tree root;

  friend bool operator==(const everything&, const everything&) = default;
};
BOOST_DESCRIBE_STRUCT(everything, (),
                      (flag, tiny, big, huge, single, real, text, shade, maybe,
                       bits, two, both, sorted, unsorted, by_colour, set,
                       choice, any, code, none, root))

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

/// Parses without a type and writes again.
std::string untyped(const std::string& text) {
  return to_json_text(parse_json<json>(text));
}

std::string nested(std::size_t levels) {
  return std::string(levels, '[') + std::string(levels, ']');
}

// -- which types --------------------------------------------------------------

static_assert(json_value<everything>);
static_assert(json_value<owners>);
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
  // as a float it is 7.038531e-26, which read as a double is its neighbour
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

// -- what cannot be written ---------------------------------------------------

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
    "\xe2\x28\xa1",     // a tail that is none
    "\xff",
  };
  for (const auto& tail : bad)
    EXPECT_EQ(refusal_to_write(named{"good " + tail}),
              "$.fullName: expected UTF-8, found an invalid byte at offset 5");
  EXPECT_NE(refusal_to_write(std::map<std::string, int>{{"\xff", 1}})
              .find("expected UTF-8"),
            std::string::npos);
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

// -- reading ------------------------------------------------------------------

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
  EXPECT_NE(refusal_to_read<std::int64_t>("-9223372036854775809")
              .find("expected an integer"),
            std::string::npos);
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
  const std::size_t levels = 60; // 2^60 readings would take for ever
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

// -- properties ---------------------------------------------------------------

rc::Gen<std::string> utf8() {
  const std::vector<std::string> pieces{
    "a",    "tertulia", "\"", "\\", "/",      "\n",      "\x01",
    "\x7f", "\u00e9",   "茶", "😀",  "\u2028", {1, '\0'},
  };
  return rc::gen::map(
    rc::gen::scale(0.2, rc::gen::container<std::vector<std::string>>(
                          rc::gen::elementOf(pieces))),
    [](const std::vector<std::string>& xs) {
      std::string result;
      for (const auto& x : xs)
        result += x;
      return result;
    });
}

/// Any bits that are a number: denormals and negative zero are as likely as
/// they are rare among numbers.
template <class Float, class Bits>
rc::Gen<Float> finite() {
  const auto any = rc::gen::map(rc::gen::resize(rc::kNominalSize,
                                                rc::gen::arbitrary<Bits>()),
                                [](Bits x) { return std::bit_cast<Float>(x); });
  const auto integral = rc::gen::map(rc::gen::arbitrary<int>(), [](int x) {
    return static_cast<Float>(x);
  });
  const auto special = rc::gen::element<Float>(
    Float{0}, -Float{0}, std::numeric_limits<Float>::denorm_min(),
    std::numeric_limits<Float>::min(), std::numeric_limits<Float>::max());
  return rc::gen::suchThat(rc::gen::oneOf(any, integral, special),
                           [](Float x) { return std::isfinite(x); });
}

rc::Gen<user::colour> colours() {
  return rc::gen::element(user::colour::dark_red, user::colour::blue,
                          user::colour::default_);
}

template <class T>
std::optional<T> maybe(const rc::Gen<T>& gen) {
  return *rc::gen::arbitrary<bool>() ? std::optional<T>{*gen} : std::nullopt;
}

user::item any_item() {
  return {*utf8(), *finite<double, std::uint64_t>(),
          maybe(rc::gen::arbitrary<int>())};
}

tree any_tree(int levels) {
  tree result{*rc::gen::arbitrary<int>(), {}};
  for (auto i = *rc::gen::inRange(0, levels + 1); i > 0; --i)
    result.children.push_back(any_tree(levels - 1));
  return result;
}

json any_json(int levels) {
  switch (*rc::gen::inRange(0, levels > 0 ? 8 : 6)) {
    case 0: return nullptr;
    case 1: return *rc::gen::arbitrary<bool>();
    case 2: return *rc::gen::arbitrary<std::int64_t>();
    case 3: return *rc::gen::arbitrary<std::uint64_t>();
    case 4: return *finite<double, std::uint64_t>();
    case 5: return *utf8();
    case 6: {
      auto result = json::array();
      for (auto i = *rc::gen::inRange(0, 4); i > 0; --i)
        result.push_back(any_json(levels - 1));
      return result;
    }
    default: {
      auto result = json::object();
      for (auto i = *rc::gen::inRange(0, 4); i > 0; --i)
        result[*utf8()] = any_json(levels - 1);
      return result;
    }
  }
}

everything any_everything() {
  everything x;
  x.flag = *rc::gen::arbitrary<bool>();
  x.tiny = *rc::gen::arbitrary<std::int8_t>();
  x.big = *rc::gen::arbitrary<std::int64_t>();
  x.huge = *rc::gen::arbitrary<std::uint64_t>();
  x.single = *finite<float, std::uint32_t>();
  x.real = *finite<double, std::uint64_t>();
  x.text = *utf8();
  x.shade = *colours();
  x.maybe = maybe(utf8());
  x.bits = *rc::gen::arbitrary<std::vector<bool>>();
  x.two = *rc::gen::arbitrary<std::array<int, 2>>();
  x.both = {*rc::gen::arbitrary<int>(), *utf8()};
  for (auto i = *rc::gen::inRange(0, 9); i > 0; --i) {
    x.sorted[*utf8()] = i;
    x.unsorted[*utf8()] = i;
  }
  for (auto i = *rc::gen::inRange(0, 4); i > 0; --i)
    x.by_colour[*colours()] = i;
  x.set = *rc::gen::arbitrary<std::set<int>>();
  switch (*rc::gen::inRange(0, 5)) {
    case 0: break;
    case 1: x.choice = *rc::gen::arbitrary<int>(); break;
    case 2: x.choice = *utf8(); break;
    case 3: x.choice.emplace<pet>().full_name = *utf8(); break;
    default: x.choice = any_item();
  }
  x.any = any_json(3);
  x.code.value = *rc::gen::arbitrary<std::uint32_t>();
  x.root = any_tree(3);
  return x;
}

RC_GTEST_PROP(json, a_value_survives_its_text, ()) {
  const auto x = any_everything();
  const auto text = to_json_text(x);
  const auto y = parse_json<everything>(text);
  RC_ASSERT(to_json_text(y) == text);
  // an integral double in an untyped value comes back as an integer, which
  // compares equal
  RC_ASSERT(y == x);
}

RC_GTEST_PROP(json, text_is_stable_through_an_untyped_value, ()) {
  const auto x = any_everything();
  const auto once = untyped(to_json_text(x)); // sorts the members
  RC_ASSERT(untyped(once) == once);
  RC_ASSERT(to_json_text(parse_json<everything>(once)) == to_json_text(x));
  const auto y = any_json(4);
  RC_ASSERT(untyped(to_json_text(y)) == to_json_text(y));
}

RC_GTEST_PROP(json, every_double_survives_bit_by_bit, ()) {
  const auto x = *finite<double, std::uint64_t>();
  const auto text = to_json_text(x);
  RC_ASSERT(std::bit_cast<std::uint64_t>(parse_json<double>(text))
            == std::bit_cast<std::uint64_t>(x));
  RC_ASSERT(untyped(text) == text);
}

RC_GTEST_PROP(json, every_float_survives_bit_by_bit, ()) {
  const auto x = *finite<float, std::uint32_t>();
  const auto text = to_json_text(x);
  RC_ASSERT(std::bit_cast<std::uint32_t>(parse_json<float>(text))
            == std::bit_cast<std::uint32_t>(x));
  RC_ASSERT(untyped(text) == text);
}

RC_GTEST_PROP(json, arbitrary_bytes_are_read_or_refused, (std::string bytes)) {
  const auto text = *rc::gen::element<std::string>("", "[", "{\"a\":") + bytes;
  try {
    const auto once = untyped(text);
    RC_ASSERT(untyped(once) == once);
  } catch (const status_error& e) {
    RC_ASSERT(e.code() == errc::invalid_argument);
    RC_ASSERT(json::accept(e.details()));
  }
}

} // namespace

} // namespace tertulia
