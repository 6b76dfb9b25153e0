// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tertulia::test::docs {

using lines = std::vector<std::string>;

inline const std::filesystem::path root = TERTULIA_SOURCE_DIR;

/// Returns the README and the pages in docs/.
inline std::vector<std::filesystem::path> all_pages() {
  std::vector<std::filesystem::path> result{root / "README.md"};
  for (const auto& entry : std::filesystem::directory_iterator{root / "docs"})
    if (entry.path().extension() == ".md")
      result.push_back(entry.path());
  return result;
}

inline lines lines_of(const std::filesystem::path& file) {
  std::ifstream in{file};
  lines result;
  for (std::string line; std::getline(in, line);)
    result.push_back(line);
  EXPECT_FALSE(result.empty()) << file;
  return result;
}

/// Returns a line without its indentation.
inline std::string trimmed(const std::string& line) {
  const auto from = std::min(line.find_first_not_of(' '), line.size());
  return line.substr(from);
}

/// Returns whether a text has a line, at any indentation.
inline bool contains(const lines& text, const std::string& line) {
  return std::any_of(text.begin(), text.end(),
                     [&](const std::string& x) { return trimmed(x) == line; });
}

/// Code block of a page.
struct block {
  std::string page;
  std::string language; // may be empty
  std::string marker;   // the line before it
  lines text;

  friend std::ostream& operator<<(std::ostream& out, const block& x) {
    return out << x.page << ": " << x.marker << " ```" << x.language;
  }
};

inline std::vector<block> read_blocks() {
  std::vector<block> result;
  for (const auto& page : all_pages()) {
    auto is_code = false;
    std::string before;
    for (const auto& line : lines_of(page)) {
      if (!line.starts_with("```")) {
        if (is_code)
          result.back().text.push_back(line);
      } else {
        is_code = !is_code;
        if (is_code)
          result.push_back(
            {page.filename().string(), line.substr(3), before, {}});
      }
      before = line;
    }
  }
  return result;
}

/// Returns the code blocks of all pages.
inline const std::vector<block>& all_blocks() {
  static const auto result = read_blocks();
  return result;
}

/// Returns the blocks of C++.
inline std::vector<block> all_snippets() {
  std::vector<block> result;
  for (const auto& x : all_blocks())
    if (x.language == "cpp")
      result.push_back(x);
  return result;
}

} // namespace tertulia::test::docs
