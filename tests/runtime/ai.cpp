// SPDX-License-Identifier: BSD-3-Clause

// <tertulia/ai.hpp> contains all of `ai`: this file includes no other header of
// the library.

#include <tertulia/ai.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support/has.hpp"
#include <gtest/gtest.h>

namespace application {

namespace ai = tertulia::ai;

/// Answers a text with the features of that header alone.
std::string answer_to(const std::string& text) {
  tertulia::config cfg;
  cfg.set("scheduler.max-threads", 1);
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  const auto agent = ai::define_prompt_agent(
    rt, "clerk", ai::prompt{ai::define_offline_model(rt)});
  auto talk = agent.stream_bidi();
  talk.send_text(text);
  std::string result;
  for (const auto& x : talk.responses())
    if (x.chunk && !x.chunk->aggregated)
      result += x.chunk->text();
  talk.close();
  return result;
}

// Found only by argument-dependent lookup.
std::string name_of(ai::role x) {
  return to_string(x);
}

} // namespace application

namespace tertulia::test::ai_tests {

TEST(ai, an_application_needs_one_header) {
  EXPECT_EQ(application::answer_to("What is my name?"),
            "You have not told me your name yet.");
}

TEST(ai, the_names_of_its_enumerators_are_found_without_a_namespace) {
  EXPECT_EQ(application::name_of(ai::role::model), "model");
  EXPECT_EQ(to_string(ai::finish_reason::length), "length");
}

TEST(ai, the_one_header_includes_all_others) {
  const std::filesystem::path root = TERTULIA_SOURCE_DIR;
  std::ifstream in{root / "runtime/ai/tertulia/ai.hpp"};
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  auto headers = 0;
  for (const auto* room : {"messages", "stores", "actors", "runtime"})
    for (const auto& x :
         std::filesystem::recursive_directory_iterator{root / room}) {
      if (x.path().parent_path().filename() != "ai"
          || x.path().extension() != ".hpp"
          || x.path().parent_path().parent_path().filename() != "tertulia")
        continue;
      ++headers;
      const auto line
        = "#include <tertulia/ai/" + x.path().filename().string() + ">\n";
      EXPECT_TRUE(has(text, line)) << line;
    }
  EXPECT_GE(headers, 26);
}

} // namespace tertulia::test::ai_tests
