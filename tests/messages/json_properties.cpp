// SPDX-License-Identifier: BSD-3-Clause

// Every value survives its text, and every text is read or refused.

#include <tertulia/json.hpp>
#include <tertulia/status.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/json_samples.hpp"
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tertulia::test::json_tests {

namespace {

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

/// Generates finite numbers from any bits: denormals and negative zero, which
/// are rare among numbers, are likely.
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

} // namespace tertulia::test::json_tests
