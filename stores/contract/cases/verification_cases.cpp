// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/store.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cases/case.hpp"
#include <gtest/gtest.h>

// Verification and damage reports of a store.

namespace tertulia {

TEST_P(store_contract, everything_is_verified_once) {
  TERTULIA_NEEDS_MANAGED_STORE();
  const auto first = at("1");
  const auto second = at("2");
  const auto third = at("1", "/agent/b");
  save_all(first, {1, 2, 3});
  restore(first, 1);
  work_on(second, talk(3), 1);
  get(copy_session_request{first, third});
  for (const std::uint32_t limit : {0, 1, 2, 3, 5, 100}) {
    verify_sessions_request x;
    x.limit = limit;
    std::uint64_t sessions = 0;
    std::uint64_t records = 0;
    for (auto more = true; more;) {
      const auto page = get(x);
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
    EXPECT_EQ(get(x), verification_page{});
  }
}

TEST_P(store_contract, one_agent_or_one_session_is_verified) {
  TERTULIA_NEEDS_MANAGED_STORE();
  for (const auto* agent : {"/agent/a", "/agent/b"})
    for (const auto* id : {"1", "2"})
      save_all(at(id, agent), {1, 2});
  verify_sessions_request x;
  x.agent = "/agent/b";
  auto page = get(x);
  EXPECT_EQ(page.sessions, 2u);
  EXPECT_EQ(page.records, 4u);
  x.session = session_id{"1"};
  page = get(x);
  EXPECT_EQ(page.sessions, 1u);
  EXPECT_EQ(page.records, 2u);
  EXPECT_EQ(page.last, at("1", "/agent/b"));
  EXPECT_FALSE(page.more);
  x.session = session_id{"3"};
  EXPECT_EQ(get(x), verification_page{});
  x.agent.clear();
  EXPECT_EQ(code(x), errc::invalid_argument);
}

TEST_P(store_contract, verification_goes_on_where_its_place_is_gone) {
  TERTULIA_NEEDS_MANAGED_STORE();
  for (const auto* id : {"1", "2", "3"})
    save_all(at(id), {1, 2});
  verify_sessions_request x;
  x.limit = 5; // ends in the second session, after one record
  const auto page = get(x);
  EXPECT_EQ(page.last, at("2"));
  EXPECT_EQ(page.last_record, 1u);
  EXPECT_TRUE(page.more);
  get(delete_session_request{at("2")});
  x.after = page.last;
  x.after_record = page.last_record;
  const auto rest = get(x);
  EXPECT_EQ(rest.sessions, 1u);
  EXPECT_EQ(rest.records, 2u);
  EXPECT_FALSE(rest.more);
}

TEST_P(store_contract, verification_tells_corrupt_from_missing) {
  TERTULIA_NEEDS_MANAGED_STORE();
  const auto first = at("1");
  const auto second = at("2");
  save_all(first, {1, 2, 4});
  save_all(second, {2, 1});
  const auto corrupt = number(1).id();
  const auto missing = number(2).id();
  if (!store.factory().corrupt(corrupt))
    GTEST_SKIP() << "the factory does not corrupt states";
  if (!store.factory().lose(missing))
    GTEST_SKIP() << "the factory does not lose states";
  const auto found = damages();
  ASSERT_EQ(found.size(), 5u);
  const auto expect = [&](std::size_t i, damage_kind kind,
                          const session_ref& session, std::uint64_t sequence) {
    EXPECT_EQ(found[i].kind, kind) << i;
    EXPECT_EQ(found[i].where, session) << i;
    EXPECT_EQ(found[i].sequence, sequence) << i;
    EXPECT_EQ(found[i].state, kind == damage_kind::corrupt ? corrupt : missing)
      << i;
    EXPECT_FALSE(found[i].what.empty()) << i;
  };
  expect(0, damage_kind::corrupt, first, 1);
  expect(1, damage_kind::missing, first, 2);
  expect(2, damage_kind::corrupt, second, 0); // its working state
  expect(3, damage_kind::missing, second, 1);
  expect(4, damage_kind::corrupt, second, 2);
}

} // namespace tertulia
