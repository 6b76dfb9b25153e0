// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/sqlite_store.hpp>
#include <tertulia/store_contract.hpp>

#include <caf/all.hpp>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../stores/sqlite_schema.hpp"
#include "support/file_store.hpp"
#include "support/raw_sqlite.hpp"
#include "support/refusal.hpp"
#include "support/scratch.hpp"
#include <sys/stat.h>

namespace tertulia {

namespace {

using test::error_of;
using test::file_store;
using test::raw_sqlite;

struct sqlite_store_factory {
  static constexpr bool durable = true;

  managed_store open(caf::actor_system& system) {
    return spawn_sqlite_store(system, file, options);
  }

  /// Flips a bit of a plain state: 1 becomes 3.
  void corrupt(const state_id& id) {
    raw_sqlite db{file};
    db.run("UPDATE blobs SET text = replace(text, '1', '3') WHERE key IN "
           + part_of("custom", id));
  }

  void lose(const state_id& id) {
    raw_sqlite db{file};
    db.run("DELETE FROM blobs WHERE key IN " + part_of("custom", id));
  }

  static std::string part_of(const std::string& part, const state_id& id) {
    return "(SELECT " + part + " FROM states WHERE lower(hex(id)) = '"
           + id.str() + "')";
  }

  test::scratch folder;
  std::filesystem::path file = folder / "sessions.db";
  sqlite_options options;
};

/// The contract's fixture without its tests.
struct sqlite_store : store_contract<sqlite_store_factory> {
  raw_sqlite raw() {
    return raw_sqlite{store.factory().file};
  }

  static state longer(const state& x, const std::string& text) {
    return x.with_messages(x.messages().with(ai::user_text(text)));
  }

  stored_snapshot load(std::uint64_t sequence) {
    return get(get_snapshot{snapshot_ref{at("s"), sequence}});
  }

  /// All that nothing refers to has to be gone.
  void expect_nothing_is_left() {
    auto db = raw();
    for (const auto* table : {"records", "labels", "sessions", "states",
                              "blobs", "messages", "branches"})
      EXPECT_EQ(db.count(table), 0) << table;
  }
};

} // namespace

INSTANTIATE_TYPED_TEST_SUITE_P(sqlite, store_contract, sqlite_store_factory);

// -- what is written ----------------------------------------------------------

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
  // the client has the state from the store
  content = longer(get(get_session{at("s")}).content, "loaded");
  save(at("s"), content, 1);
  EXPECT_EQ(raw().count("messages"), 11);
  store.reopen();
  // the client has had it all the time
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

TEST_F(sqlite_store, a_copy_costs_no_message_and_each_new_one_is_written_once) {
  const auto trunk = talk(10);
  save(at("s"), trunk, 0);
  get(copy_session{at("s"), at("t")});
  EXPECT_EQ(raw().count("messages"), 10);
  EXPECT_EQ(raw().count("states"), 1);
  store.reopen(); // nothing is remembered of either
  get(copy_session{at("s"), at("u"), 1});
  save(at("t"), longer(trunk, "the copy"), 1);
  save(at("s"), longer(trunk, "the origin"), 1);
  save(at("u"), longer(trunk, "the other copy"), 1);
  EXPECT_EQ(raw().count("messages"), 13);
  EXPECT_EQ(raw().count("branches"), 3);
  EXPECT_EQ(get(get_session{at("t")}).content, longer(trunk, "the copy"));
  EXPECT_EQ(load(2).content, longer(trunk, "the origin"));
  for (const auto* name : {"s", "t", "u"})
    get(delete_session{at(name)});
  expect_nothing_is_left();
}

TEST_F(sqlite_store, a_last_message_that_changes_costs_one_message) {
  auto log = talk(10).messages();
  std::uint64_t parent = 0;
  for (int i = 0; i < 10; ++i) {
    log = log.with(ai::user_text("draft"));
    get(save_session{at("s"), state::conversation(log, {}, {}), 0});
    log = log.with_back(ai::user_text("final " + std::to_string(i)));
    parent
      = save(at("s"), state::conversation(log, {}, {}), parent).record.sequence;
  }
  EXPECT_EQ(raw().count("messages"), 20);
  EXPECT_EQ(raw().count("branches"), 1);
  EXPECT_EQ(load(10).content.text(), state::conversation(log, {}, {}).text());
}

TEST_F(sqlite_store, verification_finds_each_kind_of_damage_and_no_other) {
  auto content = talk(3);
  std::uint64_t parent = 0;
  for (int i = 0; i < 6; ++i) {
    parent = save(at("s"), content, parent).record.sequence;
    content = longer(content.with_custom(payload::of(i)), "more");
  }
  save(at("t"), talk(1).with_artifact({"file", {ai::part::text("x")}}), 0);
  get(save_session{at("u"), talk(0), 0});
  get(save_session{at("v"), state::plain({}), 0});
  get(save_session{at("w"), talk(0).with_custom(payload::of(json{})), 0});
  EXPECT_EQ(get(verify_sessions{}).damages, std::vector<damage>{});

  const auto found = [&](const std::string& sql) {
    raw().run(sql);
    std::string result;
    for (const auto& x : get(verify_sessions{}).damages)
      result += x.where.id.str() + std::to_string(x.sequence)
                + (x.state.empty() ? " " : " state ")
                + (x.kind == damage_kind::corrupt ? "corrupt; " : "missing; ");
    return result;
  };
  EXPECT_EQ(found("UPDATE messages SET text = replace(text, 'more', 'less')"
                  " WHERE key & 0xffffffff = 6"),
            "s0 state corrupt; s5 state corrupt; s6 state corrupt; ");
  EXPECT_EQ(found("DELETE FROM messages WHERE key & 0xffffffff = 7"),
            "s0 state missing; s5 state corrupt; s6 state missing; ");
  EXPECT_EQ(found("PRAGMA foreign_keys = OFF;"
                  "DELETE FROM records WHERE sequence = 3"),
            "s0 missing; s0 state missing; s4 missing; s5 state corrupt;"
            " s6 state missing; ");
  EXPECT_EQ(found("UPDATE sessions SET head = 3, records = 4 WHERE id = 's';"
                  "UPDATE records SET parent = 9 WHERE sequence = 2;"
                  "UPDATE records SET event = 'x' WHERE sequence = 4;"
                  "UPDATE sessions AS s"
                  " SET checksum = " TERTULIA_SESSION_CHECKSUM(
                    "s") ";"
                         "UPDATE records AS r"
                         " SET checksum = " TERTULIA_RECORD_CHECKSUM("r")),
            "s0 missing; s0 corrupt; s0 state missing; s2 corrupt; s4 missing;"
            " s4 corrupt; s5 state corrupt; s6 state missing; ");
  EXPECT_EQ(found("UPDATE sessions SET title = 'x' WHERE id = 't';"
                  "UPDATE records SET depth = 9 WHERE sequence = 1"),
            "s0 missing; s0 corrupt; s0 state missing; s1 corrupt; s2 corrupt;"
            " s4 missing; s4 corrupt; s5 state corrupt; s6 state missing;"
            " t0 corrupt; t1 corrupt; ");
}

TEST_F(sqlite_store, what_a_session_no_longer_works_on_is_gone) {
  for (int i = 0; i < 10; ++i)
    get(save_session{at("s"), number(i), 0});
  EXPECT_EQ(raw().count("states"), 1);
  EXPECT_EQ(raw().count("blobs"), 1);
  EXPECT_EQ(get(get_session{at("s")}).content, number(9));
}

TEST_F(sqlite_store, equal_parts_are_kept_once) {
  const auto custom = payload::of(std::string(1000, 'x'));
  const auto first = talk(1).with_custom(custom);
  const auto second = talk(2).with_custom(custom);
  save(at("s"), first, 0);
  save(at("s"), second, 1);
  save(at("t"), second, 0);
  EXPECT_EQ(raw().count("blobs"), 1);
  EXPECT_EQ(raw().count("states"), 2);
}

TEST_F(sqlite_store, what_was_deleted_leaves_nothing_behind) {
  const auto trunk = talk(10).with_custom(payload::of(1));
  save(at("s"), trunk, 0);
  save(at("s"), longer(trunk, "one way"), 1);
  save(at("s"), longer(trunk, "the other"), 1, append_rule::anywhere);
  get(save_session{at("s"), talk(20), 0});
  label_snapshot mark{snapshot_ref{at("s"), 1}};
  mark.add = {"label"};
  get(mark);
  get(delete_session{at("s")});
  expect_nothing_is_left();
}

TEST_F(sqlite_store, what_was_deleted_is_given_back_to_the_disk) {
  const auto longest = longer(talk(1), std::string(1'000'000, 'x'));
  get(save_session{at("s"), longest, 0});
  get(save_session{at("t"), talk(2), 0});
  get(delete_session{at("s")});
  const auto sizes = get(vacuum_store{});
  EXPECT_GT(sizes.bytes_before, 1'000'000u);
  EXPECT_LT(sizes.bytes_after, 200'000u);
  EXPECT_EQ(std::filesystem::file_size(store.factory().file),
            sizes.bytes_after);
  EXPECT_EQ(get(get_session{at("t")}).content, talk(2));
}

TEST_F(sqlite_store, vacuuming_waits_for_no_change_and_loses_none) {
  const test::scratch folder;
  file_store other{folder / "other.db"};
  other.send(save_session{at("s"), talk(1), 0});
  other.send(vacuum_store{});
  other.send(save_session{at("t"), talk(2), 0});
  const auto fail = [](caf::error& x) { ADD_FAILURE() << to_status(x).what(); };
  other.self()->receive([](const session_info&) {}, fail);
  other.self()->receive([](const vacuumed&) {}, fail);
  other.self()->receive([](const session_info&) {}, fail);
  EXPECT_EQ(other.get(list_sessions{}).sessions.size(), 2u);
}

TEST_F(sqlite_store, what_is_pruned_takes_along_what_only_it_needed) {
  const auto trunk = talk(10);
  save(at("s"), trunk, 0);
  save(at("s"), longer(trunk, "one way"), 1);
  save(at("s"), longer(trunk, "the other"), 1, append_rule::anywhere);
  get(prune_snapshots{});
  EXPECT_EQ(raw().count("states"), 1);
  EXPECT_EQ(raw().count("messages"), 11);
  EXPECT_EQ(load(3).content.text(), longer(trunk, "the other").text());
  get(delete_session{at("s")});
  expect_nothing_is_left();
}

TEST_F(sqlite_store, a_session_can_go_on_in_another_ones_messages) {
  const auto trunk = talk(10);
  save(at("s"), trunk, 0);
  save(at("t"), trunk, 0);
  save(at("t"), longer(trunk, "t"), 1);
  save(at("s"), longer(trunk, "s"), 1);
  EXPECT_EQ(raw().count("messages"), 12);
  get(delete_session{at("s")});
  EXPECT_EQ(get(get_session{at("t")}).content.text(),
            longer(trunk, "t").text());
  get(delete_session{at("t")});
  expect_nothing_is_left();
}

TEST_F(sqlite_store, what_was_forgotten_is_read_again) {
  const test::scratch folder;
  sqlite_options options;
  options.remembered_messages = 1; // the last session alone
  file_store small{folder / "small.db", options};
  for (int i = 1; i < 10; ++i)
    for (const auto* name : {"s", "t"})
      small.get(save_snapshot{record(at(name), talk(i), i - 1), talk(i),
                              append_rule::at_head});
  EXPECT_EQ(raw_sqlite{folder / "small.db"}.count("messages"), 9);
  for (int i = 1; i < 10; ++i)
    for (const auto* name : {"s", "t"}) {
      const auto content = longer(talk(i + 10), name);
      small.get(save_snapshot{record(at(name), content, i + 8), content,
                              append_rule::at_head});
    }
  // Each last message stays with its record, so that the next one is a branch;
  // only the first of all finds room behind what is there.
  EXPECT_EQ(raw_sqlite{folder / "small.db"}.count("branches"), 1 + 8 + 9);
}

// -- damage -------------------------------------------------------------------

TEST_F(sqlite_store, damage_to_messages_is_told_apart) {
  save(at("s"), talk(3), 0);
  save(at("t"), number(1), 0);
  const snapshot_ref which{at("s"), 1};
  raw().run("UPDATE messages SET text = replace(text, '1', '7')");
  EXPECT_EQ(code(get_snapshot{which}), errc::data_loss);
  EXPECT_NE(store.error().message().find("corrupt"), std::string::npos);
  EXPECT_EQ(code(restore_snapshot{which}), errc::data_loss);
  raw().run("UPDATE messages SET text = replace(text, '7', '1')");
  EXPECT_EQ(code(get_snapshot{which}), errc::ok);
  raw().run("UPDATE messages SET text = replace(text, '2\"}', '2')");
  EXPECT_EQ(code(get_snapshot{which}), errc::data_loss);
  EXPECT_NE(store.error().message().find("corrupt"), std::string::npos);
  raw().run("DELETE FROM messages WHERE key % 4294967296 = 1");
  EXPECT_EQ(code(get_snapshot{which}), errc::data_loss);
  EXPECT_NE(store.error().message().find("missing"), std::string::npos);
  raw().run("PRAGMA foreign_keys = OFF; DELETE FROM branches");
  EXPECT_EQ(code(get_snapshot{which}), errc::data_loss);
  EXPECT_NE(store.error().message().find("missing"), std::string::npos);
  EXPECT_EQ(code(get_snapshot{which, detail_level::record}), errc::ok);
  EXPECT_EQ(code(get_snapshot{snapshot_ref{at("t"), 1}}), errc::ok);
}

TEST_F(sqlite_store, a_save_behind_damage_is_whole) {
  const auto content = talk(5);
  save(at("s"), content, 0);
  for (const auto* damage :
       {"DELETE FROM messages", "UPDATE messages SET text = '{}'"}) {
    raw().run(damage);
    store.reopen(); // what is remembered would hide the damage to a text
    const auto head = get(get_session{at("s"), detail_level::record}).info.head;
    const auto next = longer(content, damage);
    const auto saved = save(at("s"), next, head);
    EXPECT_EQ(load(saved.record.sequence).content.text(), next.text());
  }
}

TEST_F(sqlite_store, records_and_lists_do_not_touch_messages_and_values) {
  save(at("s"), talk(3).with_custom(payload::of(1)), 0);
  save(at("s"), talk(4).with_custom(payload::of(2)), 1);
  raw().run("PRAGMA foreign_keys = OFF;"
            "DELETE FROM messages; DELETE FROM blobs; DELETE FROM branches");
  const snapshot_ref which{at("s"), 2};
  EXPECT_EQ(code(get_snapshot{which}), errc::data_loss);
  EXPECT_EQ(code(get_snapshot{which, detail_level::record}), errc::ok);
  EXPECT_EQ(code(get_session{at("s"), detail_level::record}), errc::ok);
  EXPECT_EQ(sequences(at("s"), true).size(), 2u);
  EXPECT_EQ(get(list_sessions{}).sessions.size(), 1u);
  EXPECT_EQ(code(label_snapshot{which}), errc::ok);
}

// -- transactions -------------------------------------------------------------

TEST_F(sqlite_store, changes_that_wait_share_one_transaction) {
  const test::scratch folder;
  file_store other{folder / "other.db"};
  const auto before = other.commits();
  constexpr int count = 100;
  {
    // While this has the file, the first change waits for it, and all others
    // behind that one.
    raw_sqlite busy{folder / "other.db"};
    busy.run("BEGIN IMMEDIATE");
    for (int i = 0; i < count; ++i)
      other.send(save_session{at(std::to_string(i)), number(i), 0});
    // one cannot be done, and one reads what is not durable yet
    other.send(delete_session{at("nobody")});
    other.send(get_session{at("7")});
    busy.run("ROLLBACK");
  }
  int saved = 0;
  int failed = 0;
  int seen = 0;
  for (int i = 0; i < count + 2; ++i)
    other.self()->receive(
      [&](const session_info&) { ++saved; },
      [&](const stored_session& x) { seen += x.content == number(7); },
      [&](const caf::error& x) { failed += code_of(x) == errc::not_found; });
  EXPECT_EQ(saved, count);
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(failed, 1);
  EXPECT_EQ(other.commits() - before, 1u);
}

TEST_F(sqlite_store, messages_of_two_versions_are_written_once) {
  save(at("s"), version(1, talk(3)), 0);
  save(at("s"), version(2, talk(3)), 1);
  save(at("s"), longer(version(2, talk(3)), "more"), 2);
  EXPECT_EQ(raw().count("messages"), 4);
  EXPECT_EQ(raw().count("branches"), 1);
  EXPECT_EQ(raw().count("states"), 3);
  EXPECT_EQ(raw().texts("SELECT type_name || type_version FROM states"
                        " ORDER BY key"),
            (std::vector<std::string>{"app.memo1", "app.memo2", "app.memo2"}));
}

TEST_F(sqlite_store, a_state_whose_type_is_none_is_corrupt) {
  save(at("s"), version(1, talk(3)), 0);
  save(at("s"), talk(4), 1);
  const std::array wrong{"type_name = 'a b'", "type_version = 0",
                         "type_version = 1 << 32"};
  for (const std::string what : wrong) {
    raw().run("UPDATE states SET " + what + " WHERE length = 3");
    EXPECT_EQ(code(get_snapshot{snapshot_ref{at("s"), 1}}), errc::data_loss)
      << what;
    const auto damages = get(verify_sessions{}).damages;
    ASSERT_EQ(damages.size(), 1u) << what;
    EXPECT_EQ(damages[0].kind, damage_kind::corrupt);
    EXPECT_EQ(damages[0].sequence, 1u);
    EXPECT_EQ(get(get_session{at("s")}).content, talk(4)) << what;
    raw().run("UPDATE states SET type_name = '', type_version = 1");
  }
}

TEST_F(sqlite_store, a_transaction_has_an_end) {
  const test::scratch folder;
  sqlite_options options;
  options.max_batch = 10;
  file_store other{folder / "other.db", options};
  const auto before = other.commits();
  {
    raw_sqlite busy{folder / "other.db"};
    busy.run("BEGIN IMMEDIATE");
    for (int i = 0; i < 100; ++i)
      other.send(save_session{at(std::to_string(i)), number(i), 0});
    busy.run("ROLLBACK");
  }
  int saved = 0;
  other.self()->receive_for(saved, 100)([](const session_info&) {});
  EXPECT_EQ(other.commits() - before, 10u);
}

TEST_F(sqlite_store, a_change_that_cannot_be_made_changes_nothing) {
  save(at("s"), talk(3), 0);
  // what is in the way of the record comes last, when all else is written
  raw().run("CREATE TRIGGER no BEFORE INSERT ON records"
            " WHEN NEW.turn_index = 7 BEGIN SELECT raise(FAIL, 'no'); END");
  auto wrong = record(at("s"), talk(5), 1);
  wrong.turn_index = 7;
  EXPECT_EQ(code(save_snapshot{wrong, talk(5), append_rule::at_head}),
            errc::internal);
  EXPECT_EQ(raw().count("messages"), 3);
  EXPECT_EQ(raw().count("states"), 1);
  EXPECT_EQ(get(get_session{at("s")}).info.head, 1u);
  EXPECT_TRUE(save(at("s"), talk(5), 1).created);
  EXPECT_EQ(load(2).content.text(), talk(5).text());
}

TEST_F(sqlite_store, a_commit_that_fails_fails_all_that_was_in_it) {
  const test::scratch folder;
  file_store other{folder / "other.db"};
  other.get(save_session{at("first"), number(1), 0});
  // makes any commit with it fail: what it refers to is looked for at the end
  raw_sqlite{folder / "other.db"}.run(
    "CREATE TRIGGER no AFTER INSERT ON sessions WHEN NEW.id = 'bad'"
    " BEGIN UPDATE sessions SET state = 12345 WHERE key = NEW.key; END");
  {
    raw_sqlite busy{folder / "other.db"};
    busy.run("BEGIN IMMEDIATE");
    for (const auto* name : {"good", "bad", "better"})
      other.send(save_session{at(name), number(2), 0});
    other.send(get_session{at("first")});
    busy.run("ROLLBACK");
  }
  int failed = 0;
  for (int i = 0; i < 4; ++i)
    other.self()->receive([](const session_info&) { FAIL(); },
                          [](const stored_session&) { FAIL(); },
                          [&](const caf::error&) { ++failed; });
  EXPECT_EQ(failed, 4);
  EXPECT_EQ(other.get(list_sessions{}).sessions.size(), 1u);
  other.get(save_session{at("good"), number(2), 0});
  EXPECT_EQ(other.get(get_session{at("good")}).content, number(2));
}

TEST_F(sqlite_store, what_was_answered_is_in_the_files) {
  auto content = talk(3);
  std::uint64_t parent = 0;
  for (int i = 0; i < 10; ++i) {
    parent = save(at("s"), content, parent).record.sequence;
    // what a process that dies now leaves behind
    const test::scratch folder;
    const auto copy = folder / "copy.db";
    const auto file = store.factory().file;
    for (const auto* suffix : {"", "-wal"})
      std::filesystem::copy_file(file.string() + suffix,
                                 copy.string() + suffix);
    file_store after{copy};
    const auto found = after.get(get_session{at("s")});
    EXPECT_EQ(found.info.head, parent);
    EXPECT_EQ(found.content.text(), content.text());
    content = longer(content, "more");
  }
}

// -- files --------------------------------------------------------------------

namespace {

/// What opening a file throws.
bool says(const status_error& x, const std::string& text) {
  return std::string{x.what()}.find(text) != std::string::npos;
}

struct sqlite_file : ::testing::Test {
  status_error error() {
    return error_of([&] { return file_store{file, options}; });
  }

  test::scratch folder;
  std::filesystem::path file = folder / "sessions.db";
  sqlite_options options;
};

constexpr const char* first_version = "CREATE TABLE words (text TEXT)";
constexpr const char* second_version
  = "INSERT INTO words VALUES ('two'); ALTER TABLE words ADD COLUMN size";
constexpr const char* wrong_version
  = "INSERT INTO words (text) VALUES ('three'); SELECT nothing FROM nowhere";

} // namespace

TEST_F(sqlite_file, is_for_its_owner_alone) {
  const file_store store{file};
  for (const auto* suffix : {"", "-wal", "-shm", "-lock"}) {
    struct stat found {};
    ASSERT_EQ(::stat((file.string() + suffix).c_str(), &found), 0) << suffix;
    EXPECT_EQ(found.st_mode & 0777u, 0600u) << suffix;
  }
}

TEST_F(sqlite_file, says_what_it_is) {
  const file_store store{file};
  raw_sqlite db{file};
  EXPECT_EQ(db.number("PRAGMA application_id"), sqlite_application_id);
  EXPECT_EQ(db.number("PRAGMA user_version"),
            static_cast<std::int64_t>(sqlite_schema().size()));
  EXPECT_EQ(db.texts("PRAGMA journal_mode").front(), "wal");
}

TEST_F(sqlite_file, has_one_store_at_a_time) {
  options.patience = std::chrono::milliseconds{1};
  {
    const file_store first{file};
    const auto reason = error();
    EXPECT_EQ(reason.code(), errc::unavailable);
    EXPECT_TRUE(says(reason, file.string())) << reason.what();
  }
  EXPECT_EQ(error().code(), errc::ok);
}

TEST_F(sqlite_file, is_waited_for) {
  auto first = std::make_unique<file_store>(file);
  std::thread other{[&] { EXPECT_EQ(error().code(), errc::ok); }};
  first.reset();
  other.join();
}

TEST_F(sqlite_file, can_be_read_by_others_meanwhile) {
  file_store store{file};
  store.get(save_session{
    {"/agent/a", session_id{"s"}}, state::plain(payload::of(1)), 0});
  EXPECT_EQ(raw_sqlite{file}.texts("SELECT id FROM sessions").front(), "s");
}

TEST_F(sqlite_file, is_refused_if_it_belongs_to_another_program) {
  raw_sqlite{file}.run("CREATE TABLE recipes (text TEXT)");
  const auto reason = error();
  EXPECT_EQ(reason.code(), errc::failed_precondition);
  EXPECT_TRUE(says(reason, file.string())) << reason.what();
  EXPECT_EQ(raw_sqlite{file}.texts("SELECT name FROM sqlite_schema"),
            std::vector<std::string>{"recipes"});
  EXPECT_EQ(raw_sqlite{file}.texts("PRAGMA journal_mode").front(), "delete");
}

TEST_F(sqlite_file, is_refused_if_it_is_no_database) {
  std::ofstream{file} << std::string(10'000, 'x');
  const auto reason = error();
  EXPECT_EQ(reason.code(), errc::failed_precondition);
  EXPECT_TRUE(says(reason, file.string())) << reason.what();
}

TEST_F(sqlite_file, is_refused_if_it_comes_from_the_future) {
  { const file_store store{file}; }
  raw_sqlite{file}.run("PRAGMA user_version = 77");
  const auto reason = error();
  EXPECT_EQ(reason.code(), errc::failed_precondition);
  EXPECT_TRUE(says(reason, file.string())) << reason.what();
  EXPECT_TRUE(says(reason, "version 77")) << reason.what();
  EXPECT_TRUE(says(reason, std::to_string(sqlite_schema().size())))
    << reason.what();
}

TEST_F(sqlite_file, needs_a_folder) {
  file = folder / "nowhere" / "sessions.db";
  EXPECT_EQ(error().code(), errc::not_found);
}

TEST_F(sqlite_file, needs_options_that_make_sense) {
  options.max_batch = 0;
  EXPECT_EQ(error().code(), errc::invalid_argument);
}

TEST_F(sqlite_file, goes_from_an_old_version_to_a_new_one) {
  const std::array one{first_version};
  const std::array two{first_version, second_version};
  (void)open_sqlite(file.string(), options, one);
  raw_sqlite{file}.run("INSERT INTO words VALUES ('one')");
  for (int i = 0; i < 2; ++i) { // the second time there is nothing to do
    (void)open_sqlite(file.string(), options, two);
    raw_sqlite db{file};
    EXPECT_EQ(db.number("PRAGMA user_version"), 2);
    EXPECT_EQ(db.texts("SELECT text FROM words"),
              (std::vector<std::string>{"one", "two"}));
  }
  const auto reason
    = error_of([&] { return open_sqlite(file.string(), options, one); });
  EXPECT_EQ(reason.code(), errc::failed_precondition);
}

TEST_F(sqlite_file, stays_as_it_was_if_a_step_to_a_new_version_fails) {
  const std::array one{first_version};
  const std::array wrong{first_version, second_version, wrong_version};
  (void)open_sqlite(file.string(), options, one);
  const auto reason
    = error_of([&] { return open_sqlite(file.string(), options, wrong); });
  EXPECT_EQ(reason.code(), errc::internal);
  raw_sqlite db{file};
  EXPECT_EQ(db.number("PRAGMA user_version"), 1);
  EXPECT_EQ(db.count("words"), 0);
}

// -- older files --------------------------------------------------------------

TEST_F(sqlite_store, a_file_of_version_1_keeps_everything) {
  const test::scratch folder;
  const auto file = folder / "old.db";
  std::filesystem::copy_file(
    TERTULIA_SOURCE_DIR "/tests/support/sqlite_version_1.db", file);
  EXPECT_EQ(raw_sqlite{file}.number("PRAGMA user_version"), 1);
  file_store old{file};
  EXPECT_EQ(raw_sqlite{file}.number("PRAGMA user_version"),
            static_cast<std::int64_t>(sqlite_schema().size()));
  EXPECT_EQ(old.get(verify_sessions{}).damages, std::vector<damage>{});

  const auto said = [](const state& x, const char* text) {
    return x.with_messages(x.messages().with(ai::model_text(text)));
  };
  const auto second = talk(3).with_custom(payload::of(std::string{"ö\n\"x\""}));
  const auto third
    = said(second.with_artifact({"file", {ai::part::text("content")}}), "more");
  const auto sessions = old.get(list_sessions{}).sessions;
  ASSERT_EQ(sessions.size(), 4u);
  const auto expect = [&](std::size_t i, const session_ref& of,
                          const char* preview, const state& content) {
    const auto& info = sessions[i];
    EXPECT_EQ(info.agent, of.agent);
    EXPECT_EQ(info.id, of.id);
    EXPECT_EQ(info.title, "");
    EXPECT_EQ(info.preview, preview) << i;
    const auto& log = content.messages();
    EXPECT_EQ(info.messages, log.size()) << i;
    EXPECT_EQ(info.bytes, log.empty() ? 0 : to_json_text(log).size()) << i;
    const auto found = old.get(get_session{of});
    EXPECT_EQ(found.info, info);
    EXPECT_EQ(found.content, content) << i;
  };
  expect(0, at("s"), "message 2", said(third, "draft"));
  expect(1, at("t"), "message 2", said(third, "the end"));
  expect(2, at("s", "/agent/b"), "message 1", talk(2));
  expect(3, at("u", "/agent/b"), "", number(7));
  EXPECT_EQ(sessions[0].head, 3u);
  EXPECT_EQ(sessions[0].next_turn, 9u);

  list_snapshots all{at("s")};
  all.with_orphans = true;
  all.wanted = detail_level::state;
  const auto snapshots = old.get(all).snapshots;
  ASSERT_EQ(snapshots.size(), 3u);
  EXPECT_EQ(snapshots[0].record.labels,
            (std::vector<std::string>{"good", "third"}));
  EXPECT_EQ(snapshots[0].record.index, 2u);
  EXPECT_EQ(snapshots[0].content, third);
  EXPECT_EQ(snapshots[0].record.type, stored_type{});
  EXPECT_EQ(snapshots[1].content, said(talk(2), "another way"));
  EXPECT_TRUE(snapshots[1].record.orphaned);
  EXPECT_EQ(snapshots[2].content, said(third, "the end"));
  // and goes on
  const auto next = said(third, "on");
  EXPECT_EQ(
    old.get(save_snapshot{record(at("s"), next, 3), next, append_rule::at_head})
      .record.sequence,
    6u);
}

} // namespace tertulia
