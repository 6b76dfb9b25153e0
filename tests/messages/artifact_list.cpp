// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/artifact_list.hpp>
#include <tertulia/state.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace tertulia::ai {

namespace {

artifact file(const std::string& name, const std::string& text = "x") {
  return artifact{name, {part::text(text)}};
}

/// Returns `count` files that have numbers as names.
artifact_list files(int count) {
  artifact_list result;
  for (int i = 0; i < count; ++i)
    result = result.with(file(std::to_string(i)));
  return result;
}

} // namespace

TEST(artifact_list, is_empty_at_first) {
  const artifact_list none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.size(), 0u);
  EXPECT_TRUE(none.begin() == none.end());
  EXPECT_TRUE(none.to_vector().empty());
  EXPECT_EQ(none, artifact_list{std::vector<artifact>{}});
  EXPECT_EQ(to_json_text(none), "[]");
}

TEST(artifact_list, grows_as_a_vector_does) {
  std::vector<artifact> expected;
  artifact_list list;
  for (int i = 0; i < 200; ++i) {
    expected.push_back(file(std::to_string(i)));
    const auto before = list;
    list = list.with(expected.back());
    ASSERT_EQ(list.to_vector(), expected);
    ASSERT_EQ(list, artifact_list{expected});
    ASSERT_EQ(before.size() + 1, expected.size());
    ASSERT_FALSE(before == list);
    ASSERT_EQ(list[i], expected.back());
  }
  EXPECT_EQ(to_json_text(list), to_json_text(expected));
  EXPECT_EQ(parse_json<artifact_list>(to_json_text(list)), list);
}

TEST(artifact_list, replaces_the_first_one_of_a_name_in_its_place) {
  const auto list = files(150);
  for (const auto index : {0, 63, 64, 127, 128, 149}) {
    const auto changed = list.with(file(std::to_string(index), "new"));
    EXPECT_EQ(changed.size(), 150u);
    EXPECT_FALSE(changed == list);
    auto expected = list.to_vector();
    expected[index] = file(std::to_string(index), "new");
    EXPECT_EQ(changed.to_vector(), expected);
    EXPECT_EQ(list[index], file(std::to_string(index)));
  }
  const artifact_list twice{std::vector{file("a"), file("a")}};
  EXPECT_EQ(twice.with(file("a", "new")),
            (artifact_list{std::vector{file("a", "new"), file("a")}}));
}

TEST(artifact_list, finds_names_of_one_hash) {
  const std::string one = "chapter-one.text";
  const std::string other = "7zd5k18aFov6QCA2";
  if (std::hash<std::string_view>{}(one)
      != std::hash<std::string_view>{}(other))
    GTEST_SKIP() << "only in libstdc++ are they of one hash";
  const auto list = files(3).with(file(one)).with(file(other));
  ASSERT_EQ(list.size(), 5u);
  const auto changed = list.with(file(other, "new")).with(file(one, "newer"));
  EXPECT_EQ(changed.size(), 5u);
  EXPECT_EQ(changed[3], file(one, "newer"));
  EXPECT_EQ(changed[4], file(other, "new"));
}

TEST(artifact_list, adds_each_one_without_a_name) {
  auto list = files(1).with(file("")).with(file(""));
  EXPECT_EQ(list.size(), 3u);
  EXPECT_EQ(list.with(file("0", "new")).size(), 3u);
}

TEST(artifact_list, shares_what_it_has_in_common) {
  const auto list = files(100);
  const auto longer = list.with(file("more"));
  EXPECT_EQ(&list[0], &longer[0]);
  EXPECT_EQ(&list[99], &longer[99]);
  EXPECT_TRUE(list.same_as(artifact_list{list}));
  EXPECT_FALSE(list.same_as(files(100)));
  const auto content = tertulia::state::conversation({}, {}, list);
  EXPECT_TRUE(content.same_as(tertulia::state{content}));
  EXPECT_FALSE(content.same_as(
    content.with_artifact({"another", {ai::part::text("one")}})));
  EXPECT_EQ(list, files(100));
}

} // namespace tertulia::ai
