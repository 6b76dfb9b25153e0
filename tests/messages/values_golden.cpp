// SPDX-License-Identifier: BSD-3-Clause

// Any value can be written and read without a change, and golden texts can be
// read and written without a change.

#include <tertulia/ai/artifact.hpp>
#include <tertulia/ai/message.hpp>
#include <tertulia/ai/message_log.hpp>
#include <tertulia/ai/model.hpp>
#include <tertulia/ai/part.hpp>
#include <tertulia/sha256.hpp>
#include <tertulia/state.hpp>
#include <tertulia/status.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/gen_messages.hpp"
#include "support/json_texts.hpp"
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tertulia::test::values_tests {

namespace {

using namespace ai;

const auto golden
  = std::filesystem::path{TERTULIA_SOURCE_DIR} / "tests/messages/golden";

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  EXPECT_TRUE(in) << file;
  return {std::istreambuf_iterator<char>{in}, {}};
}

// -- random values ------------------------------------------------------------

RC_GTEST_PROP(values, any_part_is_read_as_it_was_written, ()) {
  const auto x = *test::any_part();
  const auto text = to_json_text(x);
  const auto y = parse_json<part>(text);
  RC_ASSERT(y == x);
  RC_ASSERT(to_json_text(y) == text);
  RC_ASSERT(json::accept(text));
}

RC_GTEST_PROP(values, any_message_is_read_as_it_was_written, ()) {
  const auto x = *test::any_message();
  const auto text = to_json_text(x);
  const auto y = parse_json<message>(text);
  RC_ASSERT(y == x);
  RC_ASSERT(to_json_text(y) == text);
}

RC_GTEST_PROP(values, any_artifact_and_answer_is_read_as_it_was_written, ()) {
  const artifact x{
    *test::any_text(), {*test::any_part()}, *test::any_metadata()};
  RC_ASSERT(parse_json<artifact>(to_json_text(x)) == x);
  model_response y{*test::any_message()};
  y.custom = *test::any_json();
  y.finish_message = *test::any_text();
  RC_ASSERT(parse_json<model_response>(to_json_text(y)) == y);
  model_response_chunk z{{*test::any_part()}};
  z.custom = *test::any_json();
  z.index = *rc::gen::arbitrary<std::int64_t>();
  RC_ASSERT(parse_json<model_response_chunk>(to_json_text(z)) == z);
}

RC_GTEST_PROP(values, any_json_is_read_as_a_part_or_refused, ()) {
  try {
    const auto x = from_json<part>(*test::any_json());
    RC_ASSERT(parse_json<part>(to_json_text(x)) == x);
  } catch (const status_error& e) {
    RC_ASSERT(e.code() == errc::invalid_argument);
  }
}

// -- golden vectors -----------------------------------------------------------

TEST(values, golden_texts_are_written_as_they_were_read) {
  auto files = 0;
  auto sums = std::ifstream{golden / "SHA256SUMS"};
  for (std::string sum, name; sums >> sum >> name; ++files) {
    const auto text = bytes_of(golden / name);
    sha256 hash;
    hash.update(text);
    EXPECT_EQ(hash.hex(), sum) << name;
    if (name.starts_with("messages_")) {
      const auto messages = expect_same_text<std::vector<message>>(text);
      const message_log log{messages};
      EXPECT_EQ(to_json_text(log), text) << name;
      if (log.empty())
        continue;
      auto whole = log.digest();
      whole.update("]}");
      sha256 expected;
      expected.update("{\"messages\":" + text + '}');
      EXPECT_EQ(whole.hex(), expected.hex()) << name;
    } else if (name.starts_with("state_")) {
      const auto all = json::parse(text);
      const auto content = state::conversation(
        message_log{from_json<std::vector<message>>(all.at("messages"))},
        payload::encoded(to_json_text(all.at("custom"))),
        from_json<artifact_list>(all.at("artifacts")));
      EXPECT_EQ(content.text(), text) << name;
      EXPECT_EQ(content.id(), state_id{sum}) << name;
    } else {
      (void)expect_same_text<json>(text);
    }
  }
  EXPECT_EQ(files, 13);
}

TEST(values, every_golden_text_has_a_hash) {
  const auto sums = bytes_of(golden / "SHA256SUMS");
  for (const auto& entry : std::filesystem::directory_iterator{golden}) {
    const auto name = entry.path().filename().string();
    EXPECT_TRUE(name == "SHA256SUMS"
                || sums.find("  " + name + '\n') != std::string::npos)
      << name;
  }
}

} // namespace

} // namespace tertulia::test::values_tests
