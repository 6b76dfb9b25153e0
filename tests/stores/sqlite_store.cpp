// SPDX-License-Identifier: BSD-3-Clause

// Contract tests, and the data that a store in a file writes and erases.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/file_store.hpp"
#include "support/sqlite_fixture.hpp"

namespace tertulia::test::sqlite_tests {

INSTANTIATE_TEST_SUITE_P(
  sqlite, store_contract,
  ::testing::Values(store_kind::of<sqlite_store_factory>()));

TEST_F(sqlite_store, a_message_is_written_once) {
  auto content = talk(3);
  std::uint64_t parent = 0;
  for (int i = 0; i < 20; ++i) {
    parent = save(at("s"), content, parent).record.sequence;
    content = longer(content, "more " + std::to_string(i));
  }
  EXPECT_EQ(raw().count("messages"), 22);
  EXPECT_EQ(raw().count("branches"), 1);
  EXPECT_EQ(load(7).content.messages().size(), 9u);
}

TEST_F(sqlite_store, a_store_that_was_opened_again_writes_what_is_new) {
  auto content = talk(10);
  save(at("s"), content, 0);
  store.reopen();
  // the client has loaded the state from the store
  content = longer(this->content(at("s")), "loaded");
  save(at("s"), content, 1);
  EXPECT_EQ(raw().count("messages"), 11);
  store.reopen();
  // the client has kept the state
  save(at("s"), longer(content, "kept"), 2);
  EXPECT_EQ(raw().count("messages"), 12);
  EXPECT_EQ(raw().count("branches"), 1);
  EXPECT_EQ(load(3).content.messages().size(), 12u);
}

TEST_F(sqlite_store, a_log_that_was_built_anew_is_not_written_again) {
  save(at("s"), talk(10), 0);
  save(at("s"), talk(12), 1);
  EXPECT_EQ(raw().count("messages"), 12);
  EXPECT_EQ(raw().count("branches"), 1);
}

TEST_F(sqlite_store, two_ways_to_go_on_share_what_is_before_them) {
  const auto trunk = talk(10);
  save(at("s"), trunk, 0);
  save(at("s"), longer(trunk, "one way"), 1);
  restore(at("s"), 1);
  save(at("s"), longer(trunk, "the other"), 1);
  save(at("s"), longer(longer(trunk, "a third"), "even longer"), 1,
       append_rule::anywhere);
  EXPECT_EQ(raw().count("messages"), 14);
  EXPECT_EQ(raw().count("branches"), 3);
  EXPECT_EQ(load(2).content.text(), longer(trunk, "one way").text());
  EXPECT_EQ(load(3).content.text(), longer(trunk, "the other").text());
  EXPECT_EQ(load(4).content.messages().size(), 12u);
}

TEST_F(sqlite_store, a_way_can_be_cut_down_to_where_it_begins) {
  const auto trunk = talk(2);
  save(at("s"), longer(trunk, "one way"), 0);
  save(at("s"), longer(trunk, "the other"), 1);
  work_on(at("s"), trunk, 2);
  EXPECT_EQ(content(at("s")), trunk);
  EXPECT_EQ(raw().count("messages"), 4);
}

TEST_F(sqlite_store, a_copy_costs_no_message_and_each_new_one_is_written_once) {
  const auto trunk = talk(10);
  save(at("s"), trunk, 0);
  get(copy_session_request{at("s"), at("t")});
  EXPECT_EQ(raw().count("messages"), 10);
  EXPECT_EQ(raw().count_states(), 1);
  store.reopen(); // neither session is cached
  get(copy_session_request{at("s"), at("u"), 1});
  save(at("t"), longer(trunk, "the copy"), 1);
  save(at("s"), longer(trunk, "the origin"), 1);
  save(at("u"), longer(trunk, "the other copy"), 1);
  EXPECT_EQ(raw().count("messages"), 13);
  EXPECT_EQ(raw().count("branches"), 3);
  EXPECT_EQ(content(at("t")), longer(trunk, "the copy"));
  EXPECT_EQ(load(2).content, longer(trunk, "the origin"));
  for (const auto* name : {"s", "t", "u"})
    get(delete_session_request{at(name)});
  expect_nothing_is_left();
}

TEST_F(sqlite_store, a_list_goes_on_from_its_last_page_whatever_is_written) {
  std::vector<state> contents{talk(1)};
  for (std::uint64_t i = 1; i <= 40; ++i) {
    const auto parent = i % 5 == 0 ? i - 3 : i - 1;
    contents.push_back(longer(contents[parent], std::to_string(i)));
    save(at("s"), contents.back(), parent, append_rule::anywhere);
  }
  list_snapshots_request all{at("s")};
  all.with_orphans = true;
  all.detail = detail_level::state;
  const auto expected = get(all).snapshots;
  ASSERT_EQ(expected.size(), 40u);
  for (const std::uint32_t limit : {1, 3, 7}) {
    auto page = all;
    page.limit = limit;
    std::vector<stored_snapshot> seen;
    for (auto more = true; more;) {
      const auto next = get(page);
      EXPECT_TRUE(next.damages.empty());
      seen.insert(seen.end(), next.snapshots.begin(), next.snapshots.end());
      more = next.more;
      page.after = seen.back().record.sequence;
      // Branches come and go, and the working state of the session changes.
      for (const auto* text : {"one", "another"}) {
        const auto draft = longer(contents.back(), text);
        work_on(at("s"), draft, 0);
        work_on(at("t"), longer(draft, text), 0);
      }
      if (seen.size() % 2 == 0)
        get(delete_session_request{at("t")});
    }
    EXPECT_EQ(seen, expected) << limit;
  }
  // Pruning between two pages does not matter either.
  auto page = all;
  page.limit = 5;
  get(page);
  prune_snapshots_request prune;
  prune.created_before = caf::timestamp::max();
  prune.keep_newest = 10;
  get(prune);
  page.after = 5;
  const auto kept = get(page).snapshots;
  ASSERT_EQ(kept.size(), 5u);
  EXPECT_EQ(kept[0].record, read(at("s"), 31));
  EXPECT_EQ(kept[4].content, contents[35]);
}

TEST_F(sqlite_store, a_list_reads_each_message_once) {
  std::vector<state> contents{talk(10)};
  for (std::uint64_t i = 1; i <= 20; ++i) {
    const auto parent = i % 5 == 0 ? i - 3 : i - 1;
    contents.push_back(longer(contents[parent], std::to_string(i)));
    save(at("s"), contents.back(), parent, append_rule::anywhere);
  }
  list_snapshots_request page{at("s")};
  page.with_orphans = true;
  page.detail = detail_level::state;
  page.limit = 4;
  get(page);
  // Messages that have been read are not read again, neither for the next pages
  // nor for another branch.
  raw().run("UPDATE messages SET text = '{}' WHERE key & 0xffffffff < 10");
  for (page.after = 4; page.after < 20; page.after += 4) {
    const auto next = get(page);
    EXPECT_TRUE(next.damages.empty());
    ASSERT_EQ(next.snapshots.size(), 4u);
    EXPECT_EQ(next.snapshots[3].content, contents[page.after + 4]);
  }
  // A list from the beginning reports the damage.
  page.after = 0;
  EXPECT_EQ(get(page).damages.size(), 20u);
}

TEST_F(sqlite_store, a_last_message_that_changes_costs_one_message) {
  auto log = talk(10).messages();
  std::uint64_t parent = 0;
  for (int i = 0; i < 10; ++i) {
    log = log.with(ai::user_text("draft"));
    work_on(at("s"), state::conversation(log, {}, {}), 0);
    log = log.with_back(ai::user_text("final " + std::to_string(i)));
    parent
      = save(at("s"), state::conversation(log, {}, {}), parent).record.sequence;
  }
  EXPECT_EQ(raw().count("messages"), 20);
  EXPECT_EQ(raw().count("branches"), 1);
  EXPECT_EQ(load(10).content.text(), state::conversation(log, {}, {}).text());
}

TEST_F(sqlite_store, what_a_session_no_longer_works_on_is_gone) {
  for (int i = 0; i < 10; ++i)
    work_on(at("s"), number(i), 0);
  EXPECT_EQ(raw().count_states(), 1);
  EXPECT_EQ(raw().count("blobs"), 1);
  EXPECT_EQ(content(at("s")), number(9));
}

TEST_F(sqlite_store, equal_parts_are_kept_once) {
  const auto custom = payload::of(std::string(1000, 'x'));
  const auto first = talk(1).with_custom(custom);
  const auto second = talk(2).with_custom(custom);
  save(at("s"), first, 0);
  save(at("s"), second, 1);
  get(copy_session_request{at("s"), at("t")});
  save(at("t"), talk(3).with_custom(custom), 2);
  EXPECT_EQ(raw().count("blobs"), 1);
  EXPECT_EQ(raw().count_states(), 3);
  get(delete_session_request{at("s")});
  EXPECT_EQ(content(at("t")), talk(3).with_custom(custom));
  get(delete_session_request{at("t")});
  expect_nothing_is_left();
}

TEST_F(sqlite_store, what_was_deleted_leaves_nothing_behind) {
  const auto trunk = talk(10).with_custom(payload::of(1));
  save(at("s"), trunk, 0);
  save(at("s"), longer(trunk, "one way"), 1);
  save(at("s"), longer(trunk, "the other"), 1, append_rule::anywhere);
  work_on(at("s"), talk(20), 0);
  label(at("s"), 1, {"label"});
  get(delete_session_request{at("s")});
  expect_nothing_is_left();
}

TEST_F(sqlite_store, what_was_deleted_cannot_be_read_in_the_file) {
  const scratch folder;
  const auto file = folder / "other.db";
  const auto is_there = [&] {
    std::ifstream from{file, std::ios::binary};
    const std::string bytes{std::istreambuf_iterator<char>{from}, {}};
    return bytes.find("a secret of mine") != std::string::npos;
  };
  {
    file_store other{file};
    other.get(
      save_session_request{at("s"), longer(talk(1), "a secret of mine"), 0});
    other.get(save_session_request{at("t"), talk(2), 0});
  }
  EXPECT_TRUE(is_there());
  file_store{file}.get(delete_session_request{at("s")});
  EXPECT_FALSE(is_there()) << "not even where nothing is";
  EXPECT_FALSE(std::filesystem::exists(file.string() + "-wal"));
}

TEST_F(sqlite_store, what_was_deleted_is_given_back_to_the_disk) {
  const auto longest = longer(talk(1), std::string(1'000'000, 'x'));
  work_on(at("s"), longest, 0);
  work_on(at("t"), talk(2), 0);
  get(delete_session_request{at("s")});
  const auto sizes = get(vacuum_store_request{});
  EXPECT_GT(sizes.bytes_before, 1'000'000u);
  EXPECT_LT(sizes.bytes_after, 200'000u);
  EXPECT_EQ(std::filesystem::file_size(factory().file), sizes.bytes_after);
  EXPECT_EQ(content(at("t")), talk(2));
}

TEST_F(sqlite_store, vacuuming_waits_for_no_change_and_loses_none) {
  const scratch folder;
  file_store other{folder / "other.db"};
  other.send(save_session_request{at("s"), talk(1), 0});
  other.send(vacuum_store_request{});
  other.send(save_session_request{at("t"), talk(2), 0});
  const auto fail = [](caf::error& x) { ADD_FAILURE() << to_status(x).what(); };
  other.receive(
    1, [](const session_info&) {}, fail);
  other.receive(
    1, [](const vacuum_result&) {}, fail);
  other.receive(
    1, [](const session_info&) {}, fail);
  EXPECT_EQ(other.get(list_sessions_request{}).sessions.size(), 2u);
}

TEST_F(sqlite_store, what_is_pruned_takes_along_what_only_it_needed) {
  const auto trunk = talk(10);
  save(at("s"), trunk, 0);
  save(at("s"), longer(trunk, "one way"), 1);
  save(at("s"), longer(trunk, "the other"), 1, append_rule::anywhere);
  get(prune_snapshots_request{});
  EXPECT_EQ(raw().count_states(), 1);
  EXPECT_EQ(raw().count("messages"), 11);
  EXPECT_EQ(load(3).content.text(), longer(trunk, "the other").text());
  get(delete_session_request{at("s")});
  expect_nothing_is_left();
}

TEST_F(sqlite_store, a_list_remembers_no_message_that_was_erased) {
  const auto trunk = talk(10);
  save(at("s"), trunk, 0);
  save(at("s"), longer(trunk, "one way"), 1);
  list_snapshots_request last{at("s")};
  last.detail = detail_level::state;
  last.after = 1;
  ASSERT_EQ(get(last).snapshots.size(), 1u);
  restore(at("s"), 1);
  get(prune_snapshots_request{});
  const auto other = longer(trunk, "the other");
  save(at("s"), other, 1);
  const auto page = get(last);
  EXPECT_TRUE(page.damages.empty());
  ASSERT_EQ(page.snapshots.size(), 1u);
  EXPECT_EQ(page.snapshots[0].content, other);
}

TEST_F(sqlite_store, sessions_that_are_not_copies_share_nothing) {
  const auto trunk = talk(10);
  save(at("s"), trunk, 0);
  save(at("t"), trunk, 0);
  save(at("t"), longer(trunk, "t"), 1);
  save(at("s"), longer(trunk, "s"), 1);
  EXPECT_EQ(raw().count("messages"), 22);
  get(delete_session_request{at("s")});
  EXPECT_EQ(content(at("t")).text(), longer(trunk, "t").text());
  get(delete_session_request{at("t")});
  expect_nothing_is_left();
}

TEST_F(sqlite_store, what_was_forgotten_is_read_again) {
  const scratch folder;
  sqlite_options options;
  options.remembered_messages = 1; // only the last session
  file_store small{folder / "small.db", options};
  for (int i = 1; i < 10; ++i)
    for (const auto* name : {"s", "t"})
      small.get(save_snapshot_request{record(at(name), talk(i), i - 1), talk(i),
                                      append_rule::at_head});
  EXPECT_EQ(raw_sqlite{folder / "small.db"}.count("messages"), 18);
  for (int i = 1; i < 10; ++i)
    for (const auto* name : {"s", "t"}) {
      const auto content = longer(talk(i + 10), name);
      small.get(save_snapshot_request{record(at(name), content, i + 8), content,
                                      append_rule::at_head});
    }
  // Each last message remains with its record, so the next one starts a branch.
  // Only the first one of a session can be appended to the existing messages.
  EXPECT_EQ(raw_sqlite{folder / "small.db"}.count("branches"), 2 * (1 + 8));
}

TEST_F(sqlite_store, messages_of_two_versions_are_written_once) {
  save(at("s"), version(1, talk(3)), 0);
  save(at("s"), version(2, talk(3)), 1);
  save(at("s"), longer(version(2, talk(3)), "more"), 2);
  EXPECT_EQ(raw().count("messages"), 4);
  EXPECT_EQ(raw().count("branches"), 1);
  EXPECT_EQ(raw().count_states(), 3);
  EXPECT_EQ(
    raw().texts("SELECT type FROM records ORDER BY sequence"),
    (std::vector<std::string>{"app.memo 1", "app.memo 2", "app.memo 2"}));
}

} // namespace tertulia::test::sqlite_tests
