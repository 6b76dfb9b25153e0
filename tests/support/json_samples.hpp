// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

// Types as users define them, with everything that JSON can express.

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

/// Struct with a codec of its own: a string of `#` and a decimal number.
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

  static user::code read(const json& from, const json_path& path) {
    if (!from.is_string()
        || !from.get_ref<const std::string&>().starts_with('#'))
      raise_mismatch(path, "a code", from);
    return {static_cast<std::uint32_t>(
      std::stoul(from.get_ref<const std::string&>().substr(1)))};
  }

  static json schema() {
    return json::object();
  }
};

namespace tertulia::test::json_tests {

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

/// Parses a text without a type and writes it again.
inline std::string untyped(const std::string& text) {
  return to_json_text(parse_json<json>(text));
}

} // namespace tertulia::test::json_tests
