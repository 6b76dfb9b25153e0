// SPDX-License-Identifier: BSD-3-Clause

// A disk that fails, is full or loses its power: every change that was answered
// is there afterwards, and no other data is damaged. A failed read is not
// damage, and is never reported as damage.

#include <tertulia/sqlite_store.hpp>
#include <tertulia/status.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>

#include "support/effort.hpp"
#include "support/faulty_vfs.hpp"
#include "support/sqlite_aftermath.hpp"

namespace tertulia::test::sqlite_fault_tests {

namespace {

/// Errors of a call that fails, and consequences of a change that did not
/// happen.
const std::set<errc> faults{errc::unavailable, errc::resource_exhausted,
                            errc::not_found, errc::aborted};

/// Errors of a read that fails. A session that could not be copied is not found
/// later.
const std::set<errc> failed_reads{errc::unavailable, errc::not_found};

/// Fault of a disk that is tried at one moment after the other.
struct fault {
  /// Arms a disk for the nth moment.
  std::function<void(faulty_vfs&, std::uint64_t n)> begin;
  /// Returns whether there was no such moment any more.
  std::function<bool(const faulty_vfs&, std::uint64_t n,
                     const std::set<errc>& errors)>
    is_over;
  std::set<errc> expected;
  std::uint64_t step = 1;
  /// Error that each run with errors must have; `ok` for any.
  errc required = errc::ok;
};

fault failing_calls(bool for_ever) {
  return {[=](auto& disk, auto n) { disk.fail_at(n, for_ever); },
          [](const auto& disk, auto n, auto&) { return disk.calls() < n; },
          faults, by_effort(17u, 5u, 1u)};
}

fault failing_reads(bool for_ever) {
  return {[=](auto& disk, auto n) { disk.fail_read_at(n, for_ever); },
          [](const auto& disk, auto n, auto&) { return disk.reads() < n; },
          failed_reads, by_effort(7u, 3u, 1u)};
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

/// Lets a program work on copies of a file, each time with the fault at another
/// moment, and checks what is left.
/// @param  before promises of the program that has left the file; null without
///         a file, which the program creates.
/// @returns the number of runs in which an error was reported.
std::uint64_t try_each(const fault& x, const std::filesystem::path& file,
                       const promises* before) {
  std::uint64_t noticed = 0;
  auto is_over = false;
  for (std::uint64_t n = 1; !is_over && n < 10'000; n += x.step) {
    SCOPED_TRACE(n);
    const scratch here;
    const auto there = here / "sessions.db";
    sqlite_files::copy_store(file, there);
    promises all;
    if (before != nullptr)
      all = *before;
    {
      faulty_vfs disk;
      x.begin(disk, n);
      std::set<errc> errors;
      try {
        program next{there};
        if (before != nullptr)
          next.go_on();
        else
          next.run();
        all = before != nullptr ? both(all, next.promised()) : next.promised();
        errors = next.errors();
        for (const auto& y : next.damages())
          ADD_FAILURE() << "there is no damage: " << y.what;
      } catch (const status_error& error) {
        errors.insert(error.code());
      }
      for (const auto code : errors)
        EXPECT_TRUE(x.expected.contains(code)) << to_string(code);
      EXPECT_TRUE(errors.empty() || x.required == errc::ok
                  || errors.contains(x.required));
      noticed += errors.empty() ? 0 : 1;
      is_over = x.is_over(disk, n, errors);
    }
    EXPECT_EQ(damage_of(there, all), "");
  }
  EXPECT_TRUE(is_over);
  return noticed;
}

} // namespace

TEST_F(sqlite_faults, without_any_all_is_kept) {
  const faulty_vfs disk;
  const auto all = promises_of_a_run(file);
  EXPECT_EQ(all.records.size(), 4u + 1u + 2u + 1u);
  EXPECT_EQ(damage_of(file, all), "");
}

TEST_F(sqlite_faults, each_call_may_fail_once_or_for_ever) {
  for (const auto for_ever : {false, true})
    EXPECT_GT(try_each(failing_calls(for_ever), file, nullptr),
              by_effort(2u, 10u, 50u));
}

TEST_F(sqlite_faults, each_read_may_fail_once_or_for_ever) {
  const auto all = promises_of_a_run(file);
  for (const auto for_ever : {false, true})
    EXPECT_GT(try_each(failing_reads(for_ever), file, &all),
              by_effort(3u, 6u, 20u));
}

TEST_F(sqlite_faults, each_read_of_a_log_may_fail) {
  const auto killed = folder / "killed.db";
  const auto all = promises_of_a_run(file, killed);
  ASSERT_GT(std::filesystem::file_size(killed.string() + "-wal"), 0u);
  EXPECT_GT(try_each(failing_reads(false), killed, &all),
            by_effort(3u, 6u, 20u));
}

namespace {

/// Lets each read fail in turn while a store saves one session and reads
/// another one in the same transaction.
/// @returns the number of failed reads that affected neither request.
std::uint64_t let_a_batch_fail(const std::filesystem::path& file,
                               bool for_ever) {
  const auto content = talk("t", 8);
  const auto reads = failing_reads(for_ever);
  std::uint64_t result = 0;
  auto is_over = false;
  for (std::uint64_t n = 1; !is_over && n < 1'000; ++n) {
    SCOPED_TRACE(n);
    const scratch here;
    const auto there = here / "sessions.db";
    sqlite_files::copy_store(file, there);
    auto is_saved = false;
    auto is_read = false;
    {
      faulty_vfs disk;
      file_store x{there};
      x.get(get_session_request{session("t")}); // so it is cached
      x.batch([&] {
        reads.begin(disk, n);
        x.send(sqlite_files::snapshot(session("t"), content, 0));
        x.send(get_session_request{session("s")});
      });
      x.receive(
        2, [&](const save_result&) { is_saved = true; },
        [&](const stored_session&) { is_read = true; },
        [&](const caf::error& why) {
          EXPECT_EQ(code_of(why), errc::unavailable);
        });
      is_over = disk.reads() < n;
      EXPECT_TRUE(!is_over || (is_saved && is_read));
      result += !is_over && is_saved && is_read ? 1 : 0;
    }
    file_store again{there};
    const auto found = again.get(get_session_request{session("t")});
    EXPECT_EQ(found.content == content, is_saved);
    EXPECT_EQ(found.info.head, is_saved ? 1u : 0u);
    EXPECT_EQ(again.get(verify_sessions_request{}).damages,
              std::vector<damage>{});
  }
  EXPECT_TRUE(is_over);
  return result;
}

} // namespace

TEST_F(sqlite_faults, a_read_that_fails_harms_nobody_in_its_batch) {
  {
    file_store x{file};
    x.get(save_session_request{session("t"), talk("t", 2), 1});
    // occupies pages that are not needed by any other request
    x.get(save_session_request{session("s"), talk("s", 200), 1});
  }
  EXPECT_GT(let_a_batch_fail(file, false), 10u);
  // If the disk fails for ever, a rolled back request cannot be repeated.
  (void)let_a_batch_fail(file, true);
}

TEST_F(sqlite_faults, a_disk_may_be_full_at_any_time) {
  const fault full{[](auto& disk, auto n) {
                     const auto kilobytes = static_cast<std::int64_t>(n - 1);
                     disk.fill_after(kilobytes * 1'000);
                   },
                   [](auto&, auto, auto& errors) { return errors.empty(); },
                   faults, 20, errc::resource_exhausted};
  EXPECT_GT(try_each(full, file, nullptr), 5u);
}

TEST_F(sqlite_faults, a_full_disk_says_what_helps_and_a_little_is_enough) {
  faulty_vfs disk;
  file_store store{file};
  for (const auto* name : {"a", "b"}) {
    std::uint64_t parent = 0;
    for (int i = 1; i <= 40; ++i) {
      const auto next = snapshot(session(name), talk(name, 10 * i), parent);
      parent = store.get(next).record.sequence;
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
  prune_snapshots_request prune;
  prune.created_before = caf::timestamp::max();
  disk.fill_after(0);
  EXPECT_TRUE(is_told(delete_session_request{session("a")}));
  EXPECT_TRUE(is_told(prune));
  EXPECT_TRUE(is_told(vacuum_store_request{}));
  EXPECT_TRUE(is_told(save_session_request{session("c"), talk("c", 100), 0}));
  EXPECT_EQ(store.get(get_session_request{session("a")}).info.records, 40u);
  disk.fill_after(1 << 20);
  EXPECT_EQ(store.get(delete_session_request{session("a")}).records, 40u);
  EXPECT_EQ(store.get(prune).records, 39u);
  store.get(save_session_request{session("c"), talk("c", 100), 0});
  disk.fill_after(64 << 20);
  store.get(vacuum_store_request{});
  EXPECT_EQ(store.get(verify_sessions_request{}).damages,
            std::vector<damage>{});
}

namespace {

/// Cuts the power at one call of the disk after the other and checks the
/// remaining file.
/// @returns the number of power cuts that caused damage.
int power_cuts(durability survives, bool promised, std::string& what) {
  auto result = 0;
  auto missed = false;
  const auto step = by_effort(11u, 7u, 1u);
  for (std::uint32_t n = 1; !missed && n < 10'000; n += step) {
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
