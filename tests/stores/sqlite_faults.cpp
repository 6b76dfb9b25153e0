// SPDX-License-Identifier: BSD-3-Clause

// A disk that fails, is full or loses its power: every change that was answered
// is there afterwards, and no other data is damaged.

#include <tertulia/sqlite_store.hpp>
#include <tertulia/status.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "support/faulty_vfs.hpp"
#include "support/file_store.hpp"
#include "support/sanitized.hpp"
#include "support/scratch.hpp"
#include "support/sqlite_aftermath.hpp"
#include "support/sqlite_program.hpp"
#include <gtest/gtest.h>

namespace tertulia::test::sqlite_fault_tests {

namespace {

/// Returns whether an error may be caused by a disk that fails.
bool is_fault(errc x) {
  return x == errc::unavailable
         || x == errc::resource_exhausted
         // consequences of a change that did not happen
         || x == errc::not_found || x == errc::aborted;
}

} // namespace

TEST_F(sqlite_faults, without_any_all_is_kept) {
  const faulty_vfs disk;
  promises all;
  {
    program x{file};
    x.run();
    all = x.promised();
    EXPECT_TRUE(x.errors().empty());
  }
  EXPECT_EQ(all.records.size(), 4u + 1u + 2u + 1u);
  EXPECT_EQ(damage_of(file, all), "");
}

TEST_F(sqlite_faults, each_call_may_fail_once_or_for_ever) {
  constexpr std::uint64_t step = sanitized ? 17 : 1;
  for (const auto for_ever : {false, true}) {
    auto missed = false;
    std::uint64_t noticed = 0;
    for (std::uint64_t n = 1; !missed; n += step) {
      const scratch here;
      const auto there = here / "sessions.db";
      promises all;
      {
        faulty_vfs disk;
        disk.fail_at(n, for_ever);
        try {
          program x{there};
          x.run();
          all = x.promised();
          noticed += x.errors().empty() ? 0 : 1;
          for (const auto code : x.errors())
            EXPECT_TRUE(is_fault(code)) << to_string(code) << " at " << n;
        } catch (const status_error& x) {
          ++noticed;
          EXPECT_TRUE(is_fault(x.code())) << x.what() << " at " << n;
        }
        missed = disk.calls() < n;
      }
      ASSERT_EQ(damage_of(there, all), "")
        << "call " << n << " failed" << (for_ever ? " and all after" : "");
      ASSERT_LT(n, 10'000u);
    }
    EXPECT_GT(noticed, 50 / step);
  }
}

TEST_F(sqlite_faults, a_disk_may_be_full_at_any_time) {
  auto fits = false;
  for (std::int64_t room = 0; !fits; room += 20'000) {
    const scratch here;
    const auto there = here / "sessions.db";
    promises all;
    {
      faulty_vfs disk;
      disk.fill_after(room);
      try {
        program x{there};
        x.run();
        all = x.promised();
        fits = x.errors().empty();
        EXPECT_TRUE(fits || x.errors().contains(errc::resource_exhausted));
      } catch (const status_error& x) {
        EXPECT_EQ(x.code(), errc::resource_exhausted) << x.what();
      }
    }
    ASSERT_EQ(damage_of(there, all), "") << room;
    ASSERT_LT(room, 100'000'000);
  }
}

TEST_F(sqlite_faults, a_full_disk_says_what_helps_and_a_little_is_enough) {
  faulty_vfs disk;
  file_store store{file};
  for (const auto* name : {"a", "b"}) {
    std::uint64_t parent = 0;
    for (int i = 1; i <= 40; ++i) {
      const auto content = talk(name, 10 * i);
      snapshot_record made;
      made.agent = session(name).agent;
      made.session = session(name).id;
      made.state = content.id();
      made.id = snapshot_id{made.state.str()};
      made.parent = parent;
      parent = store.get(save_snapshot{made, content, append_rule::at_head})
                 .record.sequence;
    }
  }
  const auto is_told = [&](const auto& verb) {
    const auto result = store.ask(verb);
    if (result)
      return false;
    const auto why = to_status(result.error());
    return why.code() == errc::resource_exhausted
           && why.message().find("free some MiB") != std::string::npos;
  };
  prune_snapshots prune;
  prune.created_before = caf::timestamp::max();
  disk.fill_after(0);
  EXPECT_TRUE(is_told(delete_session{session("a")}));
  EXPECT_TRUE(is_told(prune));
  EXPECT_TRUE(is_told(vacuum_store{}));
  EXPECT_TRUE(is_told(save_session{session("c"), talk("c", 100), 0}));
  EXPECT_EQ(store.get(get_session{session("a")}).info.records, 40u);
  disk.fill_after(1 << 20);
  EXPECT_EQ(store.get(delete_session{session("a")}).records, 40u);
  EXPECT_EQ(store.get(prune).records, 39u);
  store.get(save_session{session("c"), talk("c", 100), 0});
  disk.fill_after(64 << 20);
  store.get(vacuum_store{});
  EXPECT_EQ(store.get(verify_sessions{}).damages, std::vector<damage>{});
}

namespace {

/// Cuts the power at every third call of the disk and checks the remaining
/// file.
/// @returns the number of power cuts that caused damage.
int power_cuts(durability survives, bool promised, std::string& what) {
  auto result = 0;
  auto missed = false;
  for (std::uint32_t n = 1; !missed && n < 10'000; n += 3) {
    const scratch here;
    const scratch left;
    promises then;
    {
      faulty_vfs disk;
      program x{here / "sessions.db", survives};
      missed = true;
      disk.watch(n, [&] {
        missed = false;
        if (promised)
          then = x.promised();
        disk.cut_power(left / "", n);
      });
      x.run();
      disk.watch(0, {});
    }
    if (missed)
      continue;
    if (const auto text = damage_of(left / "sessions.db", then, survives);
        !text.empty()) {
      ++result;
      what += "call " + std::to_string(n) + ": " + text;
    }
  }
  return result;
}

} // namespace

TEST_F(sqlite_faults, a_power_cut_takes_nothing_that_was_answered) {
  std::string what;
  EXPECT_EQ(power_cuts(durability::power_cut, true, what), 0) << what;
}

TEST_F(sqlite_faults, a_power_cut_may_take_answers_of_who_has_traded_that) {
  std::string what;
  EXPECT_EQ(power_cuts(durability::process, false, what), 0) << what;
  EXPECT_GT(power_cuts(durability::process, true, what), 0);
}

} // namespace tertulia::test::sqlite_fault_tests
