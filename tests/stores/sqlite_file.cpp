// SPDX-License-Identifier: BSD-3-Clause

// The store file itself: its owner and its version.

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "stores/sqlite/open_sqlite.hpp"
#include "support/file_store.hpp"
#include "support/refusal.hpp"
#include "support/sqlite_files.hpp"
#include "support/sqlite_fixture.hpp"
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace tertulia::test::sqlite_tests {

namespace {

/// Returns whether the message of an error contains a text.
bool says(const status_error& x, const std::string& text) {
  return std::string{x.what()}.find(text) != std::string::npos;
}

struct sqlite_file : sqlite_files {
  status_error error() {
    return error_of([&] { return file_store{file, options}; });
  }

  void open(std::span<const migration_step> steps) {
    file_hold hold{file.string(), options.patience};
    (void)open_sqlite(hold, options, steps);
  }
};

constexpr migration_step first_version{"CREATE TABLE words (text TEXT)",
                                       nullptr, ""};
constexpr migration_step second_version{
  "INSERT INTO words VALUES ('two')",
  [](sqlite_db& db) { db.run("UPDATE words SET text = text || '!'"); },
  "ALTER TABLE words ADD COLUMN size"};
constexpr migration_step wrong_version{
  "INSERT INTO words (text) VALUES ('three')", nullptr,
  "SELECT nothing FROM nowhere"};

} // namespace

TEST_F(sqlite_file, is_for_its_owner_alone) {
  const file_store store{file};
  for (const auto* suffix : {"", "-wal", "-shm"}) {
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
  store.get(save_session_request{
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

TEST_F(sqlite_file, is_refused_with_anything_that_is_not_of_a_store) {
  using strings = std::vector<std::string>;
  { const file_store store{file}; }
  const std::vector<strings> all{
    // saves would wait for ever, or lose their data
    {"trigger", "again",
     "CREATE TRIGGER again AFTER UPDATE ON sessions"
     " BEGIN UPDATE sessions SET title = ''; END"},
    {"trigger", "gone",
     "CREATE TRIGGER gone AFTER INSERT ON records"
     " BEGIN DELETE FROM messages; END"},
    {"view", "names", "CREATE VIEW names AS SELECT id FROM sessions"},
    {"table", "notes", "CREATE TABLE notes (text TEXT)"},
    {"index", "by_title", "CREATE INDEX by_title ON sessions (title)"}};
  for (const auto& x : all) {
    raw_sqlite{file}.run(x.at(2));
    const auto reason = error();
    EXPECT_EQ(reason.code(), errc::failed_precondition) << x.at(1);
    EXPECT_TRUE(says(reason, "the " + x.at(0) + " \"" + x.at(1) + '"'))
      << reason.what();
    EXPECT_EQ(raw_sqlite{file}.number("SELECT count(*) FROM sqlite_schema"
                                      " WHERE name = '"
                                      + x.at(1) + '\''),
              1);
    raw_sqlite{file}.run("DROP " + x.at(0) + ' ' + x.at(1));
    EXPECT_EQ(error().code(), errc::ok) << x.at(1);
  }
  raw_sqlite{file}.run("ANALYZE");
  EXPECT_EQ(error().code(), errc::ok);
}

TEST_F(sqlite_file, is_damaged_without_what_a_store_has) {
  { const file_store store{file}; }
  raw_sqlite{file}.run("DROP INDEX records_by_state");
  EXPECT_EQ(error().code(), errc::data_loss);
  // the same name, but for fewer rows
  raw_sqlite{file}.run("CREATE INDEX records_by_state ON records (state)"
                       " WHERE state < 7");
  EXPECT_EQ(error().code(), errc::data_loss);
  raw_sqlite{file}.run("DROP INDEX records_by_state;"
                       "CREATE INDEX records_by_state ON records (state)");
  EXPECT_EQ(error().code(), errc::ok);
}

TEST_F(sqlite_file, of_an_old_version_is_compared_with_that_version) {
  const std::array one{first_version};
  const std::array two{first_version, second_version};
  open(one);
  raw_sqlite{file}.run("CREATE TRIGGER t AFTER INSERT ON words"
                       " BEGIN DELETE FROM words; END");
  EXPECT_EQ(error_of([&] { open(two); }).code(), errc::failed_precondition);
  EXPECT_EQ(raw_sqlite{file}.number("PRAGMA user_version"), 1);
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
  open(one);
  raw_sqlite{file}.run("INSERT INTO words VALUES ('one')");
  for (int i = 0; i < 2; ++i) { // the second time there is nothing to do
    open(two);
    raw_sqlite db{file};
    EXPECT_EQ(db.number("PRAGMA user_version"), 2);
    EXPECT_EQ(db.texts("SELECT text FROM words"),
              (std::vector<std::string>{"one!", "two!"}));
  }
  const auto reason = error_of([&] {
    open(one);
    return 0;
  });
  EXPECT_EQ(reason.code(), errc::failed_precondition);
}

TEST_F(sqlite_file, stays_as_it_was_if_a_step_to_a_new_version_fails) {
  const std::array one{first_version};
  const std::array wrong{first_version, second_version, wrong_version};
  open(one);
  const auto reason = error_of([&] {
    open(wrong);
    return 0;
  });
  EXPECT_EQ(reason.code(), errc::internal);
  raw_sqlite db{file};
  EXPECT_EQ(db.number("PRAGMA user_version"), 1);
  EXPECT_EQ(db.count("words"), 0);
}

// -- older files --------------------------------------------------------------

TEST_F(sqlite_store, a_file_of_any_older_version_keeps_everything) {
  const auto expect_content = [&](file_store& old) {
    EXPECT_EQ(old.get(verify_sessions_request{}).damages,
              std::vector<damage>{});
    const auto said = [](const state& x, const char* text) {
      return x.with_messages(x.messages().with(ai::model_text(text)));
    };
    const auto second
      = talk(3).with_custom(payload::of(std::string{"ö\n\"x\""}));
    const auto third = said(
      second.with_artifact({"file", {ai::part::text("content")}}), "more");
    const auto sessions = old.get(list_sessions_request{}).sessions;
    ASSERT_EQ(sessions.size(), 4u);
    const auto expect = [&](std::size_t i, const session_ref& session,
                            const char* preview, const state& content) {
      const auto& info = sessions[i];
      EXPECT_EQ(info.agent, session.agent);
      EXPECT_EQ(info.id, session.id);
      EXPECT_EQ(info.title, "");
      EXPECT_EQ(info.preview, preview) << i;
      const auto& log = content.messages();
      EXPECT_EQ(info.messages, log.size()) << i;
      EXPECT_EQ(info.bytes, log.empty() ? 0 : to_json_text(log).size()) << i;
      const auto found = old.get(get_session_request{session});
      EXPECT_EQ(found.info, info);
      EXPECT_EQ(found.content, content) << i;
    };
    expect(0, at("s"), "message 2", said(third, "draft"));
    expect(1, at("t"), "message 2", said(third, "the end"));
    expect(2, at("s", "/agent/b"), "message 1", talk(2));
    expect(3, at("u", "/agent/b"), "", number(7));
    EXPECT_EQ(sessions[0].head, 3u);
    EXPECT_EQ(sessions[0].next_turn, 9u);

    list_snapshots_request all{at("s")};
    all.with_orphans = true;
    all.detail = detail_level::state;
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
    // the session can be continued
    const auto next = said(third, "on");
    EXPECT_EQ(old
                .get(save_snapshot_request{record(at("s"), next, 3), next,
                                           append_rule::at_head})
                .record.sequence,
              6u);
  };
  const auto newest = sqlite_schema().size();
  for (std::size_t version = 1; version < newest; ++version) {
    SCOPED_TRACE(version);
    const scratch folder;
    const auto file = folder / "old.db";
    std::filesystem::copy_file(
      TERTULIA_SOURCE_DIR "/tests/support/sqlite_version_1.db", file);
    {
      file_hold hold{file.string(), std::chrono::seconds{5}};
      (void)open_sqlite(hold, {}, sqlite_schema().first(version));
    }
    const auto version_now
      = [&] { return raw_sqlite{file}.number("PRAGMA user_version"); };
    EXPECT_EQ(version_now(), static_cast<std::int64_t>(version));
    file_store old{file};
    EXPECT_EQ(version_now(), static_cast<std::int64_t>(newest));
    list_sessions_request
      recent; // found through an index that older files lack
    recent.updated_since = caf::timestamp{std::chrono::hours{1}};
    EXPECT_EQ(old.get(recent), old.get(list_sessions_request{}));
    expect_content(old);
  }
}

TEST_F(sqlite_store, an_older_file_keeps_its_copies_and_its_damage) {
  const scratch folder;
  const auto file = folder / "old.db";
  std::filesystem::copy_file(
    TERTULIA_SOURCE_DIR "/tests/support/sqlite_version_1.db", file);
  {
    file_hold hold{file.string(), std::chrono::seconds{5}};
    (void)open_sqlite(hold, {}, sqlite_schema().first(3));
  }
  raw_sqlite{file}.run(
    "CREATE TEMP VIEW origin AS SELECT * FROM sessions"
    " WHERE agent = '/agent/a' AND id = 's';"
    "INSERT INTO sessions SELECT 99, agent, 'copy', created_at, updated_at,"
    " head, next_turn, last_sequence, records, state, title, preview, messages,"
    " bytes, 0, updated_hour FROM origin;"
    "INSERT INTO records SELECT 99, sequence, state, parent, run, depth,"
    " turn_index, event, created_at, own_id, note, 0 FROM records"
    " WHERE session = (SELECT key FROM origin);"
    "UPDATE sessions AS s SET checksum = " TERTULIA_SESSION_CHECKSUM(
      "s") " WHERE key = 99;"
           "UPDATE records AS r SET checksum = " TERTULIA_RECORD_CHECKSUM(
             "r") " WHERE session = 99;"
                  "UPDATE records SET depth = 77 WHERE session = 99 AND "
                  "sequence = 3;"
                  "UPDATE sessions SET title = 'x' WHERE id = 'u'");
  file_store old{file};
  const auto damages = old.get(verify_sessions_request{}).damages;
  ASSERT_EQ(damages.size(), 2u);
  EXPECT_EQ(damages[0].where, at("copy"));
  EXPECT_NE(damages[0].sequence, 0u);
  EXPECT_EQ(damages[1].where, at("u", "/agent/b"));
  EXPECT_EQ(damages[1].sequence, 0u);

  const auto states_of = [&](const session_ref& x) {
    std::vector<std::string> result;
    list_snapshots_request all{x};
    all.with_orphans = true;
    all.detail = detail_level::state;
    for (const auto& y : old.get(all).snapshots)
      if (y.record.sequence != 3)
        result.push_back(y.content.text());
    return result;
  };
  const auto before = states_of(at("s"));
  EXPECT_EQ(before.size(), 2u);
  EXPECT_EQ(states_of(at("copy")), before);
  EXPECT_EQ(old.code(get_snapshot_request{snapshot_ref{at("copy"), 3}}),
            errc::data_loss);
  old.get(delete_session_request{at("s")});
  EXPECT_EQ(states_of(at("copy")), before);
  EXPECT_EQ(old.get(verify_sessions_request{}).damages, damages);

  for (const auto& x :
       {at("copy"), at("t"), at("s", "/agent/b"), at("u", "/agent/b")})
    old.get(delete_session_request{x});
  raw_sqlite db{file};
  for (const auto* table : {"records", "labels", "sessions", "blobs",
                            "messages", "branches", "shares"})
    EXPECT_EQ(db.count(table), 0) << table;
}

} // namespace tertulia::test::sqlite_tests
