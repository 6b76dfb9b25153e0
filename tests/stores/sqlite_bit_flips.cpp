// SPDX-License-Identifier: BSD-3-Clause

// A disk that returns other data than was written: whichever bit is flipped, a
// store never returns damaged data as saved data.

#include <tertulia/json.hpp>
#include <tertulia/sqlite_store.hpp>
#include <tertulia/status.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>

#include "support/effort.hpp"
#include "support/faulty_vfs.hpp"
#include "support/scratch.hpp"
#include "support/sqlite_program.hpp"
#include <gtest/gtest.h>

namespace tertulia::test::sqlite_fault_tests {

TEST_F(sqlite_faults, a_flipped_bit_is_the_loss_of_what_has_it) {
  {
    program x{file};
    x.run();
    ASSERT_TRUE(x.get(
      annotate_snapshot_request{snapshot_ref{session("s"), 2}, "remarkable"}));
    ASSERT_TRUE(x.get(title_session_request{session("v"), "entitled"}));
  }
  const auto bytes = bytes_of(file);
  struct hit {
    const char* text; // a bit of it is flipped
    const char* session;
    std::uint64_t sequence; // 0 for the session
    bool in_lists;          // also in lists, not only in the state
  };
  for (const auto& x :
       {hit{"message 2 of s branch", "s", 5, false},
        hit{"remarkable", "s", 2, true}, hit{"entitled", "v", 0, true}}) {
    const auto at = bytes.find(x.text);
    ASSERT_NE(at, std::string::npos) << x.text;
    ASSERT_EQ(bytes.find(x.text, at + 1), std::string::npos) << x.text;
    faulty_vfs disk;
    disk.flip(std::filesystem::canonical(file), at * 8 + 2);
    program again{file};
    const auto is_hit = [&](const std::string& name, std::uint64_t sequence) {
      return name == x.session && sequence == x.sequence;
    };
    for (const auto* name : {"s", "t", "v"}) {
      const auto found = again.get(get_session_request{session(name)});
      EXPECT_EQ(found.has_value(), !is_hit(name, 0)) << x.text << name;
      if (!found)
        continue;
      list_snapshots_request records{session(name)};
      records.with_orphans = true;
      const auto page = again.get(records);
      ASSERT_TRUE(page) << x.text << name;
      EXPECT_EQ(page->snapshots.size() + page->damages.size(),
                found->info.records);
      for (const auto& y : page->damages)
        EXPECT_TRUE(x.in_lists && is_hit(name, y.sequence)) << y.what;
      for (const auto& y : page->snapshots) {
        const auto sequence = y.record.sequence;
        const auto one = again.get(
          get_snapshot_request{snapshot_ref{session(name), sequence}});
        EXPECT_EQ(one.has_value(), !is_hit(name, sequence))
          << x.text << name << sequence;
      }
    }
    list_sessions_request all;
    all.updated_since = caf::timestamp::min();
    const auto sessions = again.get(all);
    ASSERT_TRUE(sessions) << x.text;
    EXPECT_EQ(sessions->damages.size(), x.sequence == 0 ? 1u : 0u) << x.text;
    EXPECT_EQ(sessions->sessions.size() + sessions->damages.size(), 3u);
    const auto verified = again.get(verify_sessions_request{});
    ASSERT_TRUE(verified) << x.text;
    ASSERT_EQ(verified->damages.size(), 1u) << x.text;
    EXPECT_EQ(verified->damages[0].where, session(x.session)) << x.text;
    EXPECT_EQ(verified->damages[0].sequence, x.sequence) << x.text;
    for (const auto code : again.errors())
      EXPECT_EQ(code, errc::data_loss) << x.text;
  }
}

namespace {

/// Answers of a store about sessions and records, or its errors instead.
struct account {
  std::map<std::string, std::string> lines;
  std::set<errc> errors;
};

/// Reads everything by session and sequence number.
/// @param deleted session that is deleted first; empty for none.
account account_of(const std::filesystem::path& file,
                   const std::string& deleted = {}) {
  account result;
  try {
    program x{file, durability::process};
    if (!deleted.empty())
      (void)x.get(delete_session_request{session(deleted)});
    for (const std::string name : {"s", "t", "v"}) {
      if (name == deleted)
        continue;
      const auto of = session(name);
      if (const auto found = x.get(get_session_request{of}))
        result.lines[name] = to_json_text(found->info) + found->content.text();
      for (std::uint64_t i = 1; i <= 5; ++i)
        if (auto found = x.get(get_snapshot_request{snapshot_ref{of, i}})) {
          // Damage elsewhere may hide the path of the head and the id of a
          // parent.
          found->record.orphaned = false;
          if (!found->record.parent_id.empty())
            result.lines[name + std::to_string(i) + " parent"]
              = found->record.parent_id.str();
          found->record.parent_id = {};
          result.lines[name + std::to_string(i)]
            = to_json_text(found->record) + found->content.text();
        }
    }
    list_sessions_request all;
    all.updated_since = caf::timestamp::min();
    if (const auto page = x.get(all))
      for (const auto& info : page->sessions)
        result.lines["list " + info.id.str()] = to_json_text(info);
    if (const auto page = x.get(verify_sessions_request{})) {
      std::string text;
      for (const auto& y : page->damages)
        text += to_json_text(y) + '\n';
      result.lines["verified"] = text;
    }
    result.errors = x.errors();
  } catch (const status_error& x) {
    result.errors.insert(x.code());
  }
  return result;
}

/// Flips random bits, each in a separate copy of the file, and calls `fn` with
/// the position of the bit and the copy.
void for_each_flip(
  const std::filesystem::path& file, std::uint64_t seed, int flips,
  const std::function<void(std::uint64_t, const std::filesystem::path&)>& fn) {
  const auto bits = std::filesystem::file_size(file) * 8;
  std::mt19937_64 random{seed};
  for (int i = 0; i < flips; ++i) {
    const auto bit = random() % bits;
    const scratch here;
    const auto copy = here / "sessions.db";
    std::filesystem::copy_file(file, copy);
    faulty_vfs disk;
    disk.flip(std::filesystem::canonical(copy), bit);
    fn(bit, copy);
  }
}

} // namespace

TEST_F(sqlite_faults, a_flipped_bit_is_never_taken_for_what_was_saved) {
  program{file}.run();
  const auto truth = account_of(file);
  ASSERT_EQ(truth.lines.size(), 3u + 8u + 6u + 3u + 1u);
  ASSERT_EQ(truth.lines.at("verified"), "");
  const std::set<errc> expected{errc::data_loss, errc::failed_precondition,
                                errc::not_found};
  auto losses = 0;
  const auto look = [&](std::uint64_t bit, const std::filesystem::path& copy) {
    const auto told = account_of(copy);
    auto lost = false;
    for (const auto& [what, text] : truth.lines) {
      const auto found = told.lines.find(what);
      if (found == told.lines.end()) {
        lost = true;
      } else if (what != "verified") {
        EXPECT_EQ(found->second, text) << what << ", bit " << bit;
      }
    }
    for (const auto code : told.errors)
      EXPECT_TRUE(expected.contains(code))
        << to_string(code) << ", bit " << bit;
    if (!lost)
      return;
    ++losses;
    const auto verified = told.lines.find("verified");
    const auto is_noticed = verified == told.lines.end()
                            || !verified->second.empty()
                            || told.errors.contains(errc::data_loss);
    EXPECT_TRUE(is_noticed) << "bit " << bit;
  };
  for_each_flip(file, 7, by_effort(100, 400, 1'500), look);
  EXPECT_GT(losses, by_effort(0, 10, 50));
}

TEST_F(sqlite_faults, what_is_saved_beside_a_flipped_bit_is_that_or_a_loss) {
  program{file}.run();
  auto kept = 0;
  const auto look = [&](std::uint64_t bit, const std::filesystem::path& copy) {
    promises promised;
    std::set<errc> errors;
    try {
      program x{copy, durability::process};
      x.save_more();
      promised = x.promised();
      errors = x.errors();
    } catch (const status_error&) {
      return; // the file cannot be opened
    }
    kept += static_cast<int>(promised.records.size());
    program again{copy, durability::process};
    for (const auto& [where, text] : promised.records) {
      const auto found = again.get(
        get_snapshot_request{snapshot_ref{session(where.first), where.second}});
      if (found) {
        EXPECT_EQ(found->content.text(), text) << "bit " << bit;
      }
    }
    errors.insert(again.errors().begin(), again.errors().end());
    for (const auto code : errors)
      EXPECT_TRUE(code == errc::data_loss || code == errc::not_found)
        << to_string(code) << ", bit " << bit;
    if (errors.contains(errc::not_found)) {
      const auto verified = again.get(verify_sessions_request{});
      EXPECT_TRUE(!verified || !verified->damages.empty()) << "bit " << bit;
    }
  };
  for_each_flip(file, 13, by_effort(50, 150, 500), look);
  EXPECT_GT(kept, 0);
}

TEST_F(sqlite_faults,
       a_deletion_beside_a_flipped_bit_changes_no_other_content) {
  program{file}.run();
  const auto truth = account_of(file);
  auto deletions = 0;
  const auto look = [&](std::uint64_t bit, const std::filesystem::path& copy) {
    const auto told = account_of(copy, "t");
    deletions += told.errors.contains(errc::data_loss) ? 0 : 1;
    for (const auto& [what, text] : told.lines) {
      if (what != "verified" && what != "list t") {
        EXPECT_EQ(truth.lines.at(what), text) << what << ", bit " << bit;
      }
    }
  };
  for_each_flip(file, 11, by_effort(50, 200, 700), look);
  EXPECT_GT(deletions, 0);
}

} // namespace tertulia::test::sqlite_fault_tests
