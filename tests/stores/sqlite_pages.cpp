// SPDX-License-Identifier: BSD-3-Clause

// Number of pages that a save writes: what a durable turn costs the disk.

#include <cstdint>
#include <filesystem>
#include <string>

#include "support/file_store.hpp"
#include "support/sqlite_files.hpp"
#include <gtest/gtest.h>

namespace tertulia::test::sqlite_pages_tests {

namespace {

struct sqlite_pages : sqlite_files {
  /// Returns the number of pages in the write-ahead log.
  [[nodiscard]] std::uint64_t pages() const {
    constexpr std::uint64_t header = 32;
    constexpr std::uint64_t frame = 24 + 4096;
    return (std::filesystem::file_size(file.string() + "-wal") - header)
           / frame;
  }

  /// Saves a turn in a conversation: an input and an answer of 200 bytes each.
  static void take_turn(file_store& to, const std::string& name, state& content,
                        std::uint64_t number) {
    const std::string text(200, static_cast<char>('a' + number % 26));
    content = content.with_messages(
      content.messages().with(ai::user_text(text)).with(ai::model_text(text)));
    to.get(snapshot(session(name), content, number - 1));
  }
};

} // namespace

TEST_F(sqlite_pages, of_a_turn_are_six_at_most) {
  constexpr std::uint64_t turns = 200;
  for (const auto with_value : {false, true}) {
    std::filesystem::remove_all(file.string() + "-wal");
    file_store x{file};
    const auto name = with_value ? "with a value" : "without a value";
    auto content = state::conversation({}, {}, {});
    const auto step = [&](std::uint64_t number) {
      if (with_value)
        content = content.with_custom(payload::of(number));
      take_turn(x, name, content, number);
    };
    step(1);
    const auto before = pages();
    for (std::uint64_t number = 2; number <= turns; ++number)
      step(number);
    const auto written = static_cast<double>(pages() - before) / (turns - 1);
    RecordProperty(name, std::to_string(written));
    EXPECT_LE(written, 6.0) << name;
  }
}

} // namespace tertulia::test::sqlite_pages_tests
