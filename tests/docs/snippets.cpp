// SPDX-License-Identifier: BSD-3-Clause

// Code on the pages: each snippet is a region of a compiled file, behind the
// includes and the namespaces of that file which it needs, so that it is
// complete when it is read alone.

#include <cstddef>
#include <filesystem>
#include <regex>
#include <string>

#include "docs/page_files.hpp"
#include "docs/snippet_search.hpp"
#include <gtest/gtest.h>

namespace tertulia::test::snippets_tests {

namespace {

using docs::all_blocks;
using docs::all_snippets;
using docs::contains;
using docs::file_marker;
using docs::lines;
using docs::lines_of;
using docs::names;
using docs::region_marker;
using docs::root;
using docs::snippet_search;

bool is_region_marker(const std::string& line) {
  return line.find("// --(") != std::string::npos && line.ends_with(")--");
}

/// Returns the lines between `// --(name-begin)--` and `// --(name-end)--`
/// without the markers of other regions and without their indentation.
lines region(const lines& file, const std::string& name) {
  lines result;
  auto is_inside = false;
  for (const auto& line : file) {
    if (line.ends_with("// --(" + name + "-end)--"))
      break;
    if (is_inside && !is_region_marker(line))
      result.push_back(line);
    if (line.ends_with("// --(" + name + "-begin)--"))
      is_inside = true;
  }
  const auto depth = result.empty() ? 0 : result[0].find_first_not_of(' ');
  for (auto& line : result)
    line.erase(0, depth);
  return result;
}

/// Returns whether a line may precede the region of a snippet.
bool is_prelude(const std::string& line) {
  static const std::regex allowed{
    "#include (<.*>|\".*\")|namespace [a-z_]+ = [a-z_:]+;|"
    "using (namespace )?[a-z_:]+;"};
  return line.empty() || std::regex_match(line, allowed);
}

} // namespace

TEST(snippets, are_marked_with_their_file) {
  for (const auto& x : all_blocks()) {
    const auto is_marked = std::regex_match(x.marker, region_marker);
    if (x.language == "cpp") {
      EXPECT_TRUE(is_marked || std::regex_match(x.marker, file_marker)) << x;
    } else {
      EXPECT_FALSE(is_marked) << x;
    }
  }
  EXPECT_GE(all_snippets().size(), 75u);
}

TEST(snippets, are_regions_of_compiled_files) {
  for (const auto& x : all_snippets()) {
    std::smatch found;
    if (!std::regex_match(x.marker, found, region_marker))
      continue;
    const auto file = lines_of(root / found[1].str());
    const auto code = region(file, found[2].str());
    ASSERT_FALSE(code.empty()) << x;
    ASSERT_GE(x.text.size(), code.size()) << x;
    const auto prelude = x.text.size() - code.size();
    EXPECT_EQ(lines(x.text.begin() + prelude, x.text.end()), code) << x;
    for (std::size_t i = 0; i < prelude; ++i) {
      EXPECT_TRUE(is_prelude(x.text[i])) << x << ": " << x.text[i];
      EXPECT_TRUE(contains(file, x.text[i])) << x << ": " << x.text[i];
    }
  }
}

TEST(snippets, are_complete_when_read_alone) {
  for (const auto& x : all_snippets()) {
    std::smatch found;
    const auto file = std::regex_match(x.marker, found, region_marker)
                        ? lines_of(root / found[1].str())
                        : x.text;
    EXPECT_EQ(snippet_search(x.text, file).missing(), names{}) << x;
  }
}

// A precompiled header hides what a file that users copy does not include.
TEST(snippets, come_from_files_that_include_what_they_use) {
  auto count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator{root / "examples"}) {
    if (entry.path().extension() != ".cpp")
      continue;
    const auto file = lines_of(entry.path());
    const snippet_search search{file, file};
    for (const auto& name : search.missing())
      EXPECT_TRUE(name.ends_with(" of this test") || name.starts_with("caf")
                  || name.ends_with("::")) // a namespace of its own
        << entry << ": " << name;
    ++count;
  }
  EXPECT_GE(count, 40);
}

TEST(snippets, are_not_hidden_in_blocks_of_text) {
  for (const auto& x : all_blocks())
    if (x.language.empty() || x.language == "text") {
      for (const auto& line : x.text)
        EXPECT_FALSE(line.ends_with(';')) << x << ": " << line;
    }
}

TEST(snippets, are_searched_for_what_is_missing) {
  const lines code{"ai::prompt x{std::move(y)}; // std::vector",
                   "json z = tertulia::json::array();"};
  const lines file{"using tertulia::json;", "using namespace std::literals;"};
  EXPECT_EQ(
    snippet_search(code, file).missing(),
    (names{"ai::", "tertulia::json", "using tertulia::json;", "utility"}));
  lines whole{"#include <tertulia/ai.hpp>", "#include <utility>",
              "namespace ai = tertulia::ai;", "using tertulia::json;"};
  whole.insert(whole.end(), code.begin(), code.end());
  EXPECT_EQ(snippet_search(whole, file).missing(), names{});
  EXPECT_EQ(
    snippet_search({"#include <tertulia/json.hpp>", "tertulia::runtime rt;",
                    "caf::error x;", "wait(5s);", "std::unknown();"},
                   {})
      .missing(),
    (names{"caf/error.hpp", "chrono", "std::unknown in the table of this test",
           "tertulia/runtime.hpp", "tertulia::runtime",
           "using namespace std::literals;"}));
}

} // namespace tertulia::test::snippets_tests
