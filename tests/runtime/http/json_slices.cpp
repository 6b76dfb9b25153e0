// SPDX-License-Identifier: BSD-3-Clause

#include "runtime/http/message/json_slices.hpp"

#include <tertulia/json.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/gen_messages.hpp"
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tertulia::test::json_slices_tests {

using members = std::vector<std::pair<std::string, std::string>>;

std::vector<std::string> elements_of(std::string_view text) {
  std::vector<std::string> result;
  tertulia::web::for_each_element(text, [&](std::string_view x) {
    result.emplace_back(x);
  });
  return result;
}

members members_of(std::string_view text) {
  members result;
  tertulia::web::for_each_member(text, [&](std::string_view name,
                                           std::string_view value) {
    result.emplace_back(name, value);
  });
  return result;
}

RC_GTEST_PROP(json_slices, elements_are_those_of_the_array, ()) {
  const auto values = *few<std::vector<json>>(any_json());
  std::vector<std::string> expected;
  for (const auto& x : values)
    expected.push_back(to_json_text(x));
  RC_ASSERT(elements_of(to_json_text(json(values))) == expected);
}

RC_GTEST_PROP(json_slices, members_are_those_of_the_object, ()) {
  const json object = *few<std::map<std::string, json>>(any_text(), any_json());
  members expected;
  for (const auto& [name, value] : object.items()) {
    const auto quoted = to_json_text(name);
    expected.emplace_back(quoted.substr(1, quoted.size() - 2),
                          to_json_text(value));
  }
  const auto text = object.empty() ? "{}" : to_json_text(object);
  RC_ASSERT(members_of(text) == expected);
}

TEST(json_slices, a_member_is_found_by_its_name) {
  const std::string_view text = R"({"a":"b","b":{"a":[1]},"c":null})";
  EXPECT_EQ(tertulia::web::member_in(text, "b"), R"({"a":[1]})");
  EXPECT_EQ(tertulia::web::member_in(text, "c"), "null");
  EXPECT_EQ(tertulia::web::member_in(text, "d"), "");
  EXPECT_EQ(tertulia::web::member_in("[1]", "a"), "");
}

TEST(json_slices, another_value_has_neither) {
  for (const auto* text :
       {"", "1", "null", R"("[1]")", R"("{}")", "{}", "[]"}) {
    EXPECT_EQ(elements_of(text), std::vector<std::string>{}) << text;
    EXPECT_EQ(members_of(text), members{}) << text;
  }
}

TEST(json_slices, white_space_is_no_part_of_a_value) {
  const std::string_view text = " { \"a\" : [ 1 ,\n\"b c\" ] , \"d\":\t{ } } ";
  EXPECT_EQ(members_of(text),
            (members{{"a", "[ 1 ,\n\"b c\" ]"}, {"d", "{ }"}}));
  EXPECT_EQ(elements_of(tertulia::web::member_in(text, "a")),
            (std::vector<std::string>{"1", "\"b c\""}));
  EXPECT_EQ(members_of("{ }"), members{});
  EXPECT_EQ(elements_of("[ ]"), std::vector<std::string>{});
}

// What another process sends may be anything.
RC_GTEST_PROP(json_slices, no_text_is_read_beyond_its_end, ()) {
  const auto whole = to_json_text(*any_json(3));
  const auto cut = *rc::gen::inRange<std::size_t>(0, whole.size() + 1);
  // On the heap, so that a sanitizer sees a read behind it.
  const std::vector<char> part(
    whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut));
  const std::string_view text{part.data(), part.size()};
  for (const auto& x : elements_of(text))
    RC_ASSERT(x.size() <= text.size());
  for (const auto& [name, value] : members_of(text))
    RC_ASSERT(name.size() + value.size() <= text.size());
}

} // namespace tertulia::test::json_slices_tests
