// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/json.hpp>
#include <tertulia/store.hpp>
#include <tertulia/store_contract.hpp>

#include <cstdint>
#include <vector>

#include "model/lease_race.hpp"
#include <gtest/gtest.h>
#include <rapidcheck.h>

// Leases and fences.

namespace tertulia {

TEST_P(store_contract, a_lease_has_one_holder) {
  const auto first = store.start_holder();
  const auto second = store.start_holder();
  const auto session = at("s");
  const auto fence = acquire(session, first);
  EXPECT_GT(fence, 0u);
  EXPECT_EQ(code(acquire_lease_request{session, second, "elsewhere"}),
            errc::failed_precondition);
  const auto details = parse_json<json>(store.error().details());
  EXPECT_EQ(details.at("session"), "s");
  EXPECT_EQ(details.at("owner"), "the test");
  EXPECT_GT(acquire(session, first), fence) << "it has the lease already";
  EXPECT_GT(acquire(at("t"), second), fence);
  EXPECT_GT(acquire(at("s", "/agent/b"), second), fence);
  EXPECT_EQ(code(get_session_request{session}), errc::not_found)
    << "a lease makes no session";
}

TEST_P(store_contract, a_change_with_another_fence_is_aborted) {
  const auto first = store.start_holder();
  const auto second = store.start_holder();
  const auto session = at("s");
  const auto save = [&](int value, std::uint64_t parent, std::uint64_t fence) {
    const auto content = number(value);
    return code(save_snapshot_request{record(session, content, parent),
                                      content,
                                      append_rule::at_head,
                                      {},
                                      fence});
  };
  const auto old = acquire(session, first);
  EXPECT_EQ(save(1, 0, old), errc::ok);
  EXPECT_EQ(save(2, 1, old), errc::ok);
  const auto fence = acquire(session, second, if_live::take_over);
  EXPECT_GT(fence, old);
  const auto before = get(get_session_request{session});
  for (const auto wrong : {old, fence + 1, std::uint64_t{1}}) {
    EXPECT_EQ(save(3, 2, wrong), errc::aborted) << wrong;
    EXPECT_EQ(code(save_session_request{session, number(3), 7, {}, wrong}),
              errc::aborted);
    EXPECT_EQ(code(restore_snapshot_request{snapshot_ref{session, 1}, wrong}),
              errc::aborted);
  }
  EXPECT_EQ(get(get_session_request{session}), before);
  EXPECT_EQ(save(3, 2, fence), errc::ok);
  EXPECT_EQ(code(save_session_request{session, number(4), 7, {}, fence}),
            errc::ok);
  EXPECT_EQ(code(restore_snapshot_request{snapshot_ref{session, 1}, fence}),
            errc::ok);
}

TEST_P(store_contract, a_fence_ends_with_its_lease) {
  const auto holder = store.start_holder();
  for (const auto exists : {false, true}) {
    const auto session = at(exists ? "old" : "new");
    if (exists)
      save(session, number(0), 0);
    const auto fence = acquire(session, holder);
    EXPECT_TRUE(release(holder));
    EXPECT_FALSE(release(holder));
    EXPECT_EQ(code(save_session_request{session, number(1), 1, {}, fence}),
              errc::aborted);
    EXPECT_EQ(code(save_session_request{session, number(1), 1}), errc::ok);
  }
  const auto both = acquire(at("a"), holder);
  const auto kept = acquire(at("b"), holder);
  EXPECT_TRUE(release(holder, at("a")));
  EXPECT_EQ(code(save_session_request{at("a"), number(1), 1, {}, both}),
            errc::aborted);
  EXPECT_EQ(code(save_session_request{at("b"), number(1), 1, {}, kept}),
            errc::ok);
}

TEST_P(store_contract, without_a_lease_only_branches_are_added) {
  const auto holder = store.start_holder();
  const auto session = at("s");
  save_all(session, {1, 2});
  acquire(session, holder);
  const auto content = number(3);
  const auto added = record(session, content, 2);
  const auto is_held = [&](const auto& x) {
    EXPECT_EQ(code(x), errc::failed_precondition);
    EXPECT_EQ(parse_json<json>(store.error().details()).at("owner"),
              "the test");
  };
  is_held(save_snapshot_request{added, content, append_rule::at_head});
  is_held(save_session_request{session, content, 7});
  is_held(restore_snapshot_request{snapshot_ref{session, 1}});
  EXPECT_EQ(sequences(session), (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(code(save_snapshot_request{added, content, append_rule::anywhere}),
            errc::ok);
  if (is_managed()) {
    acquire(at("t"), holder);
    is_held(copy_session_request{session, at("t")});
  }
  EXPECT_TRUE(release(holder));
  EXPECT_EQ(code(restore_snapshot_request{snapshot_ref{session, 1}}), errc::ok);
}

TEST_P(store_contract, a_take_over_cancels_the_holder) {
  const auto first = store.start_holder();
  const auto second = store.start_holder();
  const auto session = at("s");
  const auto old = acquire(session, first, if_live::take_over);
  EXPECT_GT(acquire(session, second, if_live::take_over), old);
  EXPECT_FALSE(release(first)) << "it was cancelled, and released it";
  EXPECT_TRUE(release(second));
}

TEST_P(store_contract, take_overs_follow_each_other) {
  // Each take-over is answered, whichever comes first.
  const auto session = at("s");
  std::vector<lease_holder> holders;
  for (int i = 0; i < 20; ++i) {
    holders.push_back(store.start_holder());
    EXPECT_GT(acquire(session, holders.back(), if_live::take_over), 0u);
  }
  for (const auto& x : holders)
    EXPECT_EQ(release(x), x == holders.back());
}

TEST_P(store_contract, a_lease_ends_with_its_holder) {
  const auto session = at("s");
  const auto first = store.start_holder();
  const auto fence = acquire(session, first);
  store.kill(first);
  const auto second = store.start_holder();
  EXPECT_GT(acquire(session, second, if_live::take_over), fence);
  // A holder that has ended before its request arrives has nothing.
  EXPECT_TRUE(release(second));
  static_cast<void>(acquire(session, first, if_live::take_over));
  EXPECT_GT(acquire(session, second, if_live::take_over), fence);
}

TEST_P(store_contract, fences_grow_for_ever) {
  const auto session = at("s");
  std::uint64_t last = 0;
  for (int i = 0; i < 3; ++i) {
    const auto holder = store.start_holder();
    const auto fence = acquire(session, holder);
    EXPECT_GT(fence, last);
    last = fence;
    EXPECT_EQ(code(save_session_request{session, number(i), 1, {}, fence}),
              errc::ok);
    store.kill(holder);
    if (is_durable())
      store.reopen();
    else
      static_cast<void>(release(holder));
  }
}

TEST_P(store_contract, a_lease_needs_a_session_and_a_holder) {
  const auto holder = store.start_holder();
  EXPECT_EQ(code(acquire_lease_request{session_ref{}, holder}),
            errc::invalid_argument);
  EXPECT_EQ(code(acquire_lease_request{at("\xff"), holder}),
            errc::invalid_argument);
  EXPECT_EQ(code(acquire_lease_request{at("s"), {}}), errc::invalid_argument);
  EXPECT_FALSE(release({}));
}

TEST_P(store_contract, writers_never_overwrite_each_other) {
  using race = detail::lease_race;
  using command = race::command;
  EXPECT_TRUE(
    rc::check("writers do what the model of leases does", [kind = GetParam()] {
      const auto commands = *rc::gen::container<std::vector<command>>(
        rc::gen::container<command>(rc::gen::inRange(0, race::verbs)));
      const auto difference = race::difference(kind, commands);
      if (!difference.empty())
        RC_FAIL(difference);
    }));
}

} // namespace tertulia
