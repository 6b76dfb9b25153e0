// SPDX-License-Identifier: BSD-3-Clause

// A store in another process, which is killed in the middle of turns.

#include <tertulia/ai/session_flow.hpp>
#include <tertulia/ask_store.hpp>
#include <tertulia/remote_store.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
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
    restart_options options;
    options.first_pause = 1ms;
    options.longest_pause = 20ms;
    options.max_restarts = 100'000;
    store = connect_store(system, "127.0.0.1", port, options);
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

  /// Returns the number of turns in the store, once it can be reached.
  std::uint64_t kept_turns(const std::string& agent) {
    std::uint64_t result = 0;
    EXPECT_TRUE(eventually([&] {
      try {
        result
          = get_session(system, store, {agent, session_id{"s"}}).info.next_turn;
      } catch (const status_error& x) {
        return x.code() == errc::not_found;
      }
      return true;
    }));
    return result;
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

TEST_F(remote_store, while_it_is_gone_a_client_gets_one_error) {
  const auto flow = define_count();
  const with_session_id here{"s"};
  EXPECT_EQ(flow.run_text("go", here).output.state.custom, 1);
  auto talk = flow.stream_bidi(here);
  kill();
  talk.send_text("go");
  talk.close();
  EXPECT_EQ(error_of([&] { (void)talk.output(patience); }).code(),
            errc::unavailable);
  EXPECT_EQ(error_of([&] { (void)flow.run_text("go", here); }).code(),
            errc::unavailable)
    << "nor can it be opened";
  start();
  EXPECT_EQ(kept_turns(flow.info().key), 1u);
  EXPECT_EQ(flow.run_text("go", here).output.state.custom, 2)
    << "the same handle";
}

TEST_F(remote_store, a_node_that_was_never_there_is_an_error_of_the_request) {
  kill();
  const auto nowhere = connect_store(system, "127.0.0.1", port);
  EXPECT_EQ(error_of([&] {
              (void)ask_store(system, nowhere, list_sessions_request{});
            }).code(),
            errc::unavailable);
}

TEST_F(remote_store, ends_with_its_last_handle) {
  const auto before = system.registry().running();
  {
    const auto other = connect_store(system, "127.0.0.1", port);
    (void)ask_store(system, other, list_sessions_request{});
  }
  EXPECT_TRUE(
    eventually([&] { return system.registry().running() <= before; }));
}

TEST_F(remote_store, kills_in_the_middle_of_turns_lose_nothing) {
  const auto flow = define_count();
  const with_session_id here{"s"};
  const auto kills = by_effort(2, 5, 100);
  std::minstd_rand dice{7};
  std::atomic<std::uint64_t> acknowledged = 0;
  for (auto i = 0; i < kills; ++i) {
    // After some turns, and then somewhere in the next one.
    std::thread killer{
      [&, target = acknowledged + dice() % 3, pause = dice() % 20'000] {
        while (acknowledged < target)
          std::this_thread::yield();
        for (auto left = pause; left > 0; --left)
          std::this_thread::yield();
        server->kill();
      }};
    auto failed = false;
    while (!failed)
      try {
        auto talk = flow.stream_bidi(here);
        for (;;) {
          talk.send_text("go");
          std::string text;
          for (const auto& item : talk.responses(patience))
            if (item.chunk)
              text += item.chunk->text();
          if (talk.finished()) {
            (void)talk.output(patience); // throws
            break;
          }
          acknowledged = std::stoul(text);
        }
      } catch (const status_error& x) {
        ASSERT_EQ(x.code(), errc::unavailable) << x.message();
        failed = true;
      }
    killer.join();
    server.reset();
    start();
    const auto kept = kept_turns(flow.info().key);
    ASSERT_GE(kept, acknowledged.load());
    ASSERT_LE(kept, acknowledged + 1) << "the turn under way may be there";
    acknowledged = kept;
  }
  RecordProperty("turns", static_cast<int>(acknowledged.load()));
}

} // namespace tertulia::test::remote_store_tests
