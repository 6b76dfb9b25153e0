// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/store.hpp>
#include <tertulia/store_contract/suite.hpp>

#include <caf/timestamp.hpp>

#include <chrono>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

// Deletion, pruning and vacuuming. Included by tertulia/store_contract.hpp.

namespace tertulia {

TYPED_TEST_P(store_contract, vacuuming_changes_nothing_that_is_kept) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    const auto session = this->at("s");
    const auto other = this->at("t");
    this->save_all(session, {1, 2, 3});
    this->save_all(other, {1, 4, 5});
    this->get(delete_session_request{other});
    const auto before = this->get(get_session_request{session});
    const auto sizes = this->get(vacuum_store_request{});
    EXPECT_LE(sizes.bytes_after, sizes.bytes_before);
    EXPECT_EQ(this->get(get_session_request{session}), before);
    EXPECT_EQ(this->code(get_session_request{other}), errc::not_found);
    for (const auto i : {1, 2, 3})
      EXPECT_EQ(this->content(session, i), this->number(i));
  }
}

TYPED_TEST_P(store_contract, deleting_a_session_leaves_the_others_alone) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    const auto first = this->at("1");
    const auto second = this->at("2", "/agent/b");
    this->save_all(first, {1, 2, 1});
    this->save_all(second, {1});
    EXPECT_EQ(this->get(delete_session_request{first}), (erase_result{3, 1}));
    EXPECT_EQ(this->code(get_session_request{first}), errc::not_found);
    EXPECT_EQ(this->code(delete_session_request{first}), errc::not_found);
    EXPECT_TRUE(this->sequences(first, true).empty());
    const auto id = this->id_of(this->number(1));
    EXPECT_EQ(this->code(get_snapshot_request{{first.agent, {}, id}}),
              errc::not_found);
    EXPECT_EQ(this->content(second, 1), this->number(1));
    EXPECT_EQ(this->save(first, this->number(3), 0).record.sequence, 1u);
  }
}

TYPED_TEST_P(store_contract, pruning_keeps_heads_and_labels) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    const auto session = this->at("s");
    this->save_all(session, {1, 2, 3, 4, 5, 6});
    this->restore(session, 4); // 5 and 6 are orphans
    for (const std::uint64_t kept : {2, 6})
      this->label(session, kept, {"keep"});
    EXPECT_EQ(this->get(prune_snapshots_request{}), (erase_result{3, 3}));
    EXPECT_EQ(this->sequences(session), (std::vector<std::uint64_t>{2, 4}));
    EXPECT_EQ(this->sequences(session, true),
              (std::vector<std::uint64_t>{2, 4, 6}));
    const auto root = this->read(session, 2);
    EXPECT_EQ(root.parent, 0u);
    EXPECT_EQ(root.parent_id, snapshot_id{});
    EXPECT_EQ(root.index, 1u);
    const auto head = this->read(session, 4);
    EXPECT_EQ(head.parent, 2u);
    EXPECT_EQ(head.parent_id, root.id);
    EXPECT_EQ(head.index, 3u);
    const auto orphan = this->read(session, 6);
    EXPECT_TRUE(orphan.orphaned);
    EXPECT_EQ(orphan.parent, 4u);
    EXPECT_EQ(this->info(session).records, 3u);
    EXPECT_EQ(this->restore(session, 6).content, this->number(6));
    EXPECT_EQ(this->save(session, this->number(7), 6).record.sequence, 7u);
  }
}

TYPED_TEST_P(store_contract, versions_of_a_state_go_one_by_one) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    const auto first = this->at("1");
    const auto second = this->at("2");
    this->save(first, this->version(1, this->talk(2)), 0);
    this->save(first, this->version(2, this->talk(2)), 1);
    this->save(second, this->version(2, this->talk(2)), 0);
    EXPECT_EQ(this->get(delete_session_request{first}), (erase_result{2, 1}));
    EXPECT_EQ(this->content(second), this->version(2, this->talk(2)));
    EXPECT_TRUE(this->damages().empty());
    EXPECT_EQ(this->get(delete_session_request{second}), (erase_result{1, 1}));
  }
}

TYPED_TEST_P(store_contract, pruning_minds_age_number_and_session) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    const auto first = this->at("1");
    const auto second = this->at("2");
    auto time = [](int x) { return caf::timestamp{std::chrono::seconds{x}}; };
    for (const auto& of : {first, second})
      for (int i = 0; i < 6; ++i) {
        auto saved = this->record(of, this->number(i), i);
        saved.created_at = time(i);
        this->append(saved, this->number(i));
      }
    prune_snapshots_request x;
    x.agent = first.agent;
    x.session = first.id;
    x.created_before = time(2); // 1 and 2 are older
    EXPECT_EQ(this->get(x), (erase_result{2, 0}));
    x.created_before = caf::timestamp::max();
    x.keep_newest = 3; // 4, 5, 6
    EXPECT_EQ(this->get(x), (erase_result{1, 0}));
    EXPECT_EQ(this->sequences(first), (std::vector<std::uint64_t>{4, 5, 6}));
    EXPECT_EQ(this->sequences(second).size(), 6u);
    x.session = {};
    EXPECT_EQ(this->get(x), (erase_result{3, 3}));
    x.agent = "/agent/b";
    x.keep_newest = 0;
    EXPECT_EQ(this->get(x), erase_result{});
    x.agent.clear();
    x.session = first.id;
    EXPECT_EQ(this->code(x), errc::invalid_argument);
  }
}

TYPED_TEST_P(store_contract, pruning_and_copying_read_no_states) {
  if constexpr (TestFixture::managed && corrupts_states<TypeParam>) {
    const auto session = this->at("s");
    const auto copy = this->at("t");
    this->save_all(session, {2, 1, 4});
    this->store.factory().corrupt(this->number(1).id());
    for (const std::uint64_t up_to : {0, 3}) {
      EXPECT_EQ(this->get(copy_session_request{session, copy, up_to}).records,
                3u);
      EXPECT_EQ(this->code(copy, 2), errc::data_loss);
      EXPECT_EQ(this->content(copy, 3), this->number(4));
      this->get(delete_session_request{copy});
    }
    EXPECT_EQ(this->get(prune_snapshots_request{}), (erase_result{2, 2}));
    EXPECT_TRUE(this->damages().empty());
    EXPECT_EQ(this->content(session), this->number(4));
  } else {
    GTEST_SKIP() << "the factory does not corrupt states";
  }
}

} // namespace tertulia
