// SPDX-License-Identifier: BSD-3-Clause

// The README, the pages in docs/ and the tree they describe: tests named as
// proofs exist, links, anchors and citations resolve, and the top level holds
// the rooms and not a stray file. Their code is tested in snippets.cpp.

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "docs/page_files.hpp"
#include <gtest/gtest.h>

using namespace std::literals;

namespace tertulia::test::pages_tests {

namespace {

using docs::all_pages;
using docs::lines_of;
using docs::root;

/// The names of all tests: `suite.name`.
std::set<std::string> all_tests() {
  static const std::regex test{R"(T\w+\((\w+),\s*(\w+)\).*)"};
  std::set<std::string> result;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator{root / "tests"}) {
    if (entry.path().extension() != ".cpp")
      continue;
    const auto lines = lines_of(entry.path());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (!lines[i].starts_with("TEST"))
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

/// Returns the lines of a page outside code blocks, without code spans.
std::vector<std::string> prose_of(const std::filesystem::path& page) {
  static const std::regex span{"`[^`]*`"};
  std::vector<std::string> result;
  auto is_code = false;
  for (const auto& line : lines_of(page)) {
    if (line.starts_with("```"))
      is_code = !is_code;
    else if (!is_code)
      result.push_back(std::regex_replace(line, span, "code"));
  }
  return result;
}

/// Returns the anchor that GitHub makes of a heading.
std::string anchor_of(const std::string& heading) {
  std::string result;
  for (const char x : heading) {
    const auto letter = static_cast<unsigned char>(x);
    if (std::isalnum(letter) || x == '-' || x == '_')
      result += static_cast<char>(std::tolower(letter));
    else if (x == ' ')
      result += '-';
  }
  return result;
}

/// Returns the anchors of all headings of a page.
const std::set<std::string>& anchors_of(const std::filesystem::path& page) {
  static std::map<std::filesystem::path, std::set<std::string>> known;
  const auto [at, is_new] = known.try_emplace(page);
  if (!is_new)
    return at->second;
  auto is_code = false;
  for (const auto& line : lines_of(page)) {
    is_code = is_code != line.starts_with("```");
    if (!is_code && line.starts_with('#'))
      at->second.insert(anchor_of(line.substr(line.find(' ') + 1)));
  }
  return at->second;
}

/// Returns whether a link of a page leads to a file, and to one of its headings
/// if the link has an anchor.
bool resolves(const std::filesystem::path& page, const std::string& link) {
  const auto hash = std::min(link.find('#'), link.size());
  const auto file
    = hash == 0
        ? page
        : (page.parent_path() / link.substr(0, hash)).lexically_normal();
  if (!std::filesystem::exists(file))
    return false;
  return hash == link.size()
         || anchors_of(file).contains(link.substr(hash + 1));
}

} // namespace

TEST(pages, the_readme_is_short) {
  EXPECT_LE(lines_of(root / "README.md").size(), 220u);
}

TEST(pages, programs_of_users_are_short) {
  const auto is_code = [](const std::string& line) {
    const auto from = line.find_first_not_of(' ');
    return from != std::string::npos && line.compare(from, 2, "//") != 0;
  };
  for (const auto& [name, limit] :
       {std::pair{"agent_actor_client", 40}, std::pair{"terminal", 40},
        std::pair{"two_processes", 60}, std::pair{"agent_test", 60},
        std::pair{"file_store", 250}}) {
    const auto lines = lines_of(root / "examples" / (name + ".cpp"s));
    EXPECT_LE(std::count_if(lines.begin(), lines.end(), is_code), limit)
      << name;
  }
}

// Files that git does not track may lie there: builds, notes, tools' files.
TEST(pages, the_top_level_holds_the_rooms) {
  const auto command = "git -C '" + root.string() + "' ls-files 2>/dev/null";
  auto* const files = ::popen(command.c_str(), "r");
  ASSERT_NE(files, nullptr);
  std::set<std::string> found;
  for (std::array<char, 4096> line; std::fgets(line.data(), 4096, files);) {
    const std::string file{line.data()};
    found.insert(file.substr(0, file.find_first_of("/\n")));
  }
  // Those with plausible bugs lie in a folder that git ignores.
  if (::pclose(files) != 0 || found.empty())
    GTEST_SKIP() << "the sources are not a clone of git";
  std::erase_if(found, [](const auto& name) { return name.starts_with('.'); });
  EXPECT_EQ(found, (std::set<std::string>{
                     "CMakeLists.txt", "LICENSE", "Makefile", "README.md",
                     "actors", "bench", "cmake", "docs", "examples", "messages",
                     "runtime", "stores", "tests"}));
}

TEST(pages, every_row_of_the_failure_table_names_its_test) {
  static const std::regex row{R"(\| .* \| `([a-z_0-9]+)\.([a-z_0-9]+)` \|)"};
  const auto tests = all_tests();
  auto rows = 0;
  for (const auto& line : lines_of(root / "docs" / "failures.md")) {
    if (line == "## Error codes")
      break;
    if (!line.starts_with("|") || line.starts_with("|---")
        || line.starts_with("| what dies"))
      continue;
    std::smatch match;
    ASSERT_TRUE(std::regex_match(line, match, row)) << line;
    ++rows;
    expect_test(tests, match[1], match[2]);
  }
  EXPECT_GE(rows, 115);
}

TEST(pages, every_proof_of_the_seeds_exists) {
  static const std::regex row{R"(\| ([0-9.]+) \|.*\| (`.*`) \|)"};
  static const std::regex proof{"`([^`]+)`"};
  static const std::regex test_name{"([a-z_]+)\\.([a-z_0-9]+)"};
  const auto tests = all_tests();
  std::map<std::string, std::string> sections; // of each seed
  std::string seed;
  for (const auto& line : lines_of(root / "docs" / "genkit.md")) {
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
        ADD_FAILURE() << name << " is not a proof";
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

TEST(pages, every_option_of_a_runtime_has_a_row) {
  static const std::regex member{"  [a-z].* ([a-z_]+)( = .*;)?"};
  const auto page = lines_of(root / "docs" / "engine.md");
  auto is_inside = false;
  auto options = 0;
  for (const auto& line :
       lines_of(root / "actors/action/tertulia/runtime_options.hpp")) {
    is_inside = is_inside ? line != "};" : line == "struct runtime_options {";
    std::smatch found;
    if (!is_inside || !std::regex_match(line, found, member))
      continue;
    ++options;
    const auto name = '`' + found[1].str() + '`';
    EXPECT_TRUE(
      std::any_of(page.begin(), page.end(),
                  [&](const auto& row) {
                    return row.starts_with("| `")
                           && row.substr(0, row.find(" | ")).find(name)
                                != std::string::npos;
                  }))
      << name;
  }
  EXPECT_GE(options, 15);
}

TEST(pages, every_link_and_anchor_resolves) {
  static const std::regex link{R"(\[[^\]]*\]\(([^)]*)\))"};
  auto links = 0;
  for (const auto& page : all_pages())
    for (const auto& line : prose_of(page))
      for (std::sregex_iterator at{line.begin(), line.end(), link}, end;
           at != end; ++at) {
        const auto target = (*at)[1].str();
        if (target.starts_with("https://"))
          continue;
        ++links;
        EXPECT_TRUE(resolves(page, target)) << page << ": " << target;
      }
  EXPECT_GE(links, 100);
}

TEST(pages, every_section_that_the_code_cites_exists) {
  static const std::regex citation{R"((docs/[a-z-]+\.md)(#[a-z0-9-]+)?)"};
  auto cited = 0;
  for (const auto* room : {"messages", "stores", "actors", "runtime", "bench",
                           "examples", "tests"})
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator{root / room}) {
      if (entry.path().extension() != ".hpp"
          && entry.path().extension() != ".cpp")
        continue;
      for (const auto& line : lines_of(entry.path()))
        for (std::sregex_iterator at{line.begin(), line.end(), citation}, end;
             at != end; ++at) {
          ++cited;
          EXPECT_TRUE(resolves(root / "README.md", at->str()))
            << entry.path() << " cites " << at->str();
        }
    }
  EXPECT_GE(cited, 40);
}

} // namespace tertulia::test::pages_tests
