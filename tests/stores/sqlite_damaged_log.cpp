// SPDX-License-Identifier: BSD-3-Clause

// A write-ahead log with a flipped bit: SQLite reads it up to that bit, and a
// store reports that more data existed.

#include <tertulia/sqlite_store.hpp>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "support/effort.hpp"
#include "support/file_store.hpp"
#include "support/raw_sqlite.hpp"
#include "support/refusal.hpp"
#include "support/sqlite_files.hpp"
#include <gtest/gtest.h>

namespace tertulia::test::sqlite_damaged_log_tests {

namespace {

constexpr std::size_t header_size = 32;
constexpr std::size_t frame_size = 24 + 4096;

/// Fixture with the log of a store that was killed: twelve sessions, each saved
/// in a separate transaction.
struct sqlite_damaged_log : sqlite_files {
  static constexpr std::size_t count = 12;

  sqlite_damaged_log() {
    file_store x{folder / "first.db"};
    for (std::size_t i = 0; i < count; ++i) {
      begins.push_back(frames_of(folder / "first.db-wal"));
      save(x, i);
    }
    copy_store(folder / "first.db", file);
  }

  static void save(file_store& to, std::size_t i) {
    const auto where = session(std::string(1, char('a' + int(i))));
    const ai::message_log log;
    to.get(save_session_request{
      where,
      state::conversation(log.with(ai::user_text(where.id.str())), {}, {}), i});
  }

  static std::size_t frames_of(const std::filesystem::path& log) {
    return (std::filesystem::file_size(log) - header_size) / frame_size;
  }

  /// Returns the position of a bit in the page of a frame in the log.
  static std::size_t bit_in(std::size_t frame) {
    return (header_size + frame * frame_size + 2'000) * 8;
  }

  /// Returns the number of existing sessions, which must be the first ones.
  static std::size_t sessions_in(file_store& x) {
    list_sessions_request all;
    all.limit = max_page;
    const auto found = x.get(all).sessions;
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].next_turn, i);
      EXPECT_TRUE(x.ask(get_session_request{{found[i].agent, found[i].id}}));
    }
    return found.size();
  }

  std::filesystem::path log = folder / "sessions.db-wal";
  std::filesystem::path kept = folder / "sessions.db-wal-damaged";
  /// First frame of each session.
  std::vector<std::size_t> begins;
};

} // namespace

TEST_F(sqlite_damaged_log, is_kept_and_named_until_somebody_removes_it) {
  for (const std::size_t first : {0, 5, 9}) {
    const scratch other;
    const auto copied = other / "sessions.db";
    copy_store(file, copied);
    flip(copied.string() + "-wal", bit_in(begins.at(first)));
    const std::filesystem::path lost{copied.string() + "-wal-damaged"};
    for (int i = 0; i < 2; ++i) {
      file_store x{copied};
      EXPECT_EQ(sessions_in(x), first);
      ASSERT_TRUE(std::filesystem::exists(lost));
      const auto damages = x.get(verify_sessions_request{}).damages;
      ASSERT_EQ(damages.size(), 1u);
      EXPECT_EQ(damages[0].where, session_ref{});
      EXPECT_NE(damages[0].what.find(lost.string()), std::string::npos);
    }
    std::filesystem::remove(lost);
    file_store x{copied};
    EXPECT_EQ(x.get(verify_sessions_request{}).damages, std::vector<damage>{});
    save(x, first);
    EXPECT_EQ(sessions_in(x), first + 1);
  }
}

TEST_F(sqlite_damaged_log, is_kept_whole_by_who_comes_after_a_crash) {
  flip(log, bit_in(begins.at(5)));
  const scratch other;
  copy_store(file,
             other / "sessions.db"); // with its log, which the store removes
  {
    std::ofstream half{kept.string() + ".part", std::ios::binary};
    half << "what was copied until then";
  }
  file_store x{file};
  EXPECT_EQ(sessions_in(x), 5u);
  EXPECT_EQ(bytes_of(kept), bytes_of(other / "sessions.db-wal"));
  EXPECT_FALSE(std::filesystem::exists(kept.string() + ".part"));
}

TEST_F(sqlite_damaged_log, is_told_from_one_that_was_being_written) {
  const auto is_quiet = [&](const scratch& in) {
    {
      file_store x{in / "sessions.db"};
      EXPECT_GE(sessions_in(x), count - 1);
      EXPECT_EQ(x.get(verify_sessions_request{}).damages,
                std::vector<damage>{});
    }
    return !std::filesystem::exists(in / "sessions.db-wal-damaged");
  };
  {
    const scratch whole;
    copy_store(file, whole / "sessions.db");
    EXPECT_TRUE(is_quiet(whole));
  }
  for (std::size_t frame = begins.back(); frame < frames_of(log); ++frame) {
    const scratch torn;
    copy_store(file, torn / "sessions.db");
    flip(torn / "sessions.db-wal", bit_in(frame));
    EXPECT_TRUE(is_quiet(torn)) << frame;
    const scratch cut;
    copy_store(file, cut / "sessions.db");
    std::filesystem::resize_file(cut / "sessions.db-wal",
                                 header_size + frame * frame_size + 100);
    EXPECT_TRUE(is_quiet(cut)) << frame;
  }
}

TEST_F(sqlite_damaged_log, is_nothing_to_who_has_traded_it) {
  flip(log, bit_in(begins.at(3)));
  options.survives = durability::process;
  file_store x{file, options};
  EXPECT_EQ(sessions_in(x), 3u);
  EXPECT_EQ(x.get(verify_sessions_request{}).damages, std::vector<damage>{});
  EXPECT_FALSE(std::filesystem::exists(kept));
}

TEST_F(sqlite_damaged_log, is_told_from_the_time_before_it_was_begun_again) {
  const auto is_kept = [&](std::size_t begun_again, bool is_damaged) {
    const scratch other;
    const auto second = other / "second.db";
    const auto copied = other / "sessions.db";
    {
      file_store x{second};
      for (std::size_t i = 0; i < count; ++i)
        save(x, i);
      raw_sqlite{second}.run("PRAGMA wal_checkpoint(RESTART)");
      for (std::size_t i = 0; i < begun_again; ++i)
        save(x, i); // written from the beginning of the log
      copy_store(second, copied);
    }
    if (is_damaged)
      flip(copied.string() + "-wal", bit_in(0));
    const file_store x{copied};
    return std::filesystem::exists(copied.string() + "-wal-damaged");
  };
  EXPECT_FALSE(is_kept(3, false));
  EXPECT_TRUE(is_kept(3, true));
  EXPECT_FALSE(is_kept(1, true)); // older transactions follow
}

TEST_F(sqlite_damaged_log, stays_as_it_is_while_it_cannot_be_kept) {
  flip(log, bit_in(begins.at(5)));
  const auto before = bytes_of(log);
  const auto part = kept.string() + ".part";
  std::filesystem::create_directories(part + "/in the way");
  for (int i = 0; i < 2; ++i) {
    const auto reason = error_of([&] { file_store{file}; });
    EXPECT_EQ(reason.code(), errc::unavailable);
    EXPECT_NE(reason.message().find(log.string()), std::string::npos);
    EXPECT_EQ(bytes_of(log), before);
  }
  std::filesystem::remove_all(part);
  file_store x{file};
  EXPECT_EQ(sessions_in(x), 5u);
  EXPECT_EQ(bytes_of(kept), before);
}

TEST_F(sqlite_damaged_log, is_noticed_wherever_the_bit_is) {
  std::mt19937_64 random{3};
  const auto bits = std::filesystem::file_size(log) * 8;
  // The salts of the header tell which frames belong to the log.
  constexpr std::size_t salts = 16 * 8;
  auto losses = 0;
  for (int i = 0; i < by_effort(30, 100, 300); ++i) {
    const auto bit = i < 20
                       ? random() % salts
                       : header_size * 8 + random() % (bits - header_size * 8);
    const scratch other;
    const auto copied = other / "sessions.db";
    copy_store(file, copied);
    flip(copied.string() + "-wal", bit);
    file_store x{copied};
    const auto there = sessions_in(x);
    // The loss of up to three sessions at the end cannot always be detected.
    if (there + 3 < count) {
      ++losses;
      EXPECT_EQ(x.get(verify_sessions_request{}).damages.size(), 1u) << bit;
    }
  }
  EXPECT_GT(losses, 0);
}

} // namespace tertulia::test::sqlite_damaged_log_tests
