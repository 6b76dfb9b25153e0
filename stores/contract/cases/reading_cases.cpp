// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/json.hpp>
#include <tertulia/store.hpp>
#include <tertulia/store_contract.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

// Finding and reading of states and snapshots, and moving of heads.

namespace tertulia {

// -- states -------------------------------------------------------------------

TEST_P(store_contract, what_was_saved_is_returned) {
  const auto session = at("s");
  ai::message_log log{{ai::system_text("be \"brief\""), ai::user_text("ö\n")}};
  const ai::artifact_list artifacts{
    std::vector{ai::artifact{"file", {ai::part::text("content")}}}};
  const std::vector<state> all{
    state::plain({}),
    state::plain(payload::of(std::map<std::string, double>{{"x", 0.1}})),
    state::conversation({}, {}, {}),
    state::conversation(log, {}, {}),
    state::conversation(log, payload::of(std::string{"custom"}), {}),
    state::conversation(log, payload::of(1), artifacts)};
  std::uint64_t parent = 0;
  for (const auto& x : all)
    parent = save(session, x, parent).record.sequence;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto found = get(get_snapshot_request{snapshot_ref{session, i + 1}});
    EXPECT_EQ(found.content.form(), all[i].form());
    EXPECT_EQ(found.content.text(), all[i].text());
    EXPECT_EQ(found.content.id(), found.record.state);
  }
}

TEST_P(store_contract, logs_that_grow_from_a_state_leave_it_alone) {
  const auto session = at("s");
  const auto first = talk(2);
  const auto text = first.text();
  save(session, first, 0);
  for (const auto* next : {"one way", "the other"})
    save(session,
         first.with_messages(first.messages().with(ai::user_text(next))), 1,
         append_rule::anywhere);
  EXPECT_EQ(content(session, 1).text(), text);
  EXPECT_NE(content(session, 2).text(), content(session, 3).text());
}

TEST_P(store_contract, a_record_alone_comes_without_its_state) {
  const auto session = at("s");
  save_all(session, {1});
  const auto found
    = get(get_snapshot_request{snapshot_ref{session, 1}, detail_level::record});
  EXPECT_FALSE(found.content.custom());
}

TEST_P(store_contract, a_corrupt_state_is_data_loss) {
  const auto session = at("s");
  save_all(session, {1, 2});
  const auto before = info(session);
  if (!store.factory().corrupt(number(1).id()))
    GTEST_SKIP() << "the factory does not corrupt states";
  const snapshot_ref snapshot{session, 1};
  EXPECT_EQ(code(get_snapshot_request{snapshot}), errc::data_loss);
  EXPECT_NE(store.error().message().find("corrupt"), std::string::npos);
  EXPECT_EQ(code(restore_snapshot_request{snapshot}), errc::data_loss);
  EXPECT_EQ(info(session), before);
  EXPECT_EQ(code(get_snapshot_request{snapshot, detail_level::record}),
            errc::ok);
  EXPECT_EQ(code(session, 2), errc::ok);
}

TEST_P(store_contract, a_list_names_what_is_corrupt_once) {
  const auto middle = at("middle");
  const auto end = at("end");
  save_all(middle, {2, 1, 4});
  save_all(end, {2, 4, 1});
  const auto corrupt = number(1).id();
  if (!store.factory().corrupt(corrupt))
    GTEST_SKIP() << "the factory does not corrupt states";
  using numbers = std::vector<std::uint64_t>;
  for (const auto& [of, readable, lost] :
       {std::tuple{middle, numbers{1, 3}, std::uint64_t{2}},
        std::tuple{end, numbers{1, 2}, std::uint64_t{3}}}) {
    EXPECT_EQ(sequences(of), (numbers{1, 2, 3}));
    for (const std::uint32_t limit : {1, 2, 3, 10}) {
      list_snapshots_request x{of};
      x.detail = detail_level::state;
      x.limit = limit;
      numbers listed;
      std::vector<damage> damages;
      for (auto more = true; more;) {
        const auto page = get(x);
        for (const auto& y : page.snapshots) {
          EXPECT_EQ(y.content.id(), y.record.state);
          listed.push_back(y.record.sequence);
        }
        damages.insert(damages.end(), page.damages.begin(), page.damages.end());
        more = page.more;
        ASSERT_TRUE(!more || page.snapshots.size() == limit);
        if (more)
          x.after = listed.back();
      }
      EXPECT_EQ(listed, readable) << limit;
      ASSERT_EQ(damages.size(), 1u) << limit;
      EXPECT_EQ(damages[0].kind, damage_kind::corrupt);
      EXPECT_EQ(damages[0].where, of);
      EXPECT_EQ(damages[0].sequence, lost);
      EXPECT_EQ(damages[0].state, corrupt);
      EXPECT_NE(damages[0].what.find(of.id.str()), std::string::npos);
    }
  }
}

TEST_P(store_contract, a_missing_state_is_another_data_loss) {
  const auto session = at("s");
  save_all(session, {1, 2});
  if (!store.factory().lose(number(1).id()))
    GTEST_SKIP() << "the factory does not lose states";
  EXPECT_EQ(code(session, 1), errc::data_loss);
  EXPECT_NE(store.error().message().find("missing"), std::string::npos);
  EXPECT_EQ(code(session, 2), errc::ok);
}

// -- finding ------------------------------------------------------------------

TEST_P(store_contract, an_id_in_one_session_needs_no_session) {
  save_all(at("s"), {1, 2});
  save_all(at("t"), {3});
  const auto found
    = get(get_snapshot_request{{"/agent/a", {}, id_of(number(2))}});
  EXPECT_EQ(found.record.session, session_id{"s"});
  EXPECT_EQ(found.record.sequence, 2u);
}

TEST_P(store_contract, an_id_in_several_sessions_needs_the_session) {
  for (const auto* name : {"one", "two"})
    save_all(at(name), {1});
  save_all(at("three", "/agent/b"), {1});
  const auto id = id_of(number(1));
  EXPECT_EQ(code(get_snapshot_request{{"/agent/a", {}, id}}),
            errc::failed_precondition);
  const auto message = store.error().message();
  EXPECT_NE(message.find("one"), std::string::npos);
  EXPECT_NE(message.find("two"), std::string::npos);
  EXPECT_EQ(message.find("three"), std::string::npos);
  EXPECT_NO_THROW((void)parse_json<json>(store.error().details()));
  EXPECT_EQ(code(restore_snapshot_request{{"/agent/a", {}, id}}),
            errc::failed_precondition);
  EXPECT_EQ(code(get_snapshot_request{{"/agent/a", session_id{"one"}, id}}),
            errc::ok);
  EXPECT_EQ(code(get_snapshot_request{{"/agent/b", {}, id}}), errc::ok);
}

TEST_P(store_contract, what_is_not_there_is_not_found) {
  save_all(at("s"), {1});
  const auto id = id_of(number(1));
  const auto other = id_of(number(2));
  EXPECT_EQ(code(get_snapshot_request{{"/agent/a", {}, other}}),
            errc::not_found);
  EXPECT_EQ(code(get_snapshot_request{{"/agent/b", {}, id}}), errc::not_found);
  EXPECT_EQ(code(get_snapshot_request{{"/agent/a", session_id{"t"}, id}}),
            errc::not_found);
  EXPECT_EQ(code(at("s"), 2), errc::not_found);
  snapshot_ref both{"/agent/a", session_id{"s"}, other};
  both.sequence = 1;
  EXPECT_EQ(code(get_snapshot_request{both}), errc::not_found);
  EXPECT_EQ(code(restore_snapshot_request{both}), errc::not_found);
  EXPECT_EQ(code(get_session_request{at("t")}), errc::not_found);
}

TEST_P(store_contract, an_unknown_session_has_no_snapshots) {
  const auto page = get(list_snapshots_request{at("s")});
  EXPECT_TRUE(page.snapshots.empty());
  EXPECT_FALSE(page.more);
}

TEST_P(store_contract, pages_show_everything_once) {
  const auto session = at("s");
  save_all(session, {1, 2, 3, 4, 5, 6, 7});
  restore(session, 3);
  save(session, number(8), 3);
  for (const auto with_orphans : {false, true})
    for (const std::uint32_t limit : {0, 1, 2, 3, 100}) {
      list_snapshots_request x{session};
      x.with_orphans = with_orphans;
      x.limit = limit;
      std::vector<std::uint64_t> seen;
      for (auto more = true; more && seen.size() < 100;) {
        const auto page = get(x);
        ASSERT_FALSE(page.snapshots.empty());
        ASSERT_LE(page.snapshots.size(), std::max(limit, 1u));
        for (const auto& y : page.snapshots)
          seen.push_back(y.record.sequence);
        x.after = seen.back();
        more = page.more;
      }
      EXPECT_EQ(seen, sequences(session, with_orphans));
      EXPECT_EQ(seen.size(), with_orphans ? 8u : 4u);
    }
}

// -- heads --------------------------------------------------------------------

TEST_P(store_contract, a_restore_moves_the_head_and_what_follows_it) {
  const auto session_key = at("s");
  std::uint64_t parent = 0;
  for (int i = 0; i < 3; ++i) {
    auto saved = record(session_key, number(i), parent);
    saved.turn_index = i;
    parent = append(saved, number(i)).record.sequence;
  }
  const auto restored = restore(session_key, 2);
  EXPECT_EQ(restored.record.sequence, 2u);
  EXPECT_FALSE(restored.record.orphaned);
  EXPECT_EQ(restored.content, number(1));
  const auto session = get(get_session_request{session_key});
  EXPECT_EQ(session.info.head, 2u);
  EXPECT_EQ(session.info.next_turn, 2u);
  EXPECT_EQ(session.info.records, 3u);
  EXPECT_EQ(session.content, number(1));
  ASSERT_TRUE(session.head);
  EXPECT_EQ(session.head.record, read(session_key, 2));
  EXPECT_EQ(sequences(session_key), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(sequences(session_key, true),
            (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST_P(store_contract, an_orphan_is_recovered_by_restoring_it) {
  const auto session = at("s");
  save_all(session, {1, 2, 3});
  restore(session, 1);
  save(session, number(4), 1);
  EXPECT_TRUE(read(session, 3).orphaned);
  restore(session, 3);
  EXPECT_EQ(sequences(session), (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_TRUE(read(session, 4).orphaned);
  const auto next = save(session, number(5), 3);
  EXPECT_EQ(next.record.sequence, 5u);
  EXPECT_EQ(next.record.index, 3u);
}

TEST_P(store_contract, two_restores_in_a_row_end_at_the_second) {
  const auto session = at("s");
  save_all(session, {1, 2, 3});
  restore(session, 1);
  restore(session, 2);
  EXPECT_EQ(info(session).head, 2u);
  EXPECT_EQ(sequences(session), (std::vector<std::uint64_t>{1, 2}));
  restore(session, 2);
  EXPECT_EQ(info(session).head, 2u);
}

} // namespace tertulia
