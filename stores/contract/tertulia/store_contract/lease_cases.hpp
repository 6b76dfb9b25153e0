// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/lease_race.hpp>
#include <tertulia/json.hpp>
#include <tertulia/store.hpp>
#include <tertulia/store_contract/suite.hpp>

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

// Leases and fences. Included by tertulia/store_contract.hpp.

namespace tertulia {

TYPED_TEST_P(store_contract, a_lease_has_one_holder) {
  const auto first = this->store.start_holder();
  const auto second = this->store.start_holder();
  const auto session = this->at("s");
  const auto fence = this->acquire(session, first);
  EXPECT_GT(fence, 0u);
  EXPECT_EQ(this->code(acquire_lease_request{session, second, "elsewhere"}),
            errc::failed_precondition);
  const auto details = parse_json<json>(this->store.error().details());
  EXPECT_EQ(details.at("session"), "s");
  EXPECT_EQ(details.at("owner"), "the test");
  EXPECT_GT(this->acquire(session, first), fence) << "it has the lease already";
  EXPECT_GT(this->acquire(this->at("t"), second), fence);
  EXPECT_GT(this->acquire(this->at("s", "/agent/b"), second), fence);
  EXPECT_EQ(this->code(get_session_request{session}), errc::not_found)
    << "a lease makes no session";
}

TYPED_TEST_P(store_contract, a_change_with_another_fence_is_aborted) {
  const auto first = this->store.start_holder();
  const auto second = this->store.start_holder();
  const auto session = this->at("s");
  const auto save = [&](int value, std::uint64_t parent, std::uint64_t fence) {
    const auto content = this->number(value);
    return this->code(
      save_snapshot_request{this->record(session, content, parent),
                            content,
                            append_rule::at_head,
                            {},
                            fence});
  };
  const auto old = this->acquire(session, first);
  EXPECT_EQ(save(1, 0, old), errc::ok);
  EXPECT_EQ(save(2, 1, old), errc::ok);
  const auto fence = this->acquire(session, second, if_live::take_over);
  EXPECT_GT(fence, old);
  const auto before = this->get(get_session_request{session});
  for (const auto wrong : {old, fence + 1, std::uint64_t{1}}) {
    EXPECT_EQ(save(3, 2, wrong), errc::aborted) << wrong;
    EXPECT_EQ(
      this->code(save_session_request{session, this->number(3), 7, {}, wrong}),
      errc::aborted);
    EXPECT_EQ(
      this->code(restore_snapshot_request{snapshot_ref{session, 1}, wrong}),
      errc::aborted);
  }
  EXPECT_EQ(this->get(get_session_request{session}), before);
  EXPECT_EQ(save(3, 2, fence), errc::ok);
  EXPECT_EQ(
    this->code(save_session_request{session, this->number(4), 7, {}, fence}),
    errc::ok);
  EXPECT_EQ(
    this->code(restore_snapshot_request{snapshot_ref{session, 1}, fence}),
    errc::ok);
}

TYPED_TEST_P(store_contract, a_fence_ends_with_its_lease) {
  const auto holder = this->store.start_holder();
  for (const auto exists : {false, true}) {
    const auto session = this->at(exists ? "old" : "new");
    if (exists)
      this->save(session, this->number(0), 0);
    const auto fence = this->acquire(session, holder);
    EXPECT_TRUE(this->release(holder));
    EXPECT_FALSE(this->release(holder));
    EXPECT_EQ(
      this->code(save_session_request{session, this->number(1), 1, {}, fence}),
      errc::aborted);
    EXPECT_EQ(this->code(save_session_request{session, this->number(1), 1}),
              errc::ok);
  }
  const auto both = this->acquire(this->at("a"), holder);
  const auto kept = this->acquire(this->at("b"), holder);
  EXPECT_TRUE(this->release(holder, this->at("a")));
  EXPECT_EQ(this->code(save_session_request{
              this->at("a"), this->number(1), 1, {}, both}),
            errc::aborted);
  EXPECT_EQ(this->code(save_session_request{
              this->at("b"), this->number(1), 1, {}, kept}),
            errc::ok);
}

TYPED_TEST_P(store_contract, without_a_lease_only_branches_are_added) {
  const auto holder = this->store.start_holder();
  const auto session = this->at("s");
  this->save_all(session, {1, 2});
  this->acquire(session, holder);
  const auto content = this->number(3);
  const auto record = this->record(session, content, 2);
  const auto is_held = [&](const auto& x) {
    EXPECT_EQ(this->code(x), errc::failed_precondition);
    EXPECT_EQ(parse_json<json>(this->store.error().details()).at("owner"),
              "the test");
  };
  is_held(save_snapshot_request{record, content, append_rule::at_head});
  is_held(save_session_request{session, content, 7});
  is_held(restore_snapshot_request{snapshot_ref{session, 1}});
  EXPECT_EQ(this->sequences(session), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(
    this->code(save_snapshot_request{record, content, append_rule::anywhere}),
    errc::ok);
  if constexpr (TestFixture::managed) {
    this->acquire(this->at("t"), holder);
    is_held(copy_session_request{session, this->at("t")});
  }
  EXPECT_TRUE(this->release(holder));
  EXPECT_EQ(this->code(restore_snapshot_request{snapshot_ref{session, 1}}),
            errc::ok);
}

TYPED_TEST_P(store_contract, a_take_over_cancels_the_holder) {
  const auto first = this->store.start_holder();
  const auto second = this->store.start_holder();
  const auto session = this->at("s");
  const auto old = this->acquire(session, first, if_live::take_over);
  EXPECT_GT(this->acquire(session, second, if_live::take_over), old);
  EXPECT_FALSE(this->release(first)) << "it was cancelled, and released it";
  EXPECT_TRUE(this->release(second));
}

TYPED_TEST_P(store_contract, take_overs_follow_each_other) {
  // Each take-over is answered, whichever comes first.
  const auto session = this->at("s");
  std::vector<lease_holder> holders;
  for (int i = 0; i < 20; ++i) {
    holders.push_back(this->store.start_holder());
    EXPECT_GT(this->acquire(session, holders.back(), if_live::take_over), 0u);
  }
  for (const auto& x : holders)
    EXPECT_EQ(this->release(x), x == holders.back());
}

TYPED_TEST_P(store_contract, a_lease_ends_with_its_holder) {
  const auto session = this->at("s");
  const auto first = this->store.start_holder();
  const auto fence = this->acquire(session, first);
  this->store.kill(first);
  const auto second = this->store.start_holder();
  EXPECT_GT(this->acquire(session, second, if_live::take_over), fence);
  // A holder that has ended before its request arrives has nothing.
  EXPECT_TRUE(this->release(second));
  static_cast<void>(this->acquire(session, first, if_live::take_over));
  EXPECT_GT(this->acquire(session, second, if_live::take_over), fence);
}

TYPED_TEST_P(store_contract, fences_grow_for_ever) {
  const auto session = this->at("s");
  std::uint64_t last = 0;
  for (int i = 0; i < 3; ++i) {
    const auto holder = this->store.start_holder();
    const auto fence = this->acquire(session, holder);
    EXPECT_GT(fence, last);
    last = fence;
    EXPECT_EQ(
      this->code(save_session_request{session, this->number(i), 1, {}, fence}),
      errc::ok);
    this->store.kill(holder);
    if constexpr (TestFixture::durable)
      this->store.reopen();
    else
      static_cast<void>(this->release(holder));
  }
}

TYPED_TEST_P(store_contract, a_lease_needs_a_session_and_a_holder) {
  const auto holder = this->store.start_holder();
  EXPECT_EQ(this->code(acquire_lease_request{session_ref{}, holder}),
            errc::invalid_argument);
  EXPECT_EQ(this->code(acquire_lease_request{this->at("\xff"), holder}),
            errc::invalid_argument);
  EXPECT_EQ(this->code(acquire_lease_request{this->at("s"), {}}),
            errc::invalid_argument);
  EXPECT_FALSE(this->release({}));
}

TYPED_TEST_P(store_contract, writers_never_overwrite_each_other) {
  using race = detail::lease_race<TypeParam>;
  using command = typename race::command;
  EXPECT_TRUE(rc::check("writers do what the model of leases does", [] {
    const auto commands = *rc::gen::container<std::vector<command>>(
      rc::gen::container<command>(rc::gen::inRange(0, race::verbs)));
    const auto difference = race::difference(commands);
    if (!difference.empty())
      RC_FAIL(difference);
  }));
}

} // namespace tertulia
