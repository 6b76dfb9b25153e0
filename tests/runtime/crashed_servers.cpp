// SPDX-License-Identifier: BSD-3-Clause

// A client whose server is killed again and again in the middle of its turns:
// it is written as if nothing happened.

#include <tertulia/ai/conversation_connection.hpp>
#include <tertulia/ai/conversation_handle.hpp>
#include <tertulia/ai/session_flow.hpp>
#include <tertulia/remote_runtime.hpp>

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

  /// Starts a server, which lives that long.
  void start(std::chrono::microseconds lifetime = 0us) {
    server = std::make_unique<child_process>(
      "mortal_server", strings{port, (folder / "store.db").string(), effects,
                               std::to_string(lifetime.count())});
    const auto line = server->read_line();
    if (port == "0")
      port = line;
  }

  /// Starts servers, each of which lives for a random time, until it is
  /// stopped, and then one that lives.
  void keep_alive(unsigned seed, std::chrono::microseconds longest) {
    keeper = std::jthread{[=, this](const std::stop_token& stopped) {
      std::minstd_rand dice{seed + 1};
      std::uniform_int_distribution<long> lifetime{1, longest.count()};
      while (!stopped.stop_requested()) {
        server->wait();
        ++kills;
        start(std::chrono::microseconds{lifetime(dice)});
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

  /// Returns how often the tool has had each effect.
  [[nodiscard]] std::map<std::string, int> effects_had() const {
    std::map<std::string, int> result;
    std::ifstream in{effects};
    for (std::string line; std::getline(in, line);)
      ++result[line.substr(line.find(' ') + 1)];
    return result;
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

strings told_of(const ai::message_log& all) {
  strings result;
  for (const auto& x : all)
    if (x.role == ai::role::user || !x.text().empty())
      result.push_back(x.text());
  return result;
}

} // namespace

TEST_F(crashed_servers, a_client_does_not_notice) {
  const auto wanted = by_effort(3, 12, 300);
  start();
  const auto agent = clerk();
  server->kill();
  start(20ms);
  keep_alive(17, 120ms);
  auto talk = agent.stream_bidi(with_session_id("errands"), with_keep(1min));
  strings expected;
  auto turns = 0;
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
  const auto had = effects_had();
  EXPECT_EQ(had.size(), static_cast<std::size_t>(2 * turns));
  for (const auto& [what, times] : had)
    EXPECT_EQ(times, 1) << what;
  EXPECT_GE(kills, wanted);
  RecordProperty("kills", kills.load());
  RecordProperty("turns", turns);
}

} // namespace tertulia::test::crashed_server_tests
