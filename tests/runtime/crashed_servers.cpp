// SPDX-License-Identifier: BSD-3-Clause

// A client whose server is killed again and again in the middle of its turns:
// it is written as if nothing happened.

#include <tertulia/ai/conversation_connection.hpp>
#include <tertulia/ai/conversation_handle.hpp>
#include <tertulia/ai/session_flow.hpp>
#include <tertulia/ask_store.hpp>
#include <tertulia/remote_runtime.hpp>
#include <tertulia/runtime.hpp>
#include <tertulia/sqlite_store.hpp>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/child_process.hpp"
#include "support/effort.hpp"
#include "support/network_config.hpp"
#include "support/refusal.hpp"
#include "support/scratch.hpp"
#include "support/threaded.hpp"
#include <gtest/gtest.h>

using namespace std::literals;

namespace tertulia::test::crashed_server_tests {

namespace {

using clerk_type = ai::session_flow<nothing, nothing>;

constexpr auto clerk_key = "/session-flow/clerk";

struct crashed_servers : ::testing::Test {
  ~crashed_servers() override {
    stop();
  }

  /// Starts a server, which lives that long. Returns how long it took.
  std::chrono::microseconds start(std::chrono::microseconds lifetime = 0us) {
    const auto begin = std::chrono::steady_clock::now();
    server = std::make_unique<child_process>(
      "mortal_server", strings{port, (folder / "store.db").string(), effects,
                               std::to_string(lifetime.count())});
    const auto line = server->read_line();
    if (port == "0")
      port = line;
    return std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - begin);
  }

  /// Starts servers, each of which lives for a random time, until it is
  /// stopped, and then one that lives.
  void keep_alive(unsigned seed) {
    keeper = std::jthread{[=, this](const std::stop_token& stopped) {
      std::minstd_rand dice{seed + 1};
      std::chrono::microseconds longest = 120ms;
      while (!stopped.stop_requested()) {
        server->wait();
        ++kills;
        std::uniform_int_distribution<long> lifetime{1, longest.count()};
        const auto startup = start(std::chrono::microseconds{lifetime(dice)});
        // On a machine on which a start takes long, a turn does so too.
        longest = std::max<std::chrono::microseconds>(120ms, 3 * startup);
      }
      server->wait();
      start();
    }};
  }

  void stop() {
    if (keeper.joinable()) {
      keeper.request_stop();
      keeper.join();
    }
  }

  clerk_type clerk() {
    there.emplace(system,
                  std::vector{endpoint{
                    "127.0.0.1", static_cast<std::uint16_t>(std::stoi(port))}},
                  reconnect_policy{2min, 1ms, 20ms}, 10s);
    return there->action<clerk_type>(clerk_key);
  }

  /// Returns the agent of a server that is not killed yet: an opening that is
  /// lost is the business of its caller.
  clerk_type whole_clerk() {
    start();
    return clerk();
  }

  /// Kills the server, and those that follow it.
  void kill_from_now_on(unsigned seed) {
    server->kill();
    start(20ms);
    keep_alive(seed);
  }

  /// Checks that the tool has had both effects of each turn once.
  void check_effects(int turns) const {
    std::map<std::string, int> had;
    std::ifstream in{effects};
    for (std::string line; std::getline(in, line);)
      ++had[line.substr(line.find(' ') + 1)];
    EXPECT_EQ(had.size(), static_cast<std::size_t>(2 * turns));
    for (const auto& [what, times] : had)
      EXPECT_EQ(times, 1) << what;
  }

  /// Kills the server in the middle of a run, and checks what the store says of
  /// all runs: none is left running, and that one has expired.
  void check_runs(const clerk_type& of) {
    auto left = of.stream_bidi(with_session_id("left"), with_keep(1min));
    left.send_text("left");
    for (const auto& x : left.responses(2min)) // the store has the run by then
      static_cast<void>(x);
    const auto run = left.detach().run;
    server->kill();
    const auto store
      = spawn_sqlite_store(system, (folder / "store.db").string());
    EXPECT_TRUE(eventually([&] {
      return ask_store(system, store, get_run_request{{clerk_key, run}}).status
             == run_status::expired;
    }));
    list_runs_request question;
    question.status = run_status::running;
    EXPECT_TRUE(ask_store(system, store, question).runs.empty());
    caf::anon_send_exit(store, caf::exit_reason::user_shutdown);
  }

  scratch folder;
  const std::string effects = (folder / "effects").string();
  std::string port = "0";
  std::atomic<int> kills = 0;
  std::unique_ptr<child_process> server;
  network_config cfg;
  caf::actor_system system{cfg};
  std::optional<remote_runtime> there;
  std::jthread keeper;
};

/// Returns what was said in a conversation, without requests of tools.
strings told_of(const ai::message_log& all) {
  strings result;
  for (const auto& x : all)
    if (const auto text = x.text(); !text.empty() && text != "one moment")
      result.push_back(text);
  return result;
}

} // namespace

TEST_F(crashed_servers, a_client_does_not_notice) {
  const auto wanted = by_effort(3, 12, 300);
  const auto agent = whole_clerk();
  auto talk = agent.stream_bidi(with_session_id("errands"), with_keep(1min));
  kill_from_now_on(17);
  strings expected;
  int turns = 0;
  for (; kills < wanted && turns < 100 * wanted; ++turns) {
    const auto text = std::to_string(turns);
    talk.send_text(text);
    for (const auto& x : talk.responses(2min))
      static_cast<void>(x);
    expected.push_back(text);
    expected.push_back("done: " + text);
  }
  stop();
  talk.close();
  const auto last = talk.output(2min);
  EXPECT_EQ(told_of(last.state.messages), expected);
  check_effects(turns);
  check_runs(agent);
  EXPECT_GE(kills, wanted);
  RecordProperty("kills", kills.load());
  RecordProperty("turns", turns);
}

TEST_F(crashed_servers, inputs_that_are_sent_ahead_are_taken_once) {
  const auto turns = by_effort(20, 100, 1'000);
  const auto agent = whole_clerk();
  auto talk = agent.stream_bidi(with_session_id("errands"), with_keep(1min),
                                with_input_window(4));
  kill_from_now_on(18);
  strings expected;
  for (int i = 0; i < turns; ++i) {
    expected.push_back(std::to_string(i));
    expected.push_back("done: " + std::to_string(i));
  }
  std::jthread sender{[&] {
    for (int i = 0; i < turns; ++i)
      talk.send_text(std::to_string(i));
    talk.close();
  }};
  int heard = 0;
  do {
    for (const auto& x : talk.responses(2min))
      heard += x.end_turn ? 1 : 0;
  } while (!talk.finished());
  EXPECT_EQ(heard, turns) << "each end of a turn is heard once";
  EXPECT_EQ(told_of(talk.output(2min).state.messages), expected);
  check_effects(turns);
  RecordProperty("kills", kills.load());
}

TEST_F(crashed_servers, a_turn_with_a_name_is_asked_for_until_it_is_over) {
  const auto turns = by_effort(3, 10, 100);
  const auto agent = whole_clerk();
  kill_from_now_on(19);
  strings expected;
  for (int i = 0; i < turns; ++i) {
    // A program without a memory of its own: it asks again after any error.
    const auto text = std::to_string(i);
    for (auto is_over = false; !is_over;)
      try {
        const auto result
          = agent.run_text(text, with_session_id("errands"), with_turn_id(text),
                           with_deadline(20s));
        EXPECT_TRUE(result.text.ends_with("done: " + text)) << result.text;
        is_over = true;
      } catch (const status_error& error) {
        const auto code = error.code();
        ASSERT_TRUE(code == errc::unavailable || code == errc::aborted
                    || code == errc::failed_precondition)
          << error.message();
      }
    expected.push_back(text);
    expected.push_back("done: " + text);
  }
  stop();
  const auto last = agent.resume(session_id{"errands"});
  EXPECT_EQ(told_of(last.output.state.messages), expected);
  check_effects(turns);
  RecordProperty("kills", kills.load());
}

TEST_F(crashed_servers, a_body_does_not_notice) {
  const auto turns = by_effort(3, 10, 100);
  const auto agent = whole_clerk();
  runtime here{system};
  const auto messenger = here.define_bidi_flow(
    "messenger",
    [agent](context ctx, input<std::string> in,
            output<std::string> out) -> task<ai::message_log> {
      const with_session_id session{"errands"};
      const with_keep kept{1min};
      auto talk = co_await agent.open(ctx, session, kept);
      while (const auto text = co_await in.next()) {
        ai::conversation_input said{{ai::user_text(*text)}};
        co_await talk.send(std::move(said));
        while (const auto x = co_await talk.next())
          if (x->chunk)
            co_await out.send(x->chunk->text());
        co_await out.end_turn();
      }
      talk.close();
      auto last = co_await talk.output();
      co_return std::move(last.state.messages);
    });
  auto talk = messenger.stream_bidi();
  strings expected;
  for (int i = 0; i < turns; ++i) {
    const auto text = std::to_string(i);
    talk.send(text);
    for (const auto& x : talk.responses(2min))
      static_cast<void>(x);
    if (i == 0)
      kill_from_now_on(20);
    expected.push_back(text);
    expected.push_back("done: " + text);
  }
  stop();
  talk.close();
  EXPECT_EQ(told_of(talk.output(2min)), expected);
  check_effects(turns);
  RecordProperty("kills", kills.load());
}

} // namespace tertulia::test::crashed_server_tests
