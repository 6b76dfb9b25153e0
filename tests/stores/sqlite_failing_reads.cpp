// SPDX-License-Identifier: BSD-3-Clause

// A disk whose reads fail, once or for ever: that is not damage, and is never
// reported as damage.

#include <tertulia/sqlite_store.hpp>
#include <tertulia/status.hpp>

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "support/faulty_vfs.hpp"
#include "support/file_store.hpp"
#include "support/raw_sqlite.hpp"
#include "support/sanitized.hpp"
#include "support/scratch.hpp"
#include "support/sqlite_aftermath.hpp"
#include "support/sqlite_program.hpp"
#include <gtest/gtest.h>

namespace tertulia::test::sqlite_fault_tests {

namespace {

/// Copies the file of a store, and its log if the store is open.
void copy_store(const std::filesystem::path& from,
                const std::filesystem::path& to) {
  for (const auto* suffix : {"", "-wal"})
    if (std::filesystem::exists(from.string() + suffix))
      std::filesystem::copy_file(from.string() + suffix, to.string() + suffix);
}

/// Combines the promises of a program and of its continuation, which changes
/// the head and the working state of "s".
promises both(promises first, const promises& then) {
  first.heads.erase("s");
  first.works_on.erase("s");
  for (const auto& [where, text] : then.records)
    first.records[where] = text;
  return first;
}

/// Expected errors after a failed read. A session that could not be copied is
/// not found later.
const std::set<errc> expected{errc::unavailable, errc::not_found};

/// Lets each read fail in turn, until there are no more reads.
/// @returns the number of runs in which an error was reported.
std::uint64_t let_each_read_fail(const std::filesystem::path& file,
                                 const promises& before, bool for_ever) {
  constexpr std::uint64_t step = sanitized ? 7 : 1;
  std::uint64_t noticed = 0;
  auto missed = false;
  for (std::uint64_t n = 1; !missed && n < 10'000; n += step) {
    const scratch here;
    const auto there = here / "sessions.db";
    copy_store(file, there);
    auto all = before;
    {
      faulty_vfs disk;
      disk.fail_read_at(n, for_ever);
      try {
        program x{there};
        x.go_on();
        all = both(all, x.promised());
        noticed += x.errors().empty() ? 0 : 1;
        for (const auto code : x.errors())
          EXPECT_TRUE(expected.contains(code))
            << to_string(code) << " at " << n;
        for (const auto& y : x.damages())
          ADD_FAILURE() << "there is no damage: " << y.what << ", at " << n;
      } catch (const status_error& x) {
        ++noticed;
        EXPECT_EQ(x.code(), errc::unavailable) << x.what() << " at " << n;
      }
      missed = disk.reads() < n;
    }
    EXPECT_EQ(damage_of(there, all), "")
      << "read " << n << " failed" << (for_ever ? " and all after" : "");
  }
  EXPECT_TRUE(missed);
  return noticed;
}

} // namespace

TEST_F(sqlite_faults, each_read_may_fail_once_or_for_ever) {
  promises all;
  {
    program x{file};
    x.run();
    all = x.promised();
    ASSERT_TRUE(x.errors().empty());
  }
  for (const auto for_ever : {false, true})
    EXPECT_GT(let_each_read_fail(file, all, for_ever), sanitized ? 3u : 20u);
}

TEST_F(sqlite_faults, each_read_of_a_log_may_fail) {
  const scratch other;
  const auto killed = other / "sessions.db";
  promises all;
  {
    program x{file};
    x.run();
    all = x.promised();
    copy_store(file, killed); // as `kill -9` leaves it
  }
  ASSERT_GT(std::filesystem::file_size(killed.string() + "-wal"), 0u);
  EXPECT_GT(let_each_read_fail(killed, all, false), sanitized ? 3u : 20u);
}

namespace {

/// Lets each read fail in turn while a store saves one session and reads
/// another one in the same transaction.
/// @returns the number of failed reads that affected neither request.
std::uint64_t let_a_batch_fail(const std::filesystem::path& file,
                               bool for_ever) {
  const auto content = talk("t", 8);
  snapshot_record made;
  made.agent = "/agent/a";
  made.session = session_id{"t"};
  made.state = content.id();
  made.id = snapshot_id{made.state.str()};
  std::uint64_t result = 0;
  auto missed = false;
  for (std::uint64_t n = 1; !missed && n < 1'000; ++n) {
    const scratch here;
    const auto there = here / "sessions.db";
    copy_store(file, there);
    auto is_saved = false;
    auto is_read = false;
    {
      faulty_vfs disk;
      file_store x{there};
      x.get(get_session{session("t")}); // so it is cached
      {
        // The store waits for this transaction, and meanwhile receives both
        // requests.
        raw_sqlite busy{there};
        busy.run("BEGIN IMMEDIATE");
        disk.fail_read_at(n, for_ever);
        x.send(save_snapshot{made, content, append_rule::at_head});
        x.send(get_session{session("s")});
        busy.run("ROLLBACK");
      }
      for (int i = 0; i < 2; ++i)
        x.self()->receive([&](const saved_snapshot&) { is_saved = true; },
                          [&](const stored_session&) { is_read = true; },
                          [&](const caf::error& why) {
                            EXPECT_EQ(code_of(why), errc::unavailable) << n;
                          });
      missed = disk.reads() < n;
      EXPECT_TRUE(!missed || (is_saved && is_read));
      result += !missed && is_saved && is_read ? 1 : 0;
    }
    file_store again{there};
    const auto found = again.get(get_session{session("t")});
    EXPECT_EQ(found.content == content, is_saved) << n;
    EXPECT_EQ(found.info.head, is_saved ? 1u : 0u) << n;
    EXPECT_EQ(again.get(verify_sessions{}).damages, std::vector<damage>{});
  }
  EXPECT_TRUE(missed);
  return result;
}

} // namespace

TEST_F(sqlite_faults, a_read_that_fails_harms_nobody_in_its_batch) {
  {
    file_store x{file};
    x.get(save_session{session("t"), talk("t", 2), 1});
    // occupies pages that are not needed by any other request
    x.get(save_session{session("s"), talk("s", 200), 1});
  }
  EXPECT_GT(let_a_batch_fail(file, false), 10u);
  // If the disk fails for ever, a rolled back request cannot be repeated.
  (void)let_a_batch_fail(file, true);
}

} // namespace tertulia::test::sqlite_fault_tests
