// SPDX-License-Identifier: BSD-3-Clause

// Kinds of damage in a file are distinguished, and do not affect other data.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "support/sqlite_fixture.hpp"

namespace tertulia::test::sqlite_tests {

TEST_F(sqlite_store, damage_to_messages_is_told_apart) {
  save(at("s"), talk(3), 0);
  save(at("t"), number(1), 0);
  const snapshot_ref snapshot{at("s"), 1};
  struct row {
    const char* damage;
    const char* message; // part of it; empty without damage
  };
  for (const auto& x : std::vector<row>{
         {"UPDATE messages SET text = replace(text, '1', '7')", "corrupt"},
         {"UPDATE messages SET text = replace(text, '7', '1')", ""},
         {"UPDATE messages SET text = replace(text, '2\"}', '2')", "corrupt"},
         {"DELETE FROM messages WHERE key % 4294967296 = 1", "missing"},
         {"PRAGMA foreign_keys = OFF; DELETE FROM branches", "missing"}}) {
    SCOPED_TRACE(x.damage);
    raw().run(x.damage);
    const auto is_damaged = *x.message != '\0';
    const auto expected = is_damaged ? errc::data_loss : errc::ok;
    EXPECT_EQ(code(restore_snapshot_request{snapshot}), expected);
    EXPECT_EQ(code(get_snapshot_request{snapshot}), expected);
    if (is_damaged) {
      EXPECT_NE(store.error().message().find(x.message), std::string::npos);
    }
    EXPECT_EQ(code(get_snapshot_request{snapshot, detail_level::record}),
              errc::ok);
    EXPECT_EQ(code(at("t"), 1), errc::ok);
  }
}

TEST_F(sqlite_store, a_save_behind_damage_is_whole) {
  const auto content = talk(5);
  save(at("s"), content, 0);
  for (const auto* damage :
       {"DELETE FROM messages", "UPDATE messages SET text = '{}'"}) {
    raw().run(damage);
    store.reopen(); // cached data would hide the damage to a text
    const auto head
      = get(get_session_request{at("s"), detail_level::record}).info.head;
    const auto next = longer(content, damage);
    const auto saved = save(at("s"), next, head);
    EXPECT_EQ(load(saved.record.sequence).content.text(), next.text());
  }
}

TEST_F(sqlite_store, a_save_behind_a_gap_that_was_made_meanwhile_is_whole) {
  const auto content = talk(5);
  save(at("s"), content, 0);
  raw().run("DELETE FROM messages WHERE key & 0xffffffff = 4");
  const auto next = longer(content, "more");
  const auto saved = save(at("s"), next, 1);
  EXPECT_EQ(load(saved.record.sequence).content.text(), next.text());
}

TEST_F(sqlite_store, a_save_with_a_value_that_was_damaged_mends_it) {
  const auto value = payload::of(std::string{"a value"});
  save(at("s"), talk(1).with_custom(value), 0);
  raw().run("UPDATE blobs SET text = replace(text, 'value', 'thing')");
  EXPECT_EQ(code(at("s"), 1), errc::data_loss);
  save(at("s"), talk(2).with_custom(value), 1);
  EXPECT_EQ(load(2).content, talk(2).with_custom(value));
  EXPECT_EQ(load(1).content, talk(1).with_custom(value));
  EXPECT_EQ(raw().count("blobs"), 1);
}

TEST_F(sqlite_store, records_and_lists_do_not_touch_messages_and_values) {
  save(at("s"), talk(3).with_custom(payload::of(1)), 0);
  save(at("s"), talk(4).with_custom(payload::of(2)), 1);
  raw().run("PRAGMA foreign_keys = OFF;"
            "DELETE FROM messages; DELETE FROM blobs; DELETE FROM branches");
  const snapshot_ref snapshot{at("s"), 2};
  EXPECT_EQ(code(get_snapshot_request{snapshot}), errc::data_loss);
  EXPECT_EQ(code(get_snapshot_request{snapshot, detail_level::record}),
            errc::ok);
  EXPECT_EQ(code(get_session_request{at("s"), detail_level::record}), errc::ok);
  EXPECT_EQ(sequences(at("s"), true).size(), 2u);
  EXPECT_EQ(get(list_sessions_request{}).sessions.size(), 1u);
  EXPECT_EQ(code(label_snapshot_request{snapshot}), errc::ok);
}

TEST_F(sqlite_store, verification_finds_each_kind_of_damage_and_no_other) {
  auto content = talk(3);
  std::uint64_t parent = 0;
  for (int i = 0; i < 6; ++i) {
    parent = save(at("s"), content, parent).record.sequence;
    content = longer(content.with_custom(payload::of(i)), "more");
  }
  save(at("t"), talk(1).with_artifact({"file", {ai::part::text("x")}}), 0);
  work_on(at("u"), talk(0), 0);
  work_on(at("v"), state::plain({}), 0);
  get(
    save_session_request{at("w"), talk(0).with_custom(payload::of(json{})), 0});
  EXPECT_EQ(damages(), std::vector<damage>{});

  const auto found = [&](const std::string& sql) {
    raw().run(sql);
    std::string result;
    for (const auto& x : damages())
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
  raw().run("UPDATE sessions SET head = 3, records = 4 WHERE id = 's';"
            "UPDATE records SET parent = 9 WHERE sequence = 2;"
            "UPDATE records SET run = 9 WHERE sequence = 4");
  seal_rows(factory().file);
  EXPECT_EQ(found(""),
            "s0 missing; s0 corrupt; s0 state missing; s2 corrupt; s4 missing;"
            " s4 corrupt; s5 state corrupt; s6 state missing; ");
  EXPECT_EQ(found("UPDATE sessions SET title = 'x' WHERE id = 't';"
                  "UPDATE records SET depth = 9 WHERE sequence = 1"),
            "s0 missing; s0 corrupt; s0 state missing; s1 corrupt; s2 corrupt;"
            " s4 missing; s4 corrupt; s5 state corrupt; s6 state missing;"
            " t0 corrupt; t1 corrupt; ");
}

TEST_F(sqlite_store, a_damaged_state_is_not_a_basis_for_another_one) {
  save(at("s"), talk(3), 0);
  raw().run("UPDATE records SET length = 2; UPDATE sessions SET length = 2");
  EXPECT_EQ(code(save_session_request{at("t"), talk(4), 0}), errc::ok);
  EXPECT_EQ(code(save_session_request{
              at("s"), talk(4), 1, {{1, talk(3).id(), talk(3).type()}}}),
            errc::data_loss);
  EXPECT_EQ(content(at("t")), talk(4));
}

TEST_F(sqlite_store, a_state_whose_type_is_none_is_corrupt) {
  save(at("s"), version(1, talk(3)), 0);
  save(at("s"), talk(4), 1);
  const std::array wrong{"app.memo", "app.memo 0", "app.memo 4294967296",
                         "app.memo 01", "app memo 1"};
  for (const std::string what : wrong) {
    raw().run("UPDATE records SET type = '" + what + "' WHERE length = 3");
    seal_rows(factory().file);
    EXPECT_EQ(code(at("s"), 1), errc::data_loss) << what;
    const auto damages = this->damages();
    ASSERT_EQ(damages.size(), 1u) << what;
    EXPECT_EQ(damages[0].kind, damage_kind::corrupt);
    EXPECT_EQ(damages[0].sequence, 1u);
    EXPECT_EQ(content(at("s")), talk(4)) << what;
    raw().run("UPDATE records SET type = 'app.memo 1' WHERE length = 3");
    seal_rows(factory().file);
  }
}

TEST_F(sqlite_store, a_record_whose_columns_mean_nothing_is_corrupt) {
  for (const std::string wrong :
       {"event = 'x'", "form = 2", "state = x'00'", "type = 'x'"}) {
    save(at(wrong), number(1), 0);
    save(at(wrong), number(2), 1);
    raw().run("UPDATE records SET " + wrong
              + " WHERE sequence = 1 AND session = (SELECT max(key) FROM"
                " sessions)");
    seal_rows(factory().file);
    EXPECT_EQ(code(at(wrong), 1), errc::data_loss) << wrong;
    EXPECT_EQ(content(at(wrong), 2), number(2)) << wrong;
  }
  EXPECT_EQ(damages().size(), 4u);
}

} // namespace tertulia::test::sqlite_tests
