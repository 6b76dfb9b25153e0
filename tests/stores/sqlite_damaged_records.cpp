// SPDX-License-Identifier: BSD-3-Clause

// Damage to a record or a session does not stop requests that do not need it.

#include <tertulia/status.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/sqlite_fixture.hpp"

namespace tertulia::test::sqlite_tests {

namespace {

using strings = std::vector<std::string>;

strings names_of(const std::vector<damage>& damages) {
  strings result;
  for (const auto& x : damages)
    result.push_back(
      x.where.id.str() + std::to_string(x.sequence)
      + (x.kind == damage_kind::corrupt ? " corrupt" : " missing"));
  return result;
}

/// Returns a condition that selects a record.
std::string is_record(const std::string& session, int sequence) {
  return " session = (SELECT key FROM sessions WHERE id = '" + session
         + "') AND sequence = " + std::to_string(sequence);
}

} // namespace

TEST_F(sqlite_store, pruning_leaves_what_is_damaged_and_drops_the_rest) {
  save_all(at("s"), {1, 2, 3, 4, 5, 6});
  save_all(at("t"), {11, 12, 13});
  save_all(at("u"), {21, 22, 23});
  save_all(at("v"), {31, 32, 33});
  raw().run("UPDATE records SET depth = 9 WHERE" + is_record("s", 3));
  raw().run("UPDATE records SET type = 'x 7' WHERE" + is_record("s", 2));
  raw().run("UPDATE sessions SET title = 'x' WHERE id = 't'");

  prune_snapshots_request one;
  one.agent = at("s").agent;
  one.session = at("s").id;
  one.keep_newest = 2; // of the readable records: 5, 6
  const auto first = get(one);
  EXPECT_EQ(first.records, 1u); // the parent of a damaged record stays
  EXPECT_EQ(names_of(first.damages), (strings{"s2 corrupt", "s3 corrupt"}));
  EXPECT_EQ(sequences(at("s"), true), (std::vector<std::uint64_t>{1, 5, 6}));

  const auto all = get(prune_snapshots_request{});
  EXPECT_EQ(all.records, 1u + 2u + 2u);
  EXPECT_EQ(names_of(all.damages),
            (strings{"t0 corrupt", "s2 corrupt", "s3 corrupt"}));
  EXPECT_EQ(sequences(at("s"), true), (std::vector<std::uint64_t>{1, 6}));
  EXPECT_EQ(sequences(at("u"), true), std::vector<std::uint64_t>{3});
  EXPECT_EQ(sequences(at("v"), true), std::vector<std::uint64_t>{3});

  one.session = at("t").id;
  const auto none = get(one);
  EXPECT_EQ(none.records, 0u);
  EXPECT_EQ(names_of(none.damages), strings{"t0 corrupt"});

  // The records that pruning left are intact once their damage is undone.
  raw().run("UPDATE records SET depth = 2 WHERE" + is_record("s", 3));
  raw().run("UPDATE records SET type = '' WHERE" + is_record("s", 2));
  raw().run("UPDATE sessions SET title = '' WHERE id = 't'");
  EXPECT_EQ(sequences(at("s")), (std::vector<std::uint64_t>{1, 2, 3, 6}));
  EXPECT_EQ(read(at("s"), 2).parent, 1u);
  EXPECT_EQ(load(3).content, number(3));
  EXPECT_EQ(load(2).content, number(2));
  EXPECT_EQ(names_of(damages()), strings{});
  EXPECT_EQ(get(prune_snapshots_request{}).records, 3u + 2u);
}

TEST_F(sqlite_store, pruning_leaves_the_messages_of_what_is_damaged) {
  // 1 - 2 - 3, 1 - 4 - 5: no other record needs the last message of 3.
  const auto first = longer(talk(1), "first");
  const auto second = longer(first, "second");
  const auto third = longer(second, "third");
  const auto other = longer(first, "other");
  save(at("s"), first, 0);
  save(at("s"), second, 1);
  save(at("s"), third, 2);
  save(at("s"), other, 1, append_rule::anywhere);
  save(at("s"), longer(other, "another"), 4);
  raw().run("UPDATE records SET depth = 9 WHERE" + is_record("s", 3));
  EXPECT_EQ(get(prune_snapshots_request{}).records, 2u);
  raw().run("UPDATE records SET depth = 2 WHERE" + is_record("s", 3));
  EXPECT_EQ(sequences(at("s"), true), (std::vector<std::uint64_t>{2, 3, 5}));
  EXPECT_EQ(load(3).content, third);
}

TEST_F(sqlite_store, a_copy_needs_the_records_that_it_gets_and_no_others) {
  save_all(at("s"), {1, 2, 3, 4});
  save(at("s"), number(5), 2, append_rule::anywhere);
  save_all(at("t"), {1, 2});
  const auto copy = [&](std::uint64_t up_to) {
    const auto result = code(copy_session_request{at("s"), at("copy"), up_to});
    if (result == errc::ok) {
      verify_sessions_request x;
      x.agent = at("copy").agent;
      x.session = at("copy").id;
      EXPECT_EQ(get(x).damages, std::vector<damage>{});
      get(delete_session_request{at("copy")});
    }
    return result;
  };
  const auto is_refused = [&](std::uint64_t up_to, const char* reason) {
    return copy(up_to) == errc::data_loss
           && store.error().message().find(reason) != std::string::npos;
  };
  raw().run("UPDATE records SET turn_index = 9 WHERE" + is_record("s", 3));
  EXPECT_TRUE(is_refused(0, "record 3 is corrupt"));
  EXPECT_TRUE(
    is_refused(4, "record 3 of session \"s\" of /agent/a is corrupt"));
  EXPECT_TRUE(
    is_refused(3, "record 3 of session \"s\" of /agent/a is corrupt"));
  EXPECT_EQ(copy(2), errc::ok);
  EXPECT_EQ(copy(5), errc::ok);
  EXPECT_EQ(code(copy_session_request{at("t"), at("another")}), errc::ok);

  raw().run("DELETE FROM records WHERE" + is_record("s", 3));
  EXPECT_EQ(copy(0), errc::data_loss);
  EXPECT_TRUE(
    is_refused(4, "record 3 of session \"s\" of /agent/a is missing"));
  EXPECT_EQ(copy(2), errc::ok);
  EXPECT_EQ(copy(5), errc::ok);

  raw().run("DELETE FROM records WHERE" + is_record("s", 1));
  EXPECT_TRUE(
    is_refused(5, "record 1 of session \"s\" of /agent/a is missing"));
}

TEST_F(sqlite_store, a_way_is_whole_however_it_was_pruned) {
  // 1 - 2 - 3 - 4 - 5 - 6 - 7 - 8, 4 - 9 - 10 - 11, 9 - 12 - 13
  save_all(at("s"), {1, 2, 3, 4, 5, 6, 7, 8});
  for (const auto& [x, parent] :
       {std::pair{9, 4}, {10, 9}, {11, 10}, {12, 9}, {13, 12}})
    save(at("s"), number(x), static_cast<std::uint64_t>(parent),
         append_rule::anywhere);
  for (const std::uint64_t kept : {2, 3, 6, 10})
    label(at("s"), kept, {"kept"});
  prune_snapshots_request some;
  some.keep_newest = 2;
  get(some);
  const std::vector<std::vector<std::uint64_t>> ways{
    {2}, {2, 3}, {2, 3, 6}, {2, 3, 10}, {2, 3, 12}, {2, 3, 12, 13}};
  for (const auto& way : ways) {
    get(copy_session_request{at("s"), at("copy"), way.back()});
    EXPECT_EQ(sequences(at("copy"), true), way);
    get(delete_session_request{at("copy")});
  }
}

TEST_F(sqlite_store, a_session_is_known_without_its_head) {
  save_all(at("s"), {1, 2, 3});
  raw().run("UPDATE records SET depth = 9 WHERE" + is_record("s", 3));
  for (int i = 0; i < 2; ++i) {
    const auto found = get(get_session_request{at("s"), detail_level::record});
    EXPECT_EQ(found.info.head, 3u);
    EXPECT_FALSE(found.head);
    EXPECT_EQ(code(get_session_request{at("s")}), errc::data_loss);
    EXPECT_EQ(load(2).content, number(2));
    raw().run("DELETE FROM records WHERE" + is_record("s", 3));
  }
  EXPECT_EQ(restore(at("s"), 2).content, number(2));
  EXPECT_EQ(content(at("s")), number(2));
}

TEST_F(sqlite_store, what_is_behind_a_page_may_be_damaged) {
  save_all(at("s"), {1, 2, 3});
  save_all(at("t"), {1});
  raw().run("UPDATE records SET depth = 9 WHERE" + is_record("s", 3));
  raw().run("UPDATE sessions SET title = 'x' WHERE id = 't'");
  for (const auto with_orphans : {true, false}) {
    list_snapshots_request x{at("s")};
    x.with_orphans = with_orphans;
    x.limit = 2;
    const auto first = get(x);
    EXPECT_EQ(first.snapshots.size(), 2u);
    EXPECT_TRUE(first.more);
    EXPECT_EQ(names_of(first.damages), strings{});
    x.after = 2;
    const auto second = get(x);
    EXPECT_TRUE(second.snapshots.empty());
    EXPECT_FALSE(second.more);
    EXPECT_EQ(names_of(second.damages), strings{"s3 corrupt"});
  }
  list_sessions_request all;
  all.limit = 1;
  EXPECT_EQ(get(all).damages, std::vector<damage>{});
  EXPECT_TRUE(get(all).more);
  all.after = at("s");
  EXPECT_EQ(names_of(get(all).damages), strings{"t0 corrupt"});
}

} // namespace tertulia::test::sqlite_tests
