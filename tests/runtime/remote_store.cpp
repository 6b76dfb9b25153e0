// SPDX-License-Identifier: BSD-3-Clause

// A store in another process, which is killed in the middle of turns.

#include <tertulia/ai/session_flow.hpp>
#include <tertulia/ask_store.hpp>
#include <tertulia/remote_store.hpp>

#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <future>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "support/child_process.hpp"
#include "support/conversations.hpp"
#include "support/effort.hpp"
#include "support/network_config.hpp"
#include "support/scratch.hpp"

using namespace std::literals;

namespace tertulia::test::remote_store_tests {

namespace {

/// Fixture with a store in another process, and a runtime here.
struct remote_store : ::testing::Test {
  remote_store() {
    start();
    store = connect_store(system, "127.0.0.1", port, patience);
  }

  ~remote_store() override {
    rt.reset();
    store = nullptr;
  }

  void start() {
    server.emplace("store_server", strings{(folder / "store.db").string(),
                                           std::to_string(port)});
    port = static_cast<std::uint16_t>(std::stoi(server->read_line()));
  }

  void kill() {
    server->kill();
    server.reset();
  }

  /// Defines a flow whose turns count, and take a while in the middle.
  auto define_count() {
    return ai::define_session_flow(
      *rt, "count",
      [](context ctx, ai::flow_session<int> sess,
         ai::flow_responder<nothing> out) -> task<> {
        co_await sess.run_turns(
          ctx, [&](context, const ai::conversation_input&) -> task<> {
            co_await sess.patch_custom([](int& x) { ++x; });
            const auto reached = co_await sess.custom();
            co_await out.send_text(std::to_string(reached));
          });
      },
      with_snapshot_store(store));
  }

  std::uint64_t turns_in_store(const std::string& agent) {
    return get_session(system, store, {agent, session_id{"s"}}).info.next_turn;
  }

  scratch folder;
  std::uint16_t port = 0;
  std::optional<child_process> server;
  network_config cfg;
  caf::actor_system system{cfg};
  std::optional<runtime> rt{std::in_place, system};
  managed_store store;
};

} // namespace

TEST_F(remote_store, keeps_conversations_like_any_store) {
  const auto flow = define_count();
  const with_session_id here{"s"};
  EXPECT_EQ(flow.run_text("go", here).output.state.custom, 1);
  EXPECT_EQ(flow.run_text("go", here).output.state.custom, 2);
  EXPECT_EQ(flow.snapshots(here.id).size(), 2u);
}

TEST_F(remote_store, while_it_is_away_requests_wait) {
  kill();
  const auto other = connect_store(system, "127.0.0.1", port, patience);
  auto page = std::async(std::launch::async, [&] {
    return ask_store(system, other, list_sessions_request{});
  });
  start();
  EXPECT_TRUE(page.get().sessions.empty());
}

TEST_F(remote_store, a_node_that_stays_away_is_an_error_of_the_request) {
  kill();
  const auto nowhere = connect_store(system, "127.0.0.1", port, 50ms);
  const auto ask
    = [&] { (void)ask_store(system, nowhere, list_sessions_request{}); };
  EXPECT_EQ(error_of(ask).code(), errc::unavailable) << "after a while";
  EXPECT_EQ(error_of(ask).code(), errc::unavailable) << "and at once";
  start();
  EXPECT_TRUE(eventually([&] {
    try {
      ask();
    } catch (const status_error&) {
      return false;
    }
    return true;
  }))
    << "until it is there";
}

TEST_F(remote_store, while_it_is_away_requests_are_held_up_to_a_limit) {
  kill();
  const auto nowhere = connect_store(system, "127.0.0.1", port, patience);
  caf::scoped_actor self{system};
  for (auto left = 10'000; left > 0; --left)
    self->send(nowhere, list_sessions_request{});
  EXPECT_EQ(error_of([&] {
              (void)ask_store(system, nowhere, list_sessions_request{});
            }).code(),
            errc::resource_exhausted);
}

TEST_F(remote_store, an_actor_system_without_a_network_is_refused_at_once) {
  config alone;
  caf::actor_system other{alone};
  const auto nowhere = connect_store(other, "127.0.0.1", port, patience);
  EXPECT_EQ(error_of([&] {
              (void)ask_store(other, nowhere, list_sessions_request{});
            }).code(),
            errc::failed_precondition);
}

TEST_F(remote_store, ends_with_its_last_handle) {
  (void)ask_store(system, store, list_sessions_request{});
  const auto before = system.registry().running();
  {
    const auto other = connect_store(system, "127.0.0.1", port);
    (void)ask_store(system, other, list_sessions_request{});
  }
  EXPECT_TRUE(
    eventually([&] { return system.registry().running() <= before; }));
}

TEST_F(remote_store, a_requester_without_an_answer_is_not_kept) {
  const auto here = connect_store(system, "127.0.0.1", port, 2s);
  (void)ask_store(system, here, list_sessions_request{});
  const auto before = system.registry().running();
  std::promise<void> asked;
  std::promise<caf::error> answered;
  server->freeze(); // else it may still answer
  // As a session does, it holds the store that has its request.
  auto requester = system.spawn(
    [&](caf::event_based_actor* self,
        const managed_store& of) -> caf::behavior {
      self->request(of, caf::infinite, list_sessions_request{})
        .then([](const session_page&) {},
              [&](caf::error& reason) { answered.set_value(reason); });
      asked.set_value();
      return {[of](caf::get_atom) { return of; }};
    },
    here);
  asked.get_future().wait();
  kill();
  EXPECT_EQ(code_of(answered.get_future().get()), errc::unavailable);
  requester = nullptr;
  EXPECT_TRUE(
    eventually([&] { return system.registry().running() <= before; }));
}

TEST_F(remote_store, kills_in_the_middle_of_turns_cost_an_error_at_most) {
  const auto flow = define_count();
  const with_session_id here{"s"};
  const auto kills = by_effort(2, 5, 100);
  std::minstd_rand dice{7};
  std::atomic<std::uint64_t> acknowledged = 0;
  auto pauses = 0;
  for (auto i = 0; i < kills && !HasFailure(); ++i) {
    std::atomic_bool back = false;
    std::atomic_bool stop = false;
    // Kills after some turns, somewhere in the next one.
    const auto killed
      = std::async(std::launch::async, [&, target = acknowledged + dice() % 3,
                                        pause = dice() % 20'000] {
          while (acknowledged < target && !stop)
            std::this_thread::yield();
          for (auto left = pause; left > 0; --left)
            std::this_thread::yield();
          kill();
          start();
          back = true;
        });
    auto errors = 0;
    for (auto served = false; !served && !HasFailure();)
      try {
        auto talk = flow.stream_bidi(here);
        while (!served) {
          const auto is_last = back.load();
          talk.send_text("go");
          std::string text;
          for (const auto& item : talk.responses(patience))
            if (item.chunk)
              text += item.chunk->text();
          if (talk.finished())
            (void)talk.output(patience); // throws
          const auto turns = std::stoul(text);
          EXPECT_GE(turns, acknowledged + 1) << "lost";
          EXPECT_LE(turns, acknowledged + 1 + errors)
            << "only the turn of the error may be there without an answer";
          acknowledged = turns;
          served = is_last;
        }
        talk.close();
        (void)talk.output(patience);
      } catch (const status_error& x) {
        EXPECT_EQ(x.code(), errc::unavailable) << x.message();
        EXPECT_LE(++errors, 1) << x.message();
      } catch (const std::exception& x) {
        ADD_FAILURE() << x.what();
      }
    stop = true;
    pauses += 1 - errors;
  }
  EXPECT_EQ(turns_in_store(flow.info().key), acknowledged);
  RecordProperty("turns", static_cast<int>(acknowledged.load()));
  RecordProperty("pauses", pauses);
}

} // namespace tertulia::test::remote_store_tests
