// SPDX-License-Identifier: BSD-3-Clause

// Words in code, as docs/contributing.md asks for: beginnings of comments,
// names of members and of messages.

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tertulia::test::words_tests {

namespace {

const std::filesystem::path root = TERTULIA_SOURCE_DIR;

struct finding {
  std::filesystem::path file;
  std::size_t line = 0;
  std::string text;

  friend std::ostream& operator<<(std::ostream& out, const finding& x) {
    return out << x.file.string() << ':' << x.line << ": " << x.text;
  }
};

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in{file};
  std::ostringstream result;
  result << in.rdbuf();
  EXPECT_FALSE(result.str().empty()) << file;
  return result.str();
}

/// Returns the source with its literals and, unless they are asked for, its
/// comments blanked out. Lines stay where they are.
std::string without_texts(const std::string& source, bool keeps_comments) {
  std::string result = source;
  auto blank = [&](std::size_t begin, std::size_t end) {
    for (auto i = begin; i < end && i < result.size(); ++i)
      if (result[i] != '\n')
        result[i] = ' ';
  };
  for (std::size_t i = 0; i < source.size();) {
    if (source.compare(i, 2, "//") == 0) {
      const auto end = std::min(source.find('\n', i), source.size());
      if (!keeps_comments)
        blank(i, end);
      i = end;
    } else if (source.compare(i, 3, "R\"(") == 0) {
      const auto end = std::min(source.find(")\"", i), source.size());
      blank(i, end);
      i = end + 2;
    } else if (source[i] == '"') {
      auto end = i + 1;
      while (end < source.size() && source[end] != '"')
        end += source[end] == '\\' ? 2 : 1;
      blank(i + 1, end);
      i = end + 1;
    } else if (source[i] == '\'' && i > 0
               && std::isalnum(static_cast<unsigned char>(source[i - 1]))
                    == 0) {
      auto end = i + 1;
      while (end < source.size() && source[end] != '\'')
        end += source[end] == '\\' ? 2 : 1;
      blank(i + 1, end);
      i = end + 1;
    } else {
      ++i;
    }
  }
  return result;
}

/// Returns all sources in these rooms.
std::vector<std::filesystem::path>
sources_in(const std::vector<std::string>& rooms) {
  std::vector<std::filesystem::path> result;
  for (const auto& room : rooms)
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator{root / room})
      if (const auto& file = entry.path();
          file.extension() == ".hpp" || file.extension() == ".cpp")
        result.push_back(file);
  EXPECT_GE(result.size(), 20u);
  return result;
}

/// Returns the lines of all sources in these rooms that match.
std::vector<finding> find(const std::vector<std::string>& rooms,
                          const std::regex& pattern, bool in_comments) {
  std::vector<finding> result;
  for (const auto& file : sources_in(rooms)) {
    std::istringstream in{without_texts(content_of(file), in_comments)};
    std::size_t number = 0;
    for (std::string line; std::getline(in, line);) {
      ++number;
      if (std::regex_search(line, pattern))
        result.push_back({file, number, line});
    }
  }
  return result;
}

/// Returns where a comment or a literal, of one line or of several, contains
/// "is no" or "are no". Neither "there is no" nor "is no longer" is meant.
std::vector<finding> negations_in(const std::filesystem::path& file,
                                  const std::string& source) {
  static const std::regex before{R"((\w*)\W*\b(is|are)[\s"/]+$)"};
  static const std::regex after{R"(^no[\s"/](?![\s"/]*(longer|other)\b))"};
  constexpr std::size_t reach = 40;
  std::vector<finding> result;
  for (auto no = source.find("no"); no != std::string::npos;
       no = source.find("no", no + 1)) {
    const auto begin = no - std::min(no, reach);
    const auto left = source.substr(begin, no - begin);
    const auto right = source.substr(no, reach);
    std::smatch words;
    if (!std::regex_search(right, after)
        || !std::regex_search(left, words, before) || words[1] == "there"
        || words[1] == "There")
      continue;
    const auto position = source.begin() + static_cast<std::ptrdiff_t>(no);
    const auto newlines = std::count(source.begin(), position, '\n');
    result.push_back(
      {file, static_cast<std::size_t>(newlines) + 1, left + right});
  }
  return result;
}

/// Returns the lines that begin a sentence behind a tag such as `@param`: what
/// continues a tag is indented, so the declaration of that comment was lost.
std::vector<finding> briefs_behind_tags(const std::filesystem::path& file,
                                        const std::string& source) {
  static const std::regex tag{R"(^\s*/// @\w)"};
  static const std::regex of_tag{R"(^\s*///  )"};
  static const std::regex brief{R"(^\s*/// \w)"};
  std::vector<finding> result;
  std::istringstream in{source};
  std::size_t number = 0;
  auto is_tagged = false;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (is_tagged && std::regex_search(line, brief))
      result.push_back({file, number, line});
    is_tagged = std::regex_search(line, tag)
                || (is_tagged && std::regex_search(line, of_tag));
  }
  return result;
}

const std::vector<std::string> library{"messages", "actors", "stores",
                                       "runtime"};
const std::vector<std::string> all_code{"messages", "actors",   "stores",
                                        "runtime",  "examples", "bench"};

} // namespace

TEST(words, the_search_finds_what_it_looks_for) {
  const auto code = without_texts("at_ = \"at_\"; // at_\n'\\'' at_", false);
  EXPECT_EQ(code, "at_ = \"   \";       \n'  ' at_");
  EXPECT_FALSE(find(library, std::regex{R"(\bself_\b)"}, false).empty());
  EXPECT_FALSE(find(library, std::regex{R"(^\s*/// Returns\b)"}, true).empty());
}

TEST(words, a_brief_begins_with_a_noun_or_a_verb) {
  static const std::regex riddle{
    R"(^\s*/// (What|The same|Who|Whoever|So many|Says whether|Has the)\b)"};
  for (const auto& x : find(all_code, riddle, true))
    ADD_FAILURE() << x;
}

TEST(words, a_brief_is_understood_without_the_one_before) {
  static const std::regex reference{
    R"(^\s*///? (As above\b|.*\b(as|like) the \w+ above\b))"};
  for (const auto& x : find(all_code, reference, true))
    ADD_FAILURE() << x;
}

TEST(words, a_comment_has_one_brief) {
  EXPECT_EQ(briefs_behind_tags("", "/// @param x y\n///  z\n/// Sets.").size(),
            1u);
  EXPECT_TRUE(briefs_behind_tags("", "/// Gets.\n/// Is.\n/// @pre x").empty());
  for (const auto& file : sources_in(all_code))
    for (const auto& x : briefs_behind_tags(file, content_of(file)))
      ADD_FAILURE() << x;
}

TEST(words, a_text_says_is_not_a_and_never_is_no) {
  EXPECT_EQ(negations_in("", "// It is no x.\n\" are \"\n  \"no y\"").size(),
            2u);
  for (const auto* fine : {"There is no x.", "if there are\n/// no x", "is not",
                           "is no longer", "is now", "is none", "is; no", "no"})
    EXPECT_TRUE(negations_in("", fine).empty()) << fine;
  for (const auto& file : sources_in(all_code))
    for (const auto& x : negations_in(file, content_of(file)))
      ADD_FAILURE() << x;
}

TEST(words, a_member_has_a_noun_as_its_name) {
  static const std::regex relative{
    R"(\b(what|how|of|at|with|said|told|heard|asked|which|who|whom|whose|why|)"
    R"(when|where|made|kept|here|there|then|gone)_\b)"};
  for (const auto& x : find(all_code, relative, false))
    ADD_FAILURE() << x;
}

TEST(words, a_function_is_not_named_by_a_participle) {
  static const std::regex participle{
    R"((\b|_)(said|told|heard|asked|spoken)\w*\s*\()"};
  for (const auto& x :
       find({"messages", "actors", "stores"}, participle, false))
    ADD_FAILURE() << x;
}

TEST(words, a_message_is_a_noun) {
  static const std::regex entry{R"(\(tertulia::(\w+)\))"};
  static const std::regex participle{"[a-z]+ed"};
  static const std::regex verb{
    "(open|get|set|save|copy|delete|list|label|annotate|prune|restore|title|"
    "vacuum|verify)(_.*)?"};
  static const std::regex noun{".*_(request|result)"};
  std::filesystem::path block;
  for (const auto& x :
       std::filesystem::recursive_directory_iterator{root / "messages"})
    if (x.path().filename() == "type_ids.hpp")
      block = x.path();
  const auto text = content_of(block);
  auto nouns = 0;
  for (std::sregex_iterator i{text.begin(), text.end(), entry}, end; i != end;
       ++i) {
    const auto name = (*i)[1].str();
    ++nouns;
    EXPECT_FALSE(std::regex_match(name, participle)) << name;
    EXPECT_TRUE(!std::regex_match(name, verb) || std::regex_match(name, noun))
      << name;
  }
  EXPECT_GE(nouns, 30);
}

} // namespace tertulia::test::words_tests
