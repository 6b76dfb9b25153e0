// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/memory_store.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store_supervisor.hpp>

#include <caf/all.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/failing_store.hpp"
#include <gtest/gtest.h>

using namespace std::literals;

namespace tertulia::test::store_supervisor_tests {

namespace {

/// Fixture without threads, and with a clock that the test advances.
struct store_supervisor : ::testing::Test {
  struct config : caf::actor_system_config {
    config() {
      set("scheduler.policy", caf::atom("testing"));
    }
  };

  /// Request and its outcome.
  struct asked {
    std::shared_ptr<std::optional<errc>> answer
      = std::make_shared<std::optional<errc>>();
    caf::actor asker;

    [[nodiscard]] bool answered() const {
      return answer->has_value();
    }

    [[nodiscard]] errc code() const {
      return answer->value();
    }
  };

  store_supervisor()
    : sched(
      dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler())),
      scripted(std::in_place, system) {
    options.first_pause = 1s;
    options.longest_pause = 4s;
    options.max_restarts = 5;
    options.period = 60s;
    store = supervise_store(system, scripted->factory(), options);
    run();
  }

  ~store_supervisor() override {
    store = nullptr;
    scripted.reset();
    run();
  }

  void run() {
    sched.run();
  }

  void advance(caf::timespan by) {
    sched.advance_time(by);
    run();
  }

  asked save(int value = 1) {
    save_session_request x{
      {"/agent/a", session_id{"s"}}, state::plain(payload::of(value)), 0};
    asked result;
    result.asker = system.spawn<caf::hidden>(
      [](caf::event_based_actor* self, managed_store store,
         save_session_request x, std::shared_ptr<std::optional<errc>> answer) {
        self->request(store, caf::infinite, std::move(x))
          .then([=](session_info&) { *answer = errc::ok; },
                [=](caf::error& reason) { *answer = code_of(reason); });
      },
      store, std::move(x), result.answer);
    run();
    return result;
  }

  errc code() {
    return save().code();
  }

  /// Kills the store behind the supervisor by a request.
  void kill() {
    scripted->die_next();
    EXPECT_EQ(code(), errc::unavailable);
  }

  config cfg;
  caf::actor_system system{cfg};
  caf::scheduler::test_coordinator& sched;
  std::optional<failing_store> scripted;
  restart_options options;
  managed_store store;
};

} // namespace

// -- requests -----------------------------------------------------------------

TEST_F(store_supervisor, answers_and_errors_of_the_store_come_through) {
  EXPECT_EQ(code(), errc::ok);
  scripted->fail_next(1, errc::data_loss);
  EXPECT_EQ(code(), errc::data_loss);
  EXPECT_EQ(code(), errc::ok);
}

TEST_F(store_supervisor, what_was_in_flight_when_the_store_died_is_answered) {
  scripted->hang_next(2);
  const auto first = save();
  const auto second = save();
  EXPECT_FALSE(first.answered());
  scripted->die_next();
  EXPECT_EQ(code(), errc::unavailable);
  EXPECT_EQ(first.code(), errc::unavailable);
  EXPECT_EQ(second.code(), errc::unavailable);
}

TEST_F(store_supervisor, a_late_answer_of_a_living_store_counts) {
  scripted->hang_next(1);
  const auto slow = save();
  EXPECT_EQ(code(), errc::ok);
  EXPECT_FALSE(slow.answered());
  scripted->answer_hung();
  run();
  EXPECT_EQ(slow.code(), errc::ok);
}

TEST_F(store_supervisor, a_store_that_was_killed_from_outside_is_noticed) {
  scripted->hang_next(1);
  const auto slow = save();
  caf::anon_send_exit(scripted->store(), caf::exit_reason::kill);
  run();
  EXPECT_EQ(slow.code(), errc::unavailable);
  EXPECT_EQ(code(), errc::ok);
}

TEST_F(store_supervisor, a_killed_supervisor_takes_no_answer_along) {
  scripted->hang_next(1);
  const auto slow = save();
  caf::anon_send_exit(store, caf::exit_reason::kill);
  run();
  EXPECT_FALSE(slow.answered());
  scripted->answer_hung();
  run();
  EXPECT_EQ(slow.code(), errc::ok);
  EXPECT_EQ(code(), errc::unavailable); // a request to a dead actor fails
}

// -- restarts -----------------------------------------------------------------

TEST_F(store_supervisor, the_first_restart_is_immediate) {
  kill();
  EXPECT_EQ(scripted->starts(), 3u); // constructor, supervisor, restart
  EXPECT_EQ(code(), errc::ok);
}

TEST_F(store_supervisor, later_restarts_come_after_longer_and_longer_pauses) {
  kill();
  for (const auto pause : {1s, 2s, 4s, 4s}) {
    kill();
    EXPECT_EQ(code(), errc::unavailable);
    advance(pause - 1ms);
    EXPECT_EQ(code(), errc::unavailable);
    advance(1ms);
    EXPECT_EQ(code(), errc::ok);
  }
}

TEST_F(store_supervisor, there_are_only_so_many_restarts_in_a_period) {
  kill();
  for (const auto pause : {1s, 2s, 4s, 4s}) {
    kill();
    advance(pause);
  }
  kill(); // 11 s after the first restart
  advance(48s);
  EXPECT_EQ(code(), errc::unavailable);
  advance(1s);
  EXPECT_EQ(code(), errc::ok);
}

TEST_F(store_supervisor, a_store_that_has_lived_long_is_trusted_again) {
  kill();
  advance(options.period);
  kill();
  EXPECT_EQ(code(), errc::ok);
}

TEST_F(store_supervisor, a_factory_that_throws_is_asked_again) {
  scripted->fail_start(2);
  kill();
  EXPECT_EQ(code(), errc::unavailable);
  advance(1s);
  EXPECT_EQ(code(), errc::unavailable);
  advance(2s);
  EXPECT_EQ(code(), errc::ok);
}

TEST_F(store_supervisor, a_factory_that_throws_at_once_throws_at_the_caller) {
  scripted->fail_start(1);
  EXPECT_THROW((void)supervise_store(system, scripted->factory()),
               status_error);
}

TEST_F(store_supervisor, options_that_make_no_sense_are_refused) {
  auto refused = [&](auto change) {
    auto wrong = options;
    change(wrong);
    EXPECT_THROW((void)supervise_store(system, scripted->factory(), wrong),
                 status_error);
  };
  refused([](auto& x) { x.first_pause = 0s; });
  refused([](auto& x) { x.longest_pause = 1ms; });
  refused([](auto& x) { x.max_restarts = 0; });
  refused([](auto& x) { x.period = 0s; });
}

// -- termination --------------------------------------------------------------

TEST_F(store_supervisor, without_handles_supervisor_and_store_end) {
  caf::actor_addr front;
  auto supervisor = supervise_store(system, [&](caf::actor_system& sys) {
    auto result = spawn_memory_store(sys);
    front = result.address();
    return result;
  });
  const auto address = supervisor.address();
  run();
  EXPECT_NE(caf::actor_cast<caf::strong_actor_ptr>(front), nullptr);
  supervisor = nullptr;
  run();
  EXPECT_EQ(caf::actor_cast<caf::strong_actor_ptr>(address), nullptr);
  EXPECT_EQ(caf::actor_cast<caf::strong_actor_ptr>(front), nullptr);
}

TEST_F(store_supervisor, told_to_exit_it_answers_and_takes_the_store_along) {
  scripted->hang_next(1);
  const auto slow = save();
  caf::anon_send_exit(store, caf::exit_reason::user_shutdown);
  run();
  EXPECT_EQ(slow.code(), errc::unavailable);
  EXPECT_EQ(scripted->starts(), 2u);
}

TEST_F(store_supervisor, told_to_exit_it_ends_after_its_store) {
  const auto front = scripted->store().address();
  const auto address = store.address();
  std::vector<caf::actor_addr> ended;
  const auto watcher
    = system.spawn<caf::hidden>([&](caf::event_based_actor* self) {
        self->monitor(front);
        self->monitor(address);
        self->set_down_handler(
          [&](const caf::down_msg& x) { ended.push_back(x.source); });
        return caf::behavior{[](caf::unit_t) {}};
      });
  run();
  caf::anon_send_exit(store, caf::exit_reason::user_shutdown);
  run();
  EXPECT_EQ(ended, (std::vector<caf::actor_addr>{front, address}));
}

TEST_F(store_supervisor, the_system_waits_for_a_store_but_not_for_a_pause) {
  const auto running = [&] { return system.registry().running(); };
  const auto with_store = running();
  kill();
  EXPECT_EQ(running(), with_store); // restarted at once
  kill();
  EXPECT_EQ(running(), with_store - 1);
  scripted->fail_start(1);
  advance(options.first_pause);
  EXPECT_EQ(running(), with_store - 1);
  advance(options.longest_pause);
  EXPECT_EQ(running(), with_store);
  caf::anon_send_exit(store, caf::exit_reason::user_shutdown);
  run();
  EXPECT_EQ(running(), with_store - 1);
}

TEST_F(store_supervisor,
       a_restart_that_is_due_does_not_keep_it_alive_for_ever) {
  kill();
  kill();
  const auto address = store.address();
  store = nullptr;
  advance(options.longest_pause);
  EXPECT_EQ(caf::actor_cast<caf::strong_actor_ptr>(address), nullptr);
}

} // namespace tertulia::test::store_supervisor_tests
