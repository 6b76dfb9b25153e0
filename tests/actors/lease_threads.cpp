// SPDX-License-Identifier: BSD-3-Clause

// One live invocation per session, on many threads.

#include <tertulia/define_agent.hpp>
#include <tertulia/memory_store.hpp>

#include <caf/scoped_actor.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/faulty_conversations.hpp"
#include "support/threaded.hpp"

using namespace std::chrono_literals;

namespace tertulia::test::lease_tests {

namespace {

using strings = std::vector<std::string>;

struct lease_threads : threaded {
  lease_threads()
    : store(spawn_memory_store(system)),
      agent(define_agent(
        *rt, "memo",
        [](context, agent_session<memo> mine, input<std::string> in,
           agent_responder<std::string> out) -> task<int> {
          const witness here;
          int count = 0;
          while (auto text = co_await in.next()) {
            ++count;
            co_await mine.update([&](memo& x) { x.said.push_back(*text); });
            co_await out.end_turn();
          }
          co_return count;
        },
        with_snapshot_store(store),
        with_snapshot_callback(snapshot_always{}))) {
    count_from_here();
  }

  /// Returns the records of session "s", which must be one chain without a gap.
  std::vector<stored_snapshot> chain() {
    std::vector<stored_snapshot> result;
    caf::scoped_actor self{system};
    for (bool more = true; more;) {
      list_snapshots_request target{
        session_ref{agent.info().key, session_id{std::string{"s"}}}};
      target.with_orphans = true;
      target.detail = detail_level::state;
      target.limit = max_page;
      target.after = result.size();
      self->request(store, patience, target)
        .receive(
          [&](snapshot_page& page) {
            more = page.more;
            for (auto& x : page.snapshots) {
              EXPECT_EQ(x.record.parent, result.size());
              result.push_back(std::move(x));
              EXPECT_EQ(result.back().record.sequence, result.size());
              EXPECT_FALSE(result.back().record.orphaned);
            }
          },
          [&](const caf::error& reason) {
            more = false;
            ADD_FAILURE() << to_status(reason).message();
          });
    }
    return result;
  }

  static strings said_in(const stored_snapshot& x) {
    auto custom = x.content.custom();
    return std::move(custom).take<memo>().said;
  }

  managed_store store;
  bidi_flow<memo, std::string, agent_output<memo, int>, std::string> agent;
};

} // namespace

TEST_F(lease_threads, who_has_its_output_can_open_the_session_at_once) {
  for (int i = 0; i < 1'000; ++i) {
    auto talk = agent.stream_bidi(with_session_id("s"));
    if (i % 4 == 0) {
      talk.send(std::to_string(i));
      read_turn(talk);
    }
    if (i % 2 == 0) {
      talk.close();
      ASSERT_EQ(talk.output(patience).output, i % 4 == 0 ? 1 : 0);
    } else {
      talk.cancel();
      ASSERT_EQ(code_from([&] { talk.output(patience); }), errc::cancelled);
    }
  }
  const auto records = chain();
  ASSERT_EQ(records.size(), 250u);
  EXPECT_EQ(said_in(records.back()).size(), 250u);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(lease_threads, of_two_that_race_for_a_session_one_gets_it) {
  constexpr int rounds = 500;
  strings expected;
  for (int round = 0; round < rounds; ++round) {
    std::atomic<int> ready = 0;
    std::atomic<int> decided = 0;
    std::atomic<int> won = 0;
    std::vector<std::thread> racers;
    std::array<std::string, 2> said;
    for (std::size_t i = 0; i < 2; ++i)
      racers.emplace_back([&, i] {
        ++ready;
        while (ready < 2)
          ;
        std::optional<
          connection<std::string, agent_output<memo, int>, std::string>>
          talk;
        const auto code = code_from(
          [&] { talk.emplace(agent.stream_bidi(with_session_id("s"))); });
        ++decided;
        if (!talk) {
          EXPECT_EQ(code, errc::failed_precondition);
          return;
        }
        ++won;
        EXPECT_TRUE(eventually([&] { return decided == 2; }));
        said[i] = std::to_string(round) + '/' + std::to_string(i);
        talk->send(said[i]);
        talk->close();
        EXPECT_EQ(talk->output(patience).output, 1);
      });
    for (auto& x : racers)
      x.join();
    ASSERT_EQ(won, 1) << round;
    expected.push_back(said[0].empty() ? said[1] : said[0]);
  }
  const auto records = chain();
  ASSERT_EQ(records.size(), static_cast<std::size_t>(rounds));
  EXPECT_EQ(said_in(records.back()), expected);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(lease_threads, who_takes_over_loses_no_turn_of_anybody) {
  constexpr int rounds = 250;
  std::array<strings, 2> received; // turns whose end their client received
  std::vector<std::thread> rivals;
  for (std::size_t i = 0; i < 2; ++i)
    rivals.emplace_back([&, i] {
      for (int round = 0; round < rounds; ++round) {
        const auto text = std::to_string(i) + '/' + std::to_string(round);
        const auto code = code_from([&] {
          auto talk = agent.stream_bidi(with_session_id("s"), with_take_over{});
          // It may end before its first input: the output reports the reason.
          if (code_from([&] { talk.send(text); }) == errc::ok) {
            auto turn = talk.responses(patience);
            for ([[maybe_unused]] const auto& x : turn)
              ;
            if (turn.turn_ended())
              received[i].push_back(text);
          }
          talk.close();
          talk.output(patience);
        });
        EXPECT_TRUE(code == errc::ok || code == errc::cancelled
                    || code == errc::aborted)
          << static_cast<int>(code);
      }
    });
  for (auto& x : rivals)
    x.join();
  const auto records = chain();
  ASSERT_FALSE(records.empty());
  // Each state continues the one before, and every input occurs once.
  for (std::size_t i = 1; i < records.size(); ++i) {
    const auto before = said_in(records[i - 1]);
    const auto now = said_in(records[i]);
    ASSERT_GT(now.size(), before.size());
    EXPECT_TRUE(std::equal(before.begin(), before.end(), now.begin()));
  }
  const auto all = said_in(records.back());
  auto sorted = all;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(std::adjacent_find(sorted.begin(), sorted.end()), sorted.end());
  for (const auto& mine : received) {
    // Turns whose end a client received are stored, in their order.
    auto at = all.begin();
    for (const auto& text : mine) {
      at = std::find(at, all.end(), text);
      ASSERT_NE(at, all.end()) << text << " was lost";
    }
  }
  EXPECT_TRUE(nothing_is_left());
}

} // namespace tertulia::test::lease_tests
