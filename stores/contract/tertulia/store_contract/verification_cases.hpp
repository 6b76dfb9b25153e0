// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/store.hpp>
#include <tertulia/store_contract/suite.hpp>

#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

// Verification and damage reports of a store. Included by
// tertulia/store_contract.hpp.

namespace tertulia {

TYPED_TEST_P(store_contract, everything_is_verified_once) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    const auto first = this->at("1");
    const auto second = this->at("2");
    const auto third = this->at("1", "/agent/b");
    this->save_all(first, {1, 2, 3});
    this->restore(first, 1);
    this->work_on(second, this->talk(3), 1);
    this->get(copy_session_request{first, third});
    for (const std::uint32_t limit : {0, 1, 2, 3, 5, 100}) {
      verify_sessions_request x;
      x.limit = limit;
      std::uint64_t sessions = 0;
      std::uint64_t records = 0;
      for (auto more = true; more;) {
        const auto page = this->get(x);
        ASSERT_GT(page.sessions + page.records, 0u);
        ASSERT_LE(page.sessions + page.records, std::max(limit, 1u));
        EXPECT_TRUE(page.damages.empty());
        sessions += page.sessions;
        records += page.records;
        x.after = page.last;
        x.after_record = page.last_record;
        more = page.more;
      }
      EXPECT_EQ(sessions, 3u);
      EXPECT_EQ(records, 6u);
      EXPECT_EQ(x.after, third);
      EXPECT_EQ(x.after_record, 3u);
      EXPECT_EQ(this->get(x), verification_page{});
    }
  }
}

TYPED_TEST_P(store_contract, one_agent_or_one_session_is_verified) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    for (const auto* agent : {"/agent/a", "/agent/b"})
      for (const auto* id : {"1", "2"})
        this->save_all(this->at(id, agent), {1, 2});
    verify_sessions_request x;
    x.agent = "/agent/b";
    auto page = this->get(x);
    EXPECT_EQ(page.sessions, 2u);
    EXPECT_EQ(page.records, 4u);
    x.session = session_id{"1"};
    page = this->get(x);
    EXPECT_EQ(page.sessions, 1u);
    EXPECT_EQ(page.records, 2u);
    EXPECT_EQ(page.last, this->at("1", "/agent/b"));
    EXPECT_FALSE(page.more);
    x.session = session_id{"3"};
    EXPECT_EQ(this->get(x), verification_page{});
    x.agent.clear();
    EXPECT_EQ(this->code(x), errc::invalid_argument);
  }
}

TYPED_TEST_P(store_contract, verification_goes_on_where_its_place_is_gone) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    for (const auto* id : {"1", "2", "3"})
      this->save_all(this->at(id), {1, 2});
    verify_sessions_request x;
    x.limit = 5; // ends in the second session, after one record
    const auto page = this->get(x);
    EXPECT_EQ(page.last, this->at("2"));
    EXPECT_EQ(page.last_record, 1u);
    EXPECT_TRUE(page.more);
    this->get(delete_session_request{this->at("2")});
    x.after = page.last;
    x.after_record = page.last_record;
    const auto rest = this->get(x);
    EXPECT_EQ(rest.sessions, 1u);
    EXPECT_EQ(rest.records, 2u);
    EXPECT_FALSE(rest.more);
  }
}

TYPED_TEST_P(store_contract, verification_tells_corrupt_from_missing) {
  if constexpr (TestFixture::managed
                && corrupts_states<TypeParam> && loses_states<TypeParam>) {
    const auto first = this->at("1");
    const auto second = this->at("2");
    this->save_all(first, {1, 2, 4});
    this->save_all(second, {2, 1});
    const auto corrupt = this->number(1).id();
    const auto missing = this->number(2).id();
    this->store.factory().corrupt(corrupt);
    this->store.factory().lose(missing);
    const auto damages = this->damages();
    ASSERT_EQ(damages.size(), 5u);
    const auto expect
      = [&](std::size_t i, damage_kind kind, const session_ref& session,
            std::uint64_t sequence) {
          EXPECT_EQ(damages[i].kind, kind) << i;
          EXPECT_EQ(damages[i].where, session) << i;
          EXPECT_EQ(damages[i].sequence, sequence) << i;
          EXPECT_EQ(damages[i].state,
                    kind == damage_kind::corrupt ? corrupt : missing)
            << i;
          EXPECT_FALSE(damages[i].what.empty()) << i;
        };
    expect(0, damage_kind::corrupt, first, 1);
    expect(1, damage_kind::missing, first, 2);
    expect(2, damage_kind::corrupt, second, 0); // its working state
    expect(3, damage_kind::missing, second, 1);
    expect(4, damage_kind::corrupt, second, 2);
  } else {
    GTEST_SKIP() << "the factory does not damage states";
  }
}

} // namespace tertulia
