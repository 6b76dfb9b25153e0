// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/store_comparison.hpp>
#include <tertulia/store.hpp>
#include <tertulia/store_contract/suite.hpp>

#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

// Requests in random order, and stores that are opened again. Included by
// tertulia/store_contract.hpp.

namespace tertulia {

// -- durable stores -----------------------------------------------------------

TYPED_TEST_P(store_contract, a_durable_store_knows_everything_again) {
  if constexpr (TestFixture::durable) {
    const auto session = this->at("s");
    this->save_all(session, {1, 2, 3});
    this->restore(session, 2);
    this->work_on(session, this->talk(3), 9);
    const auto before = this->get(get_session_request{session});
    const auto records = this->sequences(session, true);
    this->store.reopen();
    const auto after = this->get(get_session_request{session});
    EXPECT_EQ(after.info, before.info);
    EXPECT_EQ(after.content, this->talk(3));
    EXPECT_EQ(after.head.record, before.head.record);
    EXPECT_EQ(this->sequences(session, true), records);
    EXPECT_EQ(this->content(session, 3), this->number(3));
    EXPECT_EQ(this->save(session, this->number(4), 2).record.sequence, 4u);
  } else {
    GTEST_SKIP() << "the store is not durable";
  }
}

// -- random order -------------------------------------------------------------

TYPED_TEST_P(store_contract, does_what_the_model_does) {
  using comparison = detail::store_comparison<TypeParam>;
  using command = typename comparison::command;
  EXPECT_TRUE(rc::check("a store does what the model does", [] {
    const auto commands = *rc::gen::container<std::vector<command>>(
      rc::gen::container<command>(rc::gen::inRange(0, comparison::verbs)));
    const auto difference = comparison::difference(commands);
    if (!difference.empty())
      RC_FAIL(difference);
  }));
}

TYPED_TEST_P(store_contract, does_what_the_model_does_for_one_session) {
  using comparison = detail::store_comparison<TypeParam>;
  using command = typename comparison::command;
  EXPECT_TRUE(rc::check("a session does what the model does", [] {
    auto commands = *rc::gen::container<std::vector<command>>(
      rc::gen::container<command>(rc::gen::inRange(0, comparison::verbs)));
    for (auto& x : commands)
      x[1] = 0;
    const auto difference = comparison::difference(commands);
    if (!difference.empty())
      RC_FAIL(difference);
  }));
}

} // namespace tertulia
