// SPDX-License-Identifier: BSD-3-Clause

#include <fstream>

#include "support/raw_sqlite.hpp"
#include "support/session_files.hpp"

namespace tertulia::test::session_file_tests {

namespace {

struct session_file : session_files {};

} // namespace

TEST_F(session_file, what_was_exported_is_imported_as_it_was) {
  for (auto i = 0; i < 2; ++i) {
    const auto of = make_session(from);
    const auto made = imported(to, exported(from, of));
    const auto before = ask(from, get_session_request{of});
    const auto after = ask(to, get_session_request{of});
    EXPECT_EQ(after.info, made);
    EXPECT_GE(after.info.created_at, before.info.updated_at);
    EXPECT_EQ(after.info.head, before.info.head);
    EXPECT_EQ(after.info.next_turn, 9u);
    EXPECT_EQ(after.info.title, "Tea \"x\"");
    EXPECT_EQ(after.info.preview, before.info.preview);
    EXPECT_EQ(after.info.records, 7u);
    EXPECT_EQ(after.head, before.head);
    EXPECT_EQ(after.content, before.content);
    EXPECT_EQ(all(to, of), all(from, of));
    EXPECT_EQ(ask(to, list_sessions_request{}).sessions.size(), 1u);
    // only the times of the session differ, and thus the hash
    auto theirs = lines(exported(to, of));
    auto ours = lines(exported(from, of));
    ASSERT_EQ(theirs.size(), 9u);
    ASSERT_EQ(ours.size(), 9u);
    for (const auto line : {1, 2, 3, 4, 5, 6, 7})
      EXPECT_EQ(theirs[line], ours[line]);
    ask(from, delete_session_request{of});
    ask(to, delete_session_request{of});
    std::swap(from, to); // and back
  }
}

TEST_F(session_file, versions_of_states_are_kept) {
  const auto of = at("s");
  const auto first = keep(from, of, version(1, talk(2)), 0);
  const auto second = keep(from, of, version(2, talk(2)), first);
  keep(from, of, talk(3), second);
  ask(from, save_session_request{of, version(3, talk(3)), 4});
  const auto text = exported(from, of);
  imported(to, text);
  EXPECT_EQ(all(to, of), all(from, of));
  EXPECT_EQ(all(to, of)[1].content, version(2, talk(2)));
  EXPECT_EQ(ask(to, get_session_request{of}).content, version(3, talk(3)));
  // a default type is not written, so older files do not have one
  const auto told = lines(text);
  const auto tells = [&](std::size_t line, const char* what) {
    return told.at(line).find(what) != std::string::npos;
  };
  EXPECT_TRUE(tells(1, R"("type":{"name":"app.memo","version":1})"));
  EXPECT_TRUE(tells(2, R"("type":{"name":"app.memo","version":2})"));
  EXPECT_FALSE(tells(3, R"("type")"));
  EXPECT_TRUE(tells(4, R"("type":{"name":"app.memo","version":3})"));
}

TEST_F(session_file, a_session_without_records_is_exported_too) {
  ask(from, save_session_request{at("s"), talk(2), 4});
  const auto info = imported(to, exported(from, at("s")));
  EXPECT_EQ(info.next_turn, 4u);
  EXPECT_EQ(info.head, 0u);
  EXPECT_EQ(ask(to, get_session_request{at("s")}).content, talk(2));
}

TEST_F(session_file, the_names_of_turns_are_exported_too) {
  save_session_request change{at("s"), talk(2), 4};
  for (const auto* name : {"a", "b", "c"}) {
    change.inputs = change.inputs.value_or(0) + 1;
    change.turn = turn_id{name};
    ask(from, change);
  }
  for (const auto has_name : {true, false}) {
    if (!has_name) {
      change.turn.reset();
      ++*change.inputs;
      ask(from, change);
    }
    const auto before = ask(from, get_session_request{at("s")}).info;
    const auto name = has_name ? "named" : "unnamed";
    const auto info = imported(to, exported(from, at("s")), at(name));
    EXPECT_EQ(info.inputs, before.inputs);
    EXPECT_EQ(info.turn, before.turn);
    EXPECT_EQ(info.past_turns, before.past_turns);
    EXPECT_EQ(info.past_turns.size(), has_name ? 2u : 3u);
  }
}

TEST_F(session_file, a_session_that_stands_at_its_head_does_so_again) {
  keep(from, at("s"), talk(2), 0);
  imported(to, exported(from, at("s")));
  const auto session = ask(to, get_session_request{at("s")});
  EXPECT_EQ(session.content, talk(2));
  EXPECT_EQ(session.info.next_turn, 4u);
  EXPECT_EQ(session.head.record.sequence, 1u);
}

TEST_F(session_file, an_import_can_have_another_name) {
  const auto text = exported(from, make_session(from));
  const auto info = imported(from, text, at("t", ""));
  EXPECT_EQ(info.agent, "/agent/a");
  EXPECT_EQ(info.id, session_id{"t"});
  EXPECT_EQ(imported(to, text, at("", "/agent/b")).agent, "/agent/b");
  EXPECT_EQ(all(to, at("s", "/agent/b")).at(0).record.agent, "/agent/b");
}

TEST_F(session_file, an_import_replaces_nobody) {
  const auto text = exported(from, make_session(from));
  ask(to, save_session_request{at("s"), number(1), 0});
  EXPECT_EQ(refusal(text).code(), errc::already_exists);
  EXPECT_EQ(ask(to, get_session_request{at("s")}).content, number(1));
}

TEST_F(session_file, what_is_not_there_is_not_exported) {
  std::ostringstream file;
  EXPECT_EQ(error_of([&] {
              return export_session(system, from, at("s"), file);
            }).code(),
            errc::not_found);
  EXPECT_TRUE(file.str().empty());
}

TEST_F(session_file, a_file_that_takes_no_more_is_no_export) {
  const auto of = make_session(from);
  std::ofstream full{"/dev/full"};
  ASSERT_TRUE(full);
  const auto error
    = test::error_of([&] { return export_session(system, from, of, full); });
  EXPECT_EQ(error.code(), errc::unavailable);
  EXPECT_EQ(error.message(), "the file cannot be written");
}

TEST_F(session_file, what_is_damaged_is_named_and_stops_no_other_export) {
  keep(to, at("s"), talk(1), 0);
  keep(to, at("s"), number(2), 1);
  keep(to, at("s"), talk(3), 2);
  keep(to, at("t"), number(4), 0);
  const auto before = exported(to, at("t"));
  test::raw_sqlite db{folder / "sessions.db"};
  for (const auto* damage :
       {"UPDATE blobs SET text = '7' WHERE text = '2'",
        "UPDATE records SET depth = 7 WHERE sequence = 2",
        "UPDATE sessions SET title = 'x' WHERE id = 's'"}) {
    db.run(damage);
    const auto error = test::error_of([&] { return exported(to, at("s")); });
    EXPECT_EQ(error.code(), errc::data_loss);
    const auto is_of_the_session = std::string{damage}.find("sessions") < 10;
    EXPECT_EQ(error.message().find("record 2 of session \"s\"") == 0,
              !is_of_the_session)
      << error.message();
    EXPECT_NE(error.message().find("session \"s\" of /agent/a"),
              std::string::npos);
    EXPECT_EQ(exported(to, at("t")), before);
  }
}

TEST_F(session_file, a_session_that_changes_meanwhile_is_not_exported) {
  const auto of = make_session(from);
  std::ostringstream file;
  session_file_options options;
  options.progress = [&](std::uint64_t done, std::uint64_t all) {
    EXPECT_EQ(all, 7u);
    if (done == 4)
      ask(from, save_session_request{of, number(1), 1});
  };
  EXPECT_EQ(error_of([&] {
              return export_session(system, from, of, file, options);
            }).code(),
            errc::aborted);
  EXPECT_EQ(refusal(file.str()).code(), errc::data_loss);
}

TEST_F(session_file, a_message_is_in_the_file_once) {
  constexpr int count = 300;
  auto content = talk(0);
  std::uint64_t parent = 0;
  for (int i = 0; i < count; ++i) {
    content = longer(content, std::string(1'000, 'x'));
    parent = keep(to, at("s"), content, parent);
  }
  const auto text = exported(to, at("s"));
  EXPECT_LT(text.size(), 2u * count * 1'000);
  imported(from, text);
  EXPECT_EQ(all(from, at("s")).size(), 100u); // one page
  EXPECT_EQ(ask(from, get_session_request{at("s")}).content, content);
}

} // namespace tertulia::test::session_file_tests
