// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/store.hpp>

#include <caf/timestamp.hpp>

#include <chrono>
#include <cstdint>
#include <vector>

#include "cases/case.hpp"
#include <gtest/gtest.h>

// Deletion, pruning and vacuuming.

namespace tertulia {

TEST_P(store_contract, vacuuming_changes_nothing_that_is_kept) {
  TERTULIA_NEEDS_MANAGED_STORE();
  const auto session = at("s");
  const auto other = at("t");
  save_all(session, {1, 2, 3});
  save_all(other, {1, 4, 5});
  get(delete_session_request{other});
  const auto before = get(get_session_request{session});
  const auto sizes = get(vacuum_store_request{});
  EXPECT_LE(sizes.bytes_after, sizes.bytes_before);
  EXPECT_EQ(get(get_session_request{session}), before);
  EXPECT_EQ(code(get_session_request{other}), errc::not_found);
  for (const auto i : {1, 2, 3})
    EXPECT_EQ(content(session, i), number(i));
}

TEST_P(store_contract, deleting_a_session_leaves_the_others_alone) {
  TERTULIA_NEEDS_MANAGED_STORE();
  const auto first = at("1");
  const auto second = at("2", "/agent/b");
  save_all(first, {1, 2, 1});
  save_all(second, {1});
  EXPECT_EQ(get(delete_session_request{first}), (erase_result{3, 1}));
  EXPECT_EQ(code(get_session_request{first}), errc::not_found);
  EXPECT_EQ(code(delete_session_request{first}), errc::not_found);
  EXPECT_TRUE(sequences(first, true).empty());
  const auto id = id_of(number(1));
  EXPECT_EQ(code(get_snapshot_request{{first.agent, {}, id}}), errc::not_found);
  EXPECT_EQ(content(second, 1), number(1));
  EXPECT_EQ(save(first, number(3), 0).record.sequence, 1u);
}

TEST_P(store_contract, pruning_keeps_heads_and_labels) {
  TERTULIA_NEEDS_MANAGED_STORE();
  const auto session = at("s");
  save_all(session, {1, 2, 3, 4, 5, 6});
  restore(session, 4); // 5 and 6 are orphans
  for (const std::uint64_t kept : {2, 6})
    label(session, kept, {"keep"});
  EXPECT_EQ(get(prune_snapshots_request{}), (erase_result{3, 3}));
  EXPECT_EQ(sequences(session), (std::vector<std::uint64_t>{2, 4}));
  EXPECT_EQ(sequences(session, true), (std::vector<std::uint64_t>{2, 4, 6}));
  const auto root = read(session, 2);
  EXPECT_EQ(root.parent, 0u);
  EXPECT_EQ(root.parent_id, snapshot_id{});
  EXPECT_EQ(root.index, 1u);
  const auto head = read(session, 4);
  EXPECT_EQ(head.parent, 2u);
  EXPECT_EQ(head.parent_id, root.id);
  EXPECT_EQ(head.index, 3u);
  const auto orphan = read(session, 6);
  EXPECT_TRUE(orphan.orphaned);
  EXPECT_EQ(orphan.parent, 4u);
  EXPECT_EQ(info(session).records, 3u);
  EXPECT_EQ(restore(session, 6).content, number(6));
  EXPECT_EQ(save(session, number(7), 6).record.sequence, 7u);
}

TEST_P(store_contract, versions_of_a_state_go_one_by_one) {
  TERTULIA_NEEDS_MANAGED_STORE();
  const auto first = at("1");
  const auto second = at("2");
  save(first, version(1, talk(2)), 0);
  save(first, version(2, talk(2)), 1);
  save(second, version(2, talk(2)), 0);
  EXPECT_EQ(get(delete_session_request{first}), (erase_result{2, 1}));
  EXPECT_EQ(content(second), version(2, talk(2)));
  EXPECT_TRUE(damages().empty());
  EXPECT_EQ(get(delete_session_request{second}), (erase_result{1, 1}));
}

TEST_P(store_contract, pruning_minds_age_number_and_session) {
  TERTULIA_NEEDS_MANAGED_STORE();
  const auto first = at("1");
  const auto second = at("2");
  auto time = [](int x) { return caf::timestamp{std::chrono::seconds{x}}; };
  for (const auto& of : {first, second})
    for (int i = 0; i < 6; ++i) {
      auto saved = record(of, number(i), i);
      saved.created_at = time(i);
      append(saved, number(i));
    }
  prune_snapshots_request x;
  x.agent = first.agent;
  x.session = first.id;
  x.created_before = time(2); // 1 and 2 are older
  EXPECT_EQ(get(x), (erase_result{2, 0}));
  x.created_before = caf::timestamp::max();
  x.keep_newest = 3; // 4, 5, 6
  EXPECT_EQ(get(x), (erase_result{1, 0}));
  EXPECT_EQ(sequences(first), (std::vector<std::uint64_t>{4, 5, 6}));
  EXPECT_EQ(sequences(second).size(), 6u);
  x.session = {};
  EXPECT_EQ(get(x), (erase_result{3, 3}));
  x.agent = "/agent/b";
  x.keep_newest = 0;
  EXPECT_EQ(get(x), erase_result{});
  x.agent.clear();
  x.session = first.id;
  EXPECT_EQ(code(x), errc::invalid_argument);
}

TEST_P(store_contract, pruning_and_copying_read_no_states) {
  TERTULIA_NEEDS_MANAGED_STORE();
  const auto session = at("s");
  const auto copy = at("t");
  save_all(session, {2, 1, 4});
  if (!store.factory().corrupt(number(1).id()))
    GTEST_SKIP() << "the factory does not corrupt states";
  for (const std::uint64_t up_to : {0, 3}) {
    EXPECT_EQ(get(copy_session_request{session, copy, up_to}).records, 3u);
    EXPECT_EQ(code(copy, 2), errc::data_loss);
    EXPECT_EQ(content(copy, 3), number(4));
    get(delete_session_request{copy});
  }
  EXPECT_EQ(get(prune_snapshots_request{}), (erase_result{2, 2}));
  EXPECT_TRUE(damages().empty());
  EXPECT_EQ(content(session), number(4));
}

} // namespace tertulia
