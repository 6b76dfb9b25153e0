// SPDX-License-Identifier: BSD-3-Clause

// Files of sessions that are refused: damaged, cut, of another version.

#include "support/session_files.hpp"

namespace tertulia::test::session_file_damage_tests {

namespace {

struct session_file_damage : session_files {};

} // namespace

TEST_F(session_file_damage, a_file_of_a_newer_version_is_refused) {
  auto text = exported(from, make_session(from));
  const std::string version = "\"version\":1";
  text.replace(text.find(version), version.size(), "\"version\":2");
  const auto error = refusal(text);
  EXPECT_EQ(error.code(), errc::failed_precondition);
  EXPECT_EQ(error.message(),
            "line 1: the file has version 2 of the format, and this program"
            " knows no newer one than 1");
  EXPECT_EQ(error.details(), R"({"line":1})");
}

TEST_F(session_file_damage, what_is_no_session_is_refused) {
  for (const auto* text : {"", "\n", "{}", "[1]", "nonsense\n{}",
                           R"({"format":"another","version":1})"})
    EXPECT_NE(refusal(text).message().find("line 1: "), std::string::npos)
      << text;
}

TEST_F(session_file_damage, a_file_without_its_end_is_refused) {
  const auto text = exported(from, make_session(from));
  for (std::size_t size = 1; size + 1 < text.size(); size += 41) {
    const auto error = refusal(text.substr(0, size));
    EXPECT_NE(error.code(), errc::ok) << size;
    EXPECT_TRUE(error.message().starts_with("line ")) << error.message();
  }
}

TEST_F(session_file_damage, the_line_that_is_damaged_is_named) {
  auto all = lines(exported(from, make_session(from)));
  const std::string word = "more";
  const auto at = all[4].find(word);
  ASSERT_NE(at, std::string::npos);
  all[4].replace(at, word.size(), "less");
  const auto error = refusal(join(all));
  EXPECT_EQ(error.code(), errc::data_loss);
  EXPECT_TRUE(error.message().starts_with("line 5: state ")) << error.message();
  EXPECT_EQ(error.details(), R"({"line":5})");
}

TEST_F(session_file_damage, a_record_that_cannot_be_is_damage_of_its_line) {
  const auto whole = exported(from, make_session(from));
  const auto refused = [&](const std::string& said, const std::string& instead,
                           std::size_t line) {
    auto wrong = lines(whole);
    const auto found = wrong.at(line - 1).find(said);
    EXPECT_NE(found, std::string::npos) << said;
    wrong[line - 1].replace(found, said.size(), instead);
    const auto error = refusal(join(wrong));
    EXPECT_EQ(error.code(), errc::data_loss) << error.message();
    const auto number = std::to_string(line);
    EXPECT_TRUE(error.message().starts_with("line " + number + ": "))
      << error.message();
    EXPECT_EQ(error.details(), "{\"line\":" + number + "}");
  };
  refused("\"parent\":2", "\"parent\":3", 4);
  refused("\"sequence\":8", "\"sequence\":9223372036854775808", 8);
  refused("\"sequence\":8", "\"sequence\":18446744073709551615", 8);
  refused("\"sequence\":8", "\"sequence\":18446744073709551616", 8);
  // errors that only the store can detect
  refused("\"labels\":[\"4\"", "\"labels\":[\"\"", 4);
}

TEST_F(session_file_damage, a_line_that_is_too_long_is_damage) {
  const auto of = at("s");
  const auto content = number(1).with_custom(
    payload::of(std::string(200'000, 'x'))); // more than one read returns
  keep(from, of, content, 0);
  const auto whole = exported(from, of);
  const auto longest = lines(whole).at(1).find('\n');
  const auto take = [&](std::size_t max_line) {
    std::istringstream file{whole};
    session_file_options options;
    options.max_line = max_line;
    return import_session(system, to, file, {}, options);
  };
  const auto error = test::error_of([&] { return take(longest - 1); });
  EXPECT_EQ(error.code(), errc::data_loss);
  EXPECT_EQ(error.message(),
            "line 2: is longer than " + std::to_string(longest - 1) + " bytes");
  EXPECT_EQ(take(longest).head, 1u);
  EXPECT_EQ(ask(to, get_session_request{of}).content, content);
}

TEST_F(session_file_damage, a_name_that_no_session_may_have_is_refused) {
  auto all = lines(exported(from, make_session(from)));
  const std::string name = "\"id\":\"s\"";
  all[0].replace(all[0].find(name), name.size(), "\"id\":\"a\\u0000b\"");
  const auto error = refusal(join(all));
  EXPECT_EQ(error.code(), errc::invalid_argument);
  EXPECT_EQ(error.message(), "line 1: $.session: contains a NUL");
  // With another name the only error left is the hash of the lines.
  const auto other
    = test::error_of([&] { return imported(to, join(all), at("t")); });
  EXPECT_EQ(other.code(), errc::data_loss);
  const auto mine = test::error_of([&] {
    return imported(to, join(all), at(std::string{"a\0b", 3}));
  });
  EXPECT_EQ(mine.message(), "$.session: contains a NUL");
}

TEST_F(session_file_damage,
       lines_that_are_gone_twice_there_or_elsewhere_are_refused) {
  const auto whole = lines(exported(from, make_session(from)));
  for (std::size_t i = 1; i < whole.size(); ++i) {
    const auto is_lost = [&](auto change) {
      auto wrong = whole;
      change(wrong, wrong.begin() + static_cast<std::ptrdiff_t>(i));
      return refusal(join(wrong)).code() == errc::data_loss;
    };
    EXPECT_TRUE(is_lost([](auto& x, auto at) { x.erase(at); })) << i;
    EXPECT_TRUE(is_lost([&](auto& x, auto at) { x.insert(at, whole[i]); }))
      << i;
    EXPECT_TRUE(is_lost(
      [&](auto& x, auto at) { std::swap(*at, x[1 + i % (whole.size() - 1)]); }))
      << i;
  }
}

TEST_F(session_file_damage, a_bit_that_was_flipped_is_noticed_wherever_it_is) {
  const auto text = exported(from, make_session(from));
  for (std::size_t i = 0; i < text.size(); i += 13) {
    auto wrong = text;
    wrong[i] = static_cast<char>(wrong[i] ^ (1 << i % 7));
    const auto error = refusal(wrong);
    EXPECT_NE(error.code(), errc::ok) << i << ": " << wrong[i];
    EXPECT_TRUE(error.message().starts_with("line ")) << error.message();
  }
}

} // namespace tertulia::test::session_file_damage_tests
