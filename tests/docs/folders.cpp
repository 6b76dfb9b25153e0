// SPDX-License-Identifier: BSD-3-Clause

// The folders of the rooms: in which direction they see each other, and what
// they hold.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "docs/page_files.hpp"
#include <gtest/gtest.h>

namespace tertulia::test::folders_tests {

namespace {

using folder_names = std::set<std::string>;

/// Calls the function with each file of the rooms.
void for_each_file(const std::function<void(const std::filesystem::path&)>& f) {
  for (const auto* room : {"messages", "stores", "actors", "runtime"})
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator{docs::root / room})
      if (entry.is_regular_file())
        f(entry.path());
}

/// Returns the folders that a CMakeLists.txt declares, each with the folders
/// that it sees or links.
std::map<std::string, folder_names> declared_in(std::istream& text) {
  std::map<std::string, folder_names> result;
  std::string folder;
  auto sees = false;
  for (std::string word; text >> word;) {
    const std::string declaration = "tertulia_room(";
    const auto ends = word.ends_with(')');
    if (ends)
      word.pop_back();
    if (word.starts_with(declaration)) {
      folder = word.substr(declaration.size());
      result[folder];
      sees = false;
    } else if (word == "SEES") {
      sees = true;
    } else if (word == "LINKS") {
      sees = false;
    } else if (word.starts_with("tertulia::")) {
      result[folder].insert(word.substr(std::string{"tertulia::"}.size()));
    } else if (sees) {
      result[folder].insert(word);
    }
    if (ends)
      sees = false;
  }
  return result;
}

/// Returns whether the folders have an order in which each sees only those
/// before it.
bool has_order(std::map<std::string, folder_names> folders) {
  for (auto found = true; found;) {
    found = false;
    for (auto i = folders.begin(); i != folders.end();) {
      const auto& seen = i->second;
      const auto waits
        = std::any_of(seen.begin(), seen.end(),
                      [&](const auto& name) { return folders.contains(name); });
      found = found || !waits;
      i = waits ? std::next(i) : folders.erase(i);
    }
  }
  return folders.empty();
}

std::map<std::string, folder_names> declared_in(const std::string& text) {
  std::istringstream in{text};
  return declared_in(in);
}

} // namespace

TEST(folders, see_each_other_in_one_direction) {
  const auto one = "tertulia_room(a\n  SOURCES\n    a.cpp\n  SEES\n    b)\n";
  EXPECT_TRUE(has_order(declared_in(one + std::string{"tertulia_room(b)"})));
  EXPECT_FALSE(
    has_order(declared_in(one + std::string{"tertulia_room(b SEES a)"})));
  EXPECT_FALSE(has_order(
    declared_in(one + std::string{"tertulia_room(b LINKS tertulia::a)"})));
  std::map<std::string, folder_names> all;
  for_each_file([&](const auto& file) {
    if (file.filename() == "CMakeLists.txt") {
      std::ifstream in{file};
      all.merge(declared_in(in));
    }
  });
  EXPECT_GE(all.size(), 25u);
  EXPECT_TRUE(all["session"].contains("action"));
  EXPECT_TRUE(has_order(all));
}

TEST(folders, hold_at_most_fifteen_sources) {
  std::map<std::string, int> sources;
  for_each_file([&](const auto& file) {
    if (file.extension() == ".cpp")
      ++sources[file.parent_path().string()];
  });
  EXPECT_GE(sources.size(), 40u);
  for (const auto& [folder, count] : sources)
    EXPECT_LE(count, 15) << folder;
}

TEST(folders, name_each_file_once) {
  std::map<std::string, std::string> folders;
  for_each_file([&](const auto& file) {
    if (file.extension() != ".cpp" && file.extension() != ".hpp")
      return;
    const auto [at, is_new]
      = folders.emplace(file.filename().string(), file.parent_path().string());
    EXPECT_TRUE(is_new) << file << ", and another in " << at->second;
  });
  EXPECT_GE(folders.size(), 600u);
}

} // namespace tertulia::test::folders_tests
