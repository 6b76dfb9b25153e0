// SPDX-License-Identifier: BSD-3-Clause

// Changes that become durable in one transaction, and when they do.

#include <caf/all.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "support/file_store.hpp"
#include "support/sqlite_files.hpp"
#include "support/sqlite_fixture.hpp"

using namespace std::literals;

namespace tertulia::test::sqlite_tests {

TEST_F(sqlite_store, changes_that_wait_share_one_transaction) {
  const scratch folder;
  file_store other{folder / "other.db"};
  const auto before = other.commits();
  constexpr int count = 100;
  other.batch([&] {
    for (int i = 0; i < count; ++i)
      other.send(save_session_request{at(std::to_string(i)), number(i), 0});
    // a change that cannot be made, and a read of data that is not durable yet
    other.send(delete_session_request{at("nobody")});
    other.send(get_session_request{at("7")});
  });
  int saved = 0;
  int failed = 0;
  int seen = 0;
  other.receive(
    count + 2, [&](const session_info&) { ++saved; },
    [&](const stored_session& x) {
      EXPECT_EQ(saved, count) << "the read was answered before the commit";
      seen += x.content == number(7);
    },
    [&](const caf::error& x) { failed += code_of(x) == errc::not_found; });
  EXPECT_EQ(saved, count);
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(failed, 1);
  EXPECT_EQ(other.commits() - before, 1u);
}

TEST_F(sqlite_store, who_waits_for_the_file_takes_nobody_elses_thread) {
  const scratch folder;
  const auto file = folder / "other.db";
  caf::actor_system_config cfg;
  cfg.set("scheduler.max-threads", std::size_t{1});
  caf::actor_system all{cfg};
  caf::scoped_actor self{all};
  const auto other = spawn_sqlite_store(all, file);
  const auto echo = all.spawn([](caf::event_based_actor*) {
    return caf::behavior{[](int x) { return x; }};
  });
  self->request(other, 30s, list_sessions_request{})
    .receive([](const session_page&) {},
             [](const caf::error& x) { FAIL() << caf::to_string(x); });
  {
    raw_sqlite busy{file};
    busy.run("BEGIN IMMEDIATE");
    self->send(other, save_session_request{at("s"), number(1), 0});
    self->request(echo, 30s, 7)
      .receive([](int x) { EXPECT_EQ(x, 7); },
               [](const caf::error&) { FAIL(); });
    busy.run("ROLLBACK");
  }
  self->receive([](const session_info& x) { EXPECT_EQ(x.id.str(), "s"); },
                [](const caf::error& x) { FAIL() << caf::to_string(x); });
  for (const auto& x : {caf::actor_cast<caf::actor>(other), echo}) {
    self->send_exit(x, caf::exit_reason::user_shutdown);
    self->wait_for(x);
  }
}

TEST_F(sqlite_store, a_transaction_has_an_end) {
  const scratch folder;
  sqlite_options options;
  options.max_batch = 10;
  file_store other{folder / "other.db", options};
  const auto before = other.commits();
  other.batch([&] {
    for (int i = 0; i < 100; ++i)
      other.send(save_session_request{at(std::to_string(i)), number(i), 0});
  });
  other.receive(100, [](const session_info&) {});
  EXPECT_EQ(other.commits() - before, 10u);
}

TEST_F(sqlite_store, a_change_that_cannot_be_made_changes_nothing) {
  save(at("s"), talk(3), 0);
  // rejects the record, which comes last: everything else is written by then
  raw().run("CREATE TRIGGER no BEFORE INSERT ON records"
            " WHEN NEW.turn_index = 7 BEGIN SELECT raise(FAIL, 'no'); END");
  auto wrong = record(at("s"), talk(5), 1);
  wrong.turn_index = 7;
  EXPECT_EQ(code(save_snapshot_request{wrong, talk(5), append_rule::at_head}),
            errc::internal);
  EXPECT_EQ(raw().count("messages"), 3);
  EXPECT_EQ(raw().count_states(), 1);
  EXPECT_EQ(info(at("s")).head, 1u);
  EXPECT_TRUE(save(at("s"), talk(5), 1).created);
  EXPECT_EQ(load(2).content.text(), talk(5).text());
}

TEST_F(sqlite_store, a_change_that_fails_half_way_harms_nobody_in_its_batch) {
  const scratch folder;
  file_store other{folder / "other.db"};
  // its state is written before the failure
  raw_sqlite{folder / "other.db"}.run(
    "CREATE TRIGGER no BEFORE INSERT ON sessions WHEN NEW.id = '2'"
    " BEGIN SELECT raise(FAIL, 'no'); END");
  other.batch([&] {
    for (int i = 1; i <= 3; ++i)
      other.send(save_session_request{at(std::to_string(i)), number(i), 0});
  });
  std::vector<std::string> saved;
  int failed = 0;
  other.receive(
    3, [&](const session_info& x) { saved.push_back(x.id.str()); },
    [&](const caf::error& x) { failed += code_of(x) == errc::internal; });
  EXPECT_EQ(saved, (std::vector<std::string>{"1", "3"}));
  EXPECT_EQ(failed, 1);
  for (const auto i : {1, 3})
    EXPECT_EQ(other.get(get_session_request{at(std::to_string(i))}).content,
              number(i));
  EXPECT_EQ(raw_sqlite{folder / "other.db"}.count_states(), 2);
}

TEST_F(sqlite_store, a_commit_that_fails_harms_only_who_made_it_fail) {
  const scratch folder;
  file_store other{folder / "other.db"};
  other.get(save_session_request{at("first"), number(1), 0});
  // makes any commit with it fail: this foreign key is checked at the end
  raw_sqlite{folder / "other.db"}.run(
    "CREATE TABLE wrong (session INTEGER REFERENCES sessions"
    " DEFERRABLE INITIALLY DEFERRED);"
    "CREATE TRIGGER no AFTER INSERT ON sessions WHEN NEW.id = 'bad'"
    " BEGIN INSERT INTO wrong VALUES (12345); END");
  const auto save = [](const char* name) {
    return save_session_request{at(name), number(2), 0};
  };
  other.send_batch(save("good"), save("bad"), save("better"),
                   get_session_request{at("first")});
  std::vector<std::string> saved;
  int seen = 0;
  int failed = 0;
  other.receive(
    4, [&](const session_info& x) { saved.push_back(x.id.str()); },
    [&](const stored_session&) { ++seen; },
    [&](const caf::error& x) { failed += code_of(x) == errc::data_loss; });
  EXPECT_EQ(saved, (std::vector<std::string>{"good", "better"}));
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(failed, 1);
  EXPECT_EQ(other.get(list_sessions_request{}).sessions.size(), 3u);
  EXPECT_EQ(other.get(get_session_request{at("good")}).content, number(2));
}

TEST_F(sqlite_store, what_was_answered_is_in_the_files) {
  auto content = talk(3);
  std::uint64_t parent = 0;
  for (int i = 0; i < 10; ++i) {
    parent = save(at("s"), content, parent).record.sequence;
    // the files that a process would leave if it died now
    const scratch folder;
    const auto copy = folder / "copy.db";
    const auto file = factory().file;
    sqlite_files::copy_store(file, copy);
    file_store after{copy};
    const auto found = after.get(get_session_request{at("s")});
    EXPECT_EQ(found.info.head, parent);
    EXPECT_EQ(found.content.text(), content.text());
    content = longer(content, "more");
  }
}

} // namespace tertulia::test::sqlite_tests
