// SPDX-License-Identifier: BSD-3-Clause

// Supervision of the actors of an application.

#include <tertulia/status.hpp>
#include <tertulia/supervise.hpp>

#include <caf/all.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/deterministic.hpp"
#include "support/refusal.hpp"

using namespace std::literals;

namespace tertulia::test::supervise_tests {

namespace {

using adder = caf::typed_actor<caf::replies_to<int, int>::with<int>,
                               caf::reacts_to<std::string>>;

/// Actors that a supervisor starts, and what they have received.
struct supervise : deterministic {
  adder spawn_adder(caf::actor_system& in) {
    ++started;
    if (fails)
      throw std::runtime_error("no such device");
    last = caf::actor_cast<caf::actor>(
      in.spawn([this](adder::pointer) -> adder::behavior_type {
        return {
          [](int x, int y) { return x + y; },
          [this](const std::string& x) { heard.push_back(x); },
        };
      }));
    return caf::actor_cast<adder>(last);
  }

  adder supervised(restart_options options = {}) {
    return tertulia::supervise(
      system, [this](caf::actor_system& in) { return spawn_adder(in); },
      options);
  }

  /// Returns the sum, or the error as a text.
  std::string sum(const adder& from) {
    std::string result = "no answer";
    const auto asker = system.spawn([&](caf::event_based_actor* self) {
      self->request(from, caf::infinite, 20, 22)
        .then([&](int x) { result = std::to_string(x); },
              [&](const caf::error& x) { result = error_text(to_status(x)); });
    });
    static_cast<void>(asker);
    run();
    return result;
  }

  int started = 0;
  bool fails = false;
  caf::actor last;
  std::vector<std::string> heard;
};

} // namespace

TEST_F(supervise, an_actor_answers_through_its_supervisor) {
  const auto x = supervised();
  EXPECT_EQ(sum(x), "42");
  caf::anon_send(x, "hello"s);
  run();
  EXPECT_EQ(heard, std::vector{"hello"s});
  EXPECT_EQ(started, 1);
}

TEST_F(supervise, an_actor_that_dies_is_started_again) {
  const auto x = supervised();
  run();
  kill(last);
  EXPECT_EQ(sum(x), "42");
  EXPECT_EQ(started, 2);
}

TEST_F(supervise, a_second_death_is_followed_by_a_pause) {
  const auto x = supervised();
  run();
  kill(last);
  kill(last);
  EXPECT_EQ(sum(x),
            "unavailable: the supervised actor is down: exit_reason(kill)");
  advance(100ms);
  EXPECT_EQ(sum(x), "42");
  EXPECT_EQ(started, 3);
}

TEST_F(supervise, a_factory_that_throws_is_called_again) {
  const auto x = supervised();
  run();
  fails = true;
  kill(last);
  EXPECT_EQ(sum(x),
            "unavailable: the supervised actor is down: no such device");
  fails = false;
  advance(100ms);
  EXPECT_EQ(sum(x), "42");
}

TEST_F(supervise, an_exit_message_ends_both) {
  const auto x = supervised();
  run();
  caf::anon_send_exit(x, caf::exit_reason::user_shutdown);
  run();
  last = nullptr;
  EXPECT_EQ(extra_actors(), 0u);
  EXPECT_EQ(started, 1);
}

TEST_F(supervise, the_last_handle_ends_both) {
  auto x = supervised();
  run();
  last = nullptr;
  x = nullptr;
  run();
  EXPECT_EQ(extra_actors(), 0u);
}

TEST_F(supervise, a_tick_of_the_application_reaches_its_actor) {
  auto ticks = 0;
  const auto x = tertulia::supervise(system, [&ticks](caf::actor_system& in) {
    return in.spawn([&ticks](caf::event_based_actor*) -> caf::behavior {
      return {[&ticks](caf::tick_atom) { ++ticks; }};
    });
  });
  caf::anon_send(x, caf::tick_atom_v);
  run();
  EXPECT_EQ(ticks, 1);
}

TEST_F(supervise, options_that_contradict_each_other_are_refused) {
  restart_options options;
  options.longest_pause = 1ms;
  EXPECT_EQ(refusal([&] { (void)supervised(options); }),
            "$.longestPause: is shorter than the first one");
  EXPECT_EQ(started, 0);
}

} // namespace tertulia::test::supervise_tests
