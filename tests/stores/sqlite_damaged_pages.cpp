// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/json.hpp>
#include <tertulia/sqlite_store.hpp>
#include <tertulia/status.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/effort.hpp"
#include "support/file_store.hpp"
#include "support/raw_sqlite.hpp"
#include "support/sqlite_files.hpp"

// Damage to the structures that lead to rows, not to the rows themselves:
// indexes, and the directory of a page.

namespace tertulia::test::sqlite_damaged_pages_tests {

namespace {

constexpr auto names = {"a", "b", "c"};

save_snapshot_request turn(const std::string& name, std::uint64_t number,
                           payload custom = payload::of(1)) {
  ai::message_log log;
  for (std::uint64_t i = 0; i < number; ++i)
    log = log.with(ai::user_text(name + ' ' + std::to_string(i)));
  return sqlite_files::snapshot(sqlite_files::session(name),
                                state::conversation(log, std::move(custom), {}),
                                number - 1);
}

/// Makes a page unreadable for SQLite.
void spoil(std::string& page) {
  page[0] = '\1'; // not a valid page type
}

struct sqlite_damaged_pages : sqlite_files {
  sqlite_damaged_pages() {
    file_store x{file};
    for (std::uint64_t number : {1, 2, 3})
      for (const auto* name : names)
        x.get(turn(name, number));
  }

  /// Returns everything that a store knows of a session; empty if any of it
  /// cannot be read.
  static std::string all_of(file_store& x, const std::string& name) {
    std::string result;
    for (std::uint64_t i = 1; i <= 3; ++i) {
      const auto found
        = x.ask(get_snapshot_request{snapshot_ref{session(name), i}});
      if (!found)
        return {};
      result += to_json_text(found->record) + found->content.text();
    }
    return result;
  }
};

} // namespace

TEST_F(sqlite_damaged_pages, who_is_taken_out_of_an_index_is_found_again) {
  std::string b;
  {
    file_store x{file};
    b = all_of(x, "b");
  }
  // The index entry of "b" refers to "a", which therefore has two entries. The
  // deletion of "a" removes one of the two, and "b" no longer has an entry.
  change_page(file, root_page(file, "sqlite_autoindex_sessions_1"),
              [](std::string& bytes) { bytes.replace(10, 2, bytes, 8, 2); });
  file_store x{file};
  x.get(delete_session_request{session("a")});
  EXPECT_EQ(all_of(x, "b"), "");

  const auto verified = x.get(verify_sessions_request{});
  ASSERT_FALSE(verified.damages.empty());
  EXPECT_EQ(verified.damages.front().where, session_ref{});

  x.get(vacuum_store_request{});
  EXPECT_EQ(x.get(verify_sessions_request{}).damages, std::vector<damage>{});
  EXPECT_EQ(all_of(x, "b"), b);
}

TEST_F(sqlite_damaged_pages, a_vacuum_makes_indexes_of_the_rows_again) {
  std::map<std::string, std::string> truth;
  {
    file_store x{file};
    for (const auto* name : names)
      truth[name] = all_of(x, name);
  }
  std::vector<std::int64_t> pages;
  for (const auto* index :
       {"sqlite_autoindex_sessions_1", "records_by_state", "branches_by_owner"})
    pages.push_back(root_page(file, index));
  std::mt19937_64 random{5};
  auto mended = 0;
  for (int i = 0; i < by_effort(30, 120, 400); ++i) {
    const scratch other;
    const auto copy = other / "sessions.db";
    std::filesystem::copy_file(file, copy);
    const auto page = pages[random() % pages.size()];
    const auto bit = random() % (4096 * 8);
    flip(copy, static_cast<std::size_t>(page - 1) * 4096 * 8 + bit);
    file_store x{copy};
    (void)x.ask(delete_session_request{session("a")});
    if (!x.ask(vacuum_store_request{}))
      continue; // SQLite cannot read the page
    EXPECT_EQ(x.get(verify_sessions_request{}).damages, std::vector<damage>{});
    for (const auto* name : {"b", "c"})
      EXPECT_EQ(all_of(x, name), truth[name])
        << name << ", page " << page << ", bit " << bit;
    ++mended;
  }
  EXPECT_GT(mended, 0);
}

TEST_F(sqlite_damaged_pages, a_vacuum_keeps_what_knows_the_name_of_a_row) {
  change_page(file, root_page(file, "sessions"), [](std::string& bytes) {
    bytes[bytes.find("/agent/ab") + 8] = 'x';
  });
  file_store x{file};
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(x.code(get_session_request{session("b")}), errc::data_loss);
    EXPECT_FALSE(x.get(verify_sessions_request{}).damages.empty());
    x.get(vacuum_store_request{});
  }
}

TEST_F(sqlite_damaged_pages, what_is_new_needs_no_whole_key_beside_it) {
  for (const auto* table : {"branches", "sessions"}) {
    const scratch other;
    const auto copy = other / "sessions.db";
    {
      file_store x{file}; // a different value for each session
      for (const auto* name : names)
        (void)x.ask(turn(name, 4, payload::of(std::string{name})));
    }
    std::filesystem::copy_file(file, copy);
    // Give the last row the key of another row.
    change_page(copy, root_page(copy, table), [&](std::string& bytes) {
      const auto at
        = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
      ASSERT_EQ(at(0), 13) << table << " has more than one page";
      const std::size_t rows = 256u * at(3) + at(4);
      auto key = 256u * at(6 + 2 * rows) + at(7 + 2 * rows);
      while (at(key) >= 128)
        ++key; // skip the size of the row
      ++key;
      ASSERT_EQ(at(key), rows) << table;
      bytes[key] = '\2';
    });
    file_store x{copy};
    for (std::uint64_t i = 1; i <= 3; ++i)
      for (const auto* name : {"new", "newer"}) {
        const auto custom = std::string{name} + std::to_string(i);
        const auto what = turn(name, i, payload::of(custom));
        ASSERT_TRUE(x.ask(what)) << table;
        const auto found
          = x.ask(get_snapshot_request{snapshot_ref{session(name), i}});
        ASSERT_TRUE(found) << table << ' ' << name << i;
        EXPECT_EQ(found->content.text(), what.content.text()) << table;
      }
  }
}

TEST_F(sqlite_damaged_pages, who_shares_a_batch_with_it_is_not_harmed) {
  // From here on blobs cannot be read.
  change_page(file, root_page(file, "blobs"), spoil);
  file_store x{file};
  for (std::uint64_t i = 1; i <= 20; ++i) {
    x.send_batch(turn("d", i, {}), get_session_request{session("a")},
                 turn("e", i, {}));
    auto saved = 0;
    auto lost = 0;
    x.receive(
      3, [&](const save_result&) { ++saved; },
      [&](const stored_session&) { ADD_FAILURE(); },
      [&](const caf::error& why) {
        EXPECT_EQ(code_of(why), errc::data_loss);
        ++lost;
      });
    EXPECT_EQ(saved, 2);
    EXPECT_EQ(lost, 1);
  }
  EXPECT_EQ(x.get(get_session_request{session("d")}).info.records, 20u);
  EXPECT_EQ(x.get(get_session_request{session("e")}).info.records, 20u);
}

TEST_F(sqlite_damaged_pages, what_nobody_can_read_stops_no_pruning_of_others) {
  {
    file_store x{file};
    for (std::uint64_t i = 1; i <= 3; ++i)
      for (const auto* name : {"aa", "d"})
        x.get(turn(name, i, {}));
    for (const auto* name : names) // pruning erases the value before this one
      x.get(turn(name, 4, payload::of(4)));
  }
  change_page(file, root_page(file, "blobs"), spoil);
  file_store x{file};
  const auto pruned = x.get(prune_snapshots_request{});
  EXPECT_EQ(pruned.records, 4u);
  ASSERT_EQ(pruned.damages.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(pruned.damages[i].where, session(std::data(names)[i]));
  for (const auto* name : names)
    EXPECT_EQ(x.get(list_snapshots_request{session(name)}).snapshots.size(),
              4u);
  for (const auto* name : {"aa", "d"})
    EXPECT_EQ(x.get(list_snapshots_request{session(name)}).snapshots.size(),
              1u);
}

TEST_F(sqlite_damaged_pages, a_list_goes_on_up_to_what_nobody_can_read) {
  constexpr std::uint64_t count = 300;
  {
    file_store x{file};
    for (std::uint64_t i = 1; i <= count; ++i) {
      auto saved = turn("z", 1, payload::of(i));
      saved.record.parent = i - 1;
      x.get(saved);
    }
  }
  std::int64_t last = 0; // page of the last records
  change_page(file, root_page(file, "records"), [&](const std::string& bytes) {
    for (std::size_t i = 8; i < 12; ++i)
      last = last * 256 + static_cast<unsigned char>(bytes[i]);
  });
  change_page(file, last, [](std::string& bytes) {
    ASSERT_EQ(bytes[0], '\x0a');
    bytes[0] = '\1';
  });
  file_store x{file};
  std::uint64_t readable = 0;
  while (
    readable < count
    && x.ask(get_snapshot_request{snapshot_ref{session("z"), readable + 1}}))
    ++readable;
  ASSERT_GT(readable, 10u);
  ASSERT_LT(readable, count);
  list_snapshots_request all{session("z")};
  all.limit = 1;
  for (all.after = readable - 3; all.after < readable; ++all.after) {
    const auto page = x.get(all);
    ASSERT_EQ(page.snapshots.size(), 1u) << all.after;
    EXPECT_TRUE(page.more);
  }
  EXPECT_EQ(x.code(all), errc::data_loss);
}

} // namespace tertulia::test::sqlite_damaged_pages_tests
