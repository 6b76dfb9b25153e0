// SPDX-License-Identifier: BSD-3-Clause

// What the README shows must be what is compiled, what the code cites must be
// in the README, and what the pages name as a proof must exist.

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tertulia::test::readme_tests {

namespace {

const std::filesystem::path root = TERTULIA_SOURCE_DIR;

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::ifstream in{file};
  std::vector<std::string> result;
  for (std::string line; std::getline(in, line);)
    result.push_back(line);
  EXPECT_FALSE(result.empty()) << file;
  return result;
}

/// The lines between `// --(name-begin)--` and `// --(name-end)--`, without the
/// indentation of the first.
std::string region(const std::string& file, const std::string& name) {
  std::string result;
  auto inside = false;
  for (const auto& line : lines_of(root / file)) {
    if (line.ends_with("// --(" + name + "-end)--"))
      return result;
    if (inside)
      result += line + '\n';
    if (line.ends_with("// --(" + name + "-begin)--"))
      inside = true;
  }
  ADD_FAILURE() << file << " has no region " << name;
  return result;
}

std::string without_indentation(const std::string& text) {
  const auto depth = text.find_first_not_of(' ');
  std::istringstream in{text};
  std::string result;
  for (std::string line; std::getline(in, line);)
    result += (line.size() > depth ? line.substr(depth) : "") + '\n';
  return result;
}

/// The names of all tests: `suite.name`.
std::set<std::string> all_tests() {
  static const std::regex test{R"(T\w+\((\w+),\s*(\w+)\).*)"};
  std::set<std::string> result;
  for (const auto& entry :
       std::filesystem::directory_iterator{root / "tests"}) {
    if (entry.path().extension() != ".cpp")
      continue;
    const auto lines = lines_of(entry.path());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (!lines[i].starts_with("TEST") && !lines[i].starts_with("TYPED_TEST"))
        continue;
      const auto whole
        = lines[i].ends_with('{') ? lines[i] : lines[i] + lines.at(i + 1);
      std::smatch match;
      if (std::regex_match(whole, match, test))
        result.insert(match[1].str() + '.' + match[2].str());
    }
  }
  return result;
}

void expect_test(const std::set<std::string>& tests, const std::string& suite,
                 const std::string& name) {
  EXPECT_TRUE(tests.contains(suite + '.' + name)) << suite << '.' << name;
}

} // namespace

TEST(readme, every_quoted_snippet_is_a_region_of_a_compiled_example) {
  static const std::regex marker{"<!-- (.*): (.*) -->"};
  const auto lines = lines_of(root / "README.md");
  auto quoted = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::smatch match;
    if (!std::regex_match(lines[i], match, marker))
      continue;
    ++quoted;
    ASSERT_EQ(lines.at(i + 1), "```cpp") << lines[i];
    std::string shown;
    for (i += 2; lines.at(i) != "```"; ++i)
      shown += lines[i] + '\n';
    EXPECT_EQ(shown, without_indentation(region(match[1], match[2])));
  }
  EXPECT_GE(quoted, 3);
}

TEST(readme, every_row_of_the_failure_table_names_its_test) {
  static const std::regex row{R"(\| .* \| `([a-z_0-9]+)\.([a-z_0-9]+)` \|)"};
  const auto tests = all_tests();
  auto rows = 0;
  auto is_table = false;
  for (const auto& line : lines_of(root / "README.md")) {
    if (line.starts_with("#"))
      is_table = line.starts_with("### 5.9 ");
    if (!is_table || !line.starts_with("|") || line.starts_with("|---")
        || line.starts_with("| what dies"))
      continue;
    std::smatch match;
    ASSERT_TRUE(std::regex_match(line, match, row)) << line;
    ++rows;
    expect_test(tests, match[1], match[2]);
  }
  EXPECT_GE(rows, 70);
}

TEST(readme, every_proof_of_the_seeds_exists) {
  static const std::regex row{R"(\| ([0-9.]+) \|.*\| (`.*`) \|)"};
  static const std::regex proof{"`([^`]+)`"};
  static const std::regex test_name{"([a-z_]+)\\.([a-z_0-9]+)"};
  const auto tests = all_tests();
  std::map<std::string, std::string> sections; // of each seed
  std::string seed;
  for (const auto& line : lines_of(root / "tests" / "SEEDS.md")) {
    if (line.starts_with("## "))
      seed = line.substr(3, 3);
    std::smatch found;
    if (!std::regex_match(line, found, row))
      continue;
    sections[seed] += found[1].str() + ' ';
    const auto proofs = found[2].str();
    for (std::sregex_iterator at{proofs.begin(), proofs.end(), proof}, end;
         at != end; ++at) {
      const auto name = (*at)[1].str();
      std::smatch parts;
      if (name.ends_with(".cpp"))
        EXPECT_TRUE(std::filesystem::exists(root / name)) << name;
      else if (std::regex_match(name, parts, test_name))
        expect_test(tests, parts[1], parts[2]);
      else
        ADD_FAILURE() << name << " is no proof";
    }
  }
  const std::map<std::string, std::string> numbers{
    {"000", "1.1 1.2 1.3 1.4 2 3.1 3.2 4.1 5 6 6.1 7 7.1 8 9.1 9.2 9.3 9.4 9.5 "
            "9.6 10.1 10.2 10.3 11 12 13 14 "},
    {"001", "1.1 1.2 1.3 1.4 1.5 2.1 2.2 2.3 2.4 2.5 3.1 3.2 4.1 4.2 4.3 5.1 "
            "5.2 5.3 6 7 "},
    {"003", "1.1 1.2 1.3 1.4 1.5 1.6 1.7 2.1 2.2 3.1 3.2 4.1 4.2 4.3 4.4 5.1 "
            "5.2 5.3 6.1 6.2 7.1 7.2 7.3 7.4 8 9.1 9.2 9.3 10 11 12 13 "},
    {"004", "1.1 1.2 1.3 1.4 1.5 1.6 1.7 2.1 2.2 3 4.1 4.2 4.3 4.4 5.1 5.2 6.1 "
            "6.2 7.1 7.2 7.3 7.4 8 9.1 9.2 9.3 10 11 12 "},
  };
  EXPECT_EQ(sections, numbers) << "a section was left out";
}

TEST(readme, every_section_that_the_code_cites_exists) {
  static const std::regex heading{"##+ ([0-9.]*[0-9])\\.? .*"};
  std::set<std::string> sections;
  for (const auto& line : lines_of(root / "README.md"))
    if (std::smatch match; std::regex_match(line, match, heading))
      sections.insert(match[1]);
  EXPECT_GE(sections.size(), 9u);

  static const std::regex citation{"README §([0-9.]*[0-9])"};
  auto cited = 0;
  for (const auto* room : {"messages", "stores", "actors", "runtime"})
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator{root / room}) {
      if (entry.path().extension() != ".hpp"
          && entry.path().extension() != ".cpp")
        continue;
      for (const auto& line : lines_of(entry.path()))
        for (std::sregex_iterator at{line.begin(), line.end(), citation}, end;
             at != end; ++at) {
          ++cited;
          EXPECT_TRUE(sections.contains((*at)[1]))
            << entry.path() << " cites " << at->str();
        }
    }
  EXPECT_GE(cited, 5);
}

} // namespace tertulia::test::readme_tests
