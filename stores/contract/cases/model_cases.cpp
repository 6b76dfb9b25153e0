// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/store.hpp>
#include <tertulia/store_contract.hpp>

#include <vector>

#include "model/store_comparison.hpp"
#include <gtest/gtest.h>
#include <rapidcheck.h>

// Requests in random order, and stores that are opened again.

namespace tertulia {

// -- durable stores -----------------------------------------------------------

TEST_P(store_contract, a_durable_store_knows_everything_again) {
  if (!is_durable())
    GTEST_SKIP() << "the store is not durable";
  const auto session = at("s");
  save_all(session, {1, 2, 3});
  restore(session, 2);
  work_on(session, talk(3), 9);
  const auto before = get(get_session_request{session});
  const auto records = sequences(session, true);
  store.reopen();
  const auto after = get(get_session_request{session});
  EXPECT_EQ(after.info, before.info);
  EXPECT_EQ(after.content, talk(3));
  EXPECT_EQ(after.head.record, before.head.record);
  EXPECT_EQ(sequences(session, true), records);
  EXPECT_EQ(content(session, 3), number(3));
  EXPECT_EQ(save(session, number(4), 2).record.sequence, 4u);
}

// -- random order -------------------------------------------------------------

TEST_P(store_contract, does_what_the_model_does) {
  using comparison = detail::store_comparison;
  using command = comparison::command;
  EXPECT_TRUE(
    rc::check("a store does what the model does", [kind = GetParam()] {
      const auto commands = *rc::gen::container<std::vector<command>>(
        rc::gen::container<command>(rc::gen::inRange(0, comparison::verbs)));
      const auto difference = comparison::difference(kind, commands);
      if (!difference.empty())
        RC_FAIL(difference);
    }));
}

TEST_P(store_contract, does_what_the_model_does_for_one_session) {
  using comparison = detail::store_comparison;
  using command = comparison::command;
  EXPECT_TRUE(
    rc::check("a session does what the model does", [kind = GetParam()] {
      auto commands = *rc::gen::container<std::vector<command>>(
        rc::gen::container<command>(rc::gen::inRange(0, comparison::verbs)));
      for (auto& x : commands)
        x[1] = 0;
      const auto difference = comparison::difference(kind, commands);
      if (!difference.empty())
        RC_FAIL(difference);
    }));
}

} // namespace tertulia
