// SPDX-License-Identifier: BSD-3-Clause

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tertulia::test::json_parser_tests {

TEST(json_parsers, are_called_by_the_one_reader_only) {
  // The pattern must not match other parsers, such as that of the command line.
  const std::regex parser{R"((json|Json|document)::(parse|accept|sax_parse)\b)"
                          R"(|::from_(cbor|msgpack|ubjson|bson|bjdata)\b)"
                          R"(|_json\b *\(? *"|"_json\b)"};
  const std::filesystem::path root = TERTULIA_SOURCE_DIR;
  std::vector<std::string> found;
  for (const auto* room :
       {"messages", "stores", "actors", "runtime", "examples"})
    for (const auto& x :
         std::filesystem::recursive_directory_iterator{root / room}) {
      if (x.path().extension() != ".cpp" && x.path().extension() != ".hpp")
        continue;
      std::ifstream in{x.path()};
      const std::string text{std::istreambuf_iterator<char>{in}, {}};
      if (std::regex_search(text, parser))
        found.push_back(std::filesystem::relative(x.path(), root).string());
    }
  EXPECT_EQ(found, std::vector<std::string>{"messages/values/json_read.cpp"});
}

} // namespace tertulia::test::json_parser_tests
