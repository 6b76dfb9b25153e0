// SPDX-License-Identifier: BSD-3-Clause

// Holders of leases that do not answer, and stores that die while leases are
// held.

#include <tertulia/status.hpp>
#include <tertulia/store_handlers.hpp>
#include <tertulia/store_supervisor.hpp>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "support/deterministic.hpp"
#include "support/failing_store.hpp"

using namespace std::literals;

namespace tertulia::test::store_lease_tests {

namespace {

struct store_leases : deterministic {
  store_leases()
    : scripted(system), store(supervise_store(system, scripted.factory())) {
    run();
  }

  ~store_leases() override {
    store = nullptr;
    holders.clear();
    kept_silent.clear();
    run();
  }

  /// Starts a holder that never confirms a cancel.
  lease_holder start_silent_holder() {
    holders.push_back(system.spawn<caf::hidden>(
      [this](lease_holder::pointer self) -> lease_holder::behavior_type {
        return {[=, this](cancel_atom, const caf::error&) -> caf::result<void> {
          auto answer = self->make_response_promise<void>();
          kept_silent.push_back(answer);
          return answer;
        }};
      }));
    return holders.back();
  }

  template <class Verb>
  using reply
    = std::shared_ptr<std::optional<caf::expected<store_reply_t<Verb>>>>;

  /// Sends a request and runs all actors.
  template <class Verb>
  reply<Verb> ask(Verb x) {
    auto result
      = std::make_shared<std::optional<caf::expected<store_reply_t<Verb>>>>();
    system.spawn<caf::hidden>([=, to = store](
                                caf::event_based_actor* self) mutable {
      self->request(to, caf::infinite, std::move(x))
        .then([=](store_reply_t<Verb>& y) { result->emplace(std::move(y)); },
              [=](caf::error& reason) { result->emplace(std::move(reason)); });
    });
    run();
    return result;
  }

  std::uint64_t fence_of(const reply<acquire_lease_request>& x) {
    if (*x && **x)
      return (**x)->fence;
    ADD_FAILURE() << (*x ? to_status((*x)->error()).message() : "no answer");
    return 0;
  }

  bool released(const lease_holder& x) {
    const auto result = ask(release_lease_request{x});
    return **result && ***result;
  }

  errc save(std::uint64_t fence) {
    const auto result = ask(save_session_request{
      session, state::plain(payload::of(++values)), 0, {}, fence});
    return **result ? errc::ok : code_of((*result)->error());
  }

  const session_ref session{"/agent/a", session_id{"s"}};
  failing_store scripted;
  managed_store store;
  std::vector<lease_holder> holders;
  std::vector<caf::typed_response_promise<void>> kept_silent;
  int values = 0;
};

} // namespace

TEST_F(store_leases, a_holder_that_does_not_confirm_its_cancel_is_lost) {
  const auto first = start_silent_holder();
  const auto second = start_silent_holder();
  const auto old = fence_of(ask(acquire_lease_request{session, first}));
  EXPECT_EQ(save(old), errc::ok);
  const auto taken
    = ask(acquire_lease_request{session, second, "", if_live::take_over});
  EXPECT_FALSE(*taken) << "the holder may still save";
  EXPECT_EQ(save(old), errc::ok);
  advance(max_cancel_wait - 1ns);
  EXPECT_FALSE(*taken);
  advance(1ns);
  const auto fence = fence_of(taken);
  EXPECT_GT(fence, old);
  EXPECT_EQ(save(old), errc::aborted);
  EXPECT_EQ(save(fence), errc::ok);
  // It comes back, too late.
  EXPECT_FALSE(released(first));
  EXPECT_EQ(save(fence), errc::ok);
}

TEST_F(store_leases, a_wait_ends_with_the_one_that_waits) {
  const auto first = start_silent_holder();
  const auto second = start_silent_holder();
  const auto third = start_silent_holder();
  const auto fence = fence_of(ask(acquire_lease_request{session, first}));
  const auto taken
    = ask(acquire_lease_request{session, second, "", if_live::take_over});
  kill(second);
  EXPECT_EQ(save(fence), errc::ok);
  EXPECT_TRUE(released(first));
  EXPECT_GT(fence_of(ask(acquire_lease_request{session, third})), fence);
}

TEST_F(store_leases, are_granted_in_the_order_of_the_queue) {
  const auto holder = start_silent_holder();
  const auto fence = fence_of(ask(acquire_lease_request{session, holder}));
  std::vector<lease_holder> waiting;
  std::vector<reply<acquire_lease_request>> granted;
  for (int i = 0; i < 3; ++i) {
    waiting.push_back(start_silent_holder());
    granted.push_back(
      ask(acquire_lease_request{session, waiting.back(), "", if_live::queue}));
  }
  EXPECT_FALSE(*granted[0]);
  kill(waiting[1]); // it gives up
  EXPECT_TRUE(released(holder));
  EXPECT_GT(fence_of(granted[0]), fence);
  EXPECT_FALSE(*granted[2]);
  EXPECT_TRUE(released(waiting[0]));
  EXPECT_GT(fence_of(granted[2]), fence_of(granted[0]));
}

TEST_F(store_leases, a_take_over_goes_before_the_queue) {
  const auto first = start_silent_holder();
  const auto queued = start_silent_holder();
  const auto taker = start_silent_holder();
  fence_of(ask(acquire_lease_request{session, first}));
  const auto later
    = ask(acquire_lease_request{session, queued, "", if_live::queue});
  const auto taken
    = ask(acquire_lease_request{session, taker, "", if_live::take_over});
  EXPECT_EQ(kept_silent.size(), 1u) << "the holder is cancelled";
  EXPECT_TRUE(released(first));
  EXPECT_NE(fence_of(taken), 0u);
  EXPECT_FALSE(*later);
  EXPECT_TRUE(released(taker));
  EXPECT_NE(fence_of(later), 0u);
}

TEST_F(store_leases, a_queue_has_an_end) {
  const auto holder = start_silent_holder();
  fence_of(ask(acquire_lease_request{session, holder}));
  for (std::size_t i = 0; i < max_queued_openings; ++i)
    EXPECT_FALSE(*ask(acquire_lease_request{session, start_silent_holder(), "",
                                            if_live::queue}));
  const auto refused = ask(
    acquire_lease_request{session, start_silent_holder(), "", if_live::queue});
  ASSERT_TRUE(*refused);
  EXPECT_EQ(code_of((*refused)->error()), errc::resource_exhausted);
}

TEST_F(store_leases, outlive_the_store_that_dies) {
  const auto first = start_silent_holder();
  const auto second = start_silent_holder();
  const auto fence = fence_of(ask(acquire_lease_request{session, first}));
  scripted.die_next();
  EXPECT_EQ(save(fence), errc::unavailable);
  EXPECT_EQ(save(fence), errc::ok) << "the store was started again";
  const auto refused = ask(acquire_lease_request{session, second});
  EXPECT_EQ(code_of((*refused)->error()), errc::failed_precondition);
  kill(first);
  EXPECT_GT(fence_of(ask(acquire_lease_request{session, second})), fence);
}

TEST_F(store_leases, are_released_while_the_store_is_down) {
  const auto first = start_silent_holder();
  const auto second = start_silent_holder();
  const auto fence = fence_of(ask(acquire_lease_request{session, first}));
  scripted.fail_start(1);
  scripted.die_next();
  EXPECT_EQ(save(fence), errc::unavailable);
  EXPECT_EQ(save(fence), errc::unavailable) << "it does not start";
  EXPECT_TRUE(released(first));
  kill(first); // the supervisor behind the failing store has heard of nothing
  advance(1s);
  EXPECT_GT(fence_of(ask(acquire_lease_request{session, second})), fence);
}

TEST_F(store_leases, are_free_again_after_a_request_that_the_store_lost) {
  const auto first = start_silent_holder();
  const auto second = start_silent_holder();
  scripted.fail_next<acquire_lease_request>(1, errc::unavailable);
  const auto lost = ask(acquire_lease_request{session, first});
  EXPECT_EQ(code_of((*lost)->error()), errc::unavailable);
  // The holder may try again, or it releases what it may have.
  EXPECT_GT(fence_of(ask(acquire_lease_request{session, first})), 0u);
  EXPECT_TRUE(released(first));
  EXPECT_GT(fence_of(ask(acquire_lease_request{session, second})), 0u);
}

TEST_F(store_leases, a_killed_supervisor_answers_those_that_wait) {
  const auto first = start_silent_holder();
  const auto second = start_silent_holder();
  EXPECT_GT(fence_of(ask(acquire_lease_request{session, first})), 0u);
  const auto taken
    = ask(acquire_lease_request{session, second, "", if_live::take_over});
  EXPECT_FALSE(*taken);
  kill(store);
  ASSERT_TRUE(*taken);
  EXPECT_EQ(code_of((*taken)->error()), errc::unavailable);
}

TEST_F(store_leases, do_not_keep_their_holders_alive) {
  auto first = start_silent_holder();
  const auto second = start_silent_holder();
  const auto fence = fence_of(ask(acquire_lease_request{session, first}));
  holders.erase(holders.begin());
  first = nullptr; // the last handle
  run();
  EXPECT_GT(fence_of(ask(acquire_lease_request{session, second})), fence);
}

} // namespace tertulia::test::store_lease_tests
