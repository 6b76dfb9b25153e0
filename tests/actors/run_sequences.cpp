// SPDX-License-Identifier: BSD-3-Clause

// Random sequences of what can happen to the clients of a kept run, against a
// model of its log: the list of what the body has sent.

#include <tertulia/json.hpp>
#include <tertulia/runtime.hpp>
#include <tertulia/status.hpp>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/effort.hpp"
#include "support/flows.hpp"
#include "support/threaded.hpp"

using namespace std::literals;

namespace tertulia::test::run_sequences_tests {

namespace {

constexpr int end_of_turn = -1;

/// What the body of one run did.
struct record {
  std::vector<int> sent;  ///< chunks and ends of turns: the log
  std::vector<int> taken; ///< inputs
};

/// Returns the input of a number: so each client sends the same one.
int input_of(std::uint64_t number) {
  return static_cast<int>(number * 7 % 11);
}

using client_type = recording_client<int, int, int>;

struct run_sequences : flows {
  struct reader {
    std::unique_ptr<client_type> client;
    client_role role;
    std::uint64_t window; ///< credit in all
    std::uint64_t from = 0;
  };

  run_sequences() : work(define_on(*rt)) {
    define_on(forgetful);
  }

  ~run_sequences() override {
    forgetful.stop();
    run_all();
  }

  /// Returns the options of a runtime whose logs hold little but the last turn.
  static runtime_options small_log() {
    runtime_options result;
    result.max_run_log = 256;
    return result;
  }

  bidi_flow<nothing, int, int, int> define_on(runtime& runs) {
    return runs.define_bidi_flow(
      "work", [this](context ctx, input<int> in, output<int> out) -> task<int> {
        const witness here;
        const auto own = now; // a later run has another one
        while (auto count = co_await in.next()) {
          own->taken.push_back(*count);
          for (int i = 0; i < *count; ++i) {
            own->sent.push_back(static_cast<int>(own->sent.size()));
            co_await out.send(own->sent.back());
            if (i == 5)
              co_await ctx.sleep(1s);
          }
          own->sent.push_back(end_of_turn);
          co_await out.end_turn();
        }
        co_return static_cast<int>(own->taken.size());
      });
  }

  auto pick(int below) {
    return std::uniform_int_distribution<int>{0, below - 1}(random);
  }

  template <class... Options>
  void open_reader(client_role role, const Options&... options) {
    const auto window = static_cast<std::uint32_t>(pick(8));
    auto client = std::make_unique<client_type>(
      system, host->front_desk(), work, with_chunk_window(window), options...);
    if (!client->received().open) {
      const auto& reason = client->received().refused;
      refusals.push_back(code_of(reason));
      check_gap(to_status(reason));
      return;
    }
    const auto from = client->received().open->attached.next;
    readers.push_back({std::move(client), role, window, from});
  }

  /// Checks that a refusal for a position that the log has lost names one that
  /// it holds.
  void check_gap(const status_error& reason) {
    if (reason.code() != errc::out_of_range || reason.details().empty())
      return;
    ++gaps;
    const auto details = parse_json<json>(reason.details());
    ASSERT_EQ(details.at("run"), to_string(run));
    const auto number = details.at("number").get<std::uint64_t>();
    ASSERT_GT(number, 0u);
    ASSERT_LE(number, now->sent.size());
    ASSERT_EQ(now->sent[number - 1], end_of_turn) << "whole turns are lost";
  }

  /// Attaches at any position, also at one that does not exist.
  void attach() {
    const auto role
      = pick(2) == 0 ? client_role::talker : client_role::listener;
    const auto at = [&](const auto& option) {
      if (role == client_role::listener)
        open_reader(role, option, as_listener{});
      else
        open_reader(role, option);
    };
    const auto length = static_cast<int>(now->sent.size());
    if (pick(4) == 0)
      at(with_run(run));
    else
      at(with_cursor({run, static_cast<std::uint64_t>(pick(length + 2))}));
  }

  reader* any_reader() {
    if (readers.empty())
      return nullptr;
    return &readers[static_cast<std::size_t>(
      pick(static_cast<int>(readers.size())))];
  }

  void step() {
    auto* const who = any_reader();
    switch (pick(16)) {
      case 0:
      case 1:
      case 2:
        if (readers.size() < 5)
          attach();
        break;
      case 3:
        if (who != nullptr)
          who->client->detach();
        break;
      case 4:
        if (who != nullptr)
          who->client->die();
        break;
      case 5:
      case 6:
      case 7:
      case 8:
        if (who != nullptr) {
          const auto credit = static_cast<std::uint32_t>(pick(20));
          who->window += credit;
          who->client->grant(credit);
        }
        break;
      case 9:
      case 10:
      case 11:
      case 12:
        if (who != nullptr && who->client->received().input_credit > 0) {
          who->client->post(input_of(who->client->received().inputs));
          if (pick(4) != 0)
            run_all();
        }
        break;
      case 13:
        if (who != nullptr && who->client->received().inputs > 0) {
          // An old input once more, as after a lost acknowledgement.
          const auto number = static_cast<std::uint64_t>(
            pick(static_cast<int>(who->client->received().inputs)));
          caf::anon_send(
            who->client->connection(),
            turn_input{payload::of(input_of(number)), 0, number,
                       who->client->received().open->attached.reader});
          run_all();
        }
        break;
      case 14: advance(300ms); break;
      case 15:
        switch (pick(8)) {
          case 0: end_run(); break;
          case 1:
            if (who != nullptr)
              who->client->close();
            break;
          case 2:
            if (who != nullptr)
              who->client->cancel();
            break;
          default: break;
        }
        break;
      default: break;
    }
  }

  /// Ends the run by force.
  void end_run() {
    if (pick(2) == 0) {
      caf::anon_send(host->front_desk(),
                     run_request{run_verb::abort, run, {}, {}});
      run_all();
    } else if (!readers.empty()) {
      kill(readers.front().client->connection());
    }
  }

  void run_all() {
    deterministic::run();
  }

  /// Compares what each reader has heard with what the body has sent.
  void check() {
    for (const auto& x : readers) {
      const auto& heard = x.client->received();
      ASSERT_EQ(heard.gaps, 0u);
      ASSERT_LE(heard.next, now->sent.size());
      ASSERT_LE(heard.next - x.from, x.window) << "more than it had credit for";
      std::vector<int> chunks;
      std::uint64_t turns = 0;
      for (auto i = x.from; i < heard.next; ++i)
        if (now->sent[i] == end_of_turn)
          ++turns;
        else
          chunks.push_back(now->sent[i]);
      ASSERT_EQ(heard.chunks, chunks);
      ASSERT_EQ(heard.turns, turns);
      ASSERT_LE(heard.ends, 1u);
      if (heard.end && code_of(heard.end->reason) == errc::out_of_range) {
        ASSERT_EQ(x.role, client_role::listener) << "a talker holds the log";
        check_gap(to_status(heard.end->reason));
      }
      if (heard.end && !heard.end->reason) {
        ASSERT_EQ(heard.next, now->sent.size()) << "it has heard everything";
        ASSERT_EQ(heard.end->length, now->sent.size());
        ASSERT_EQ(x.client->output(), static_cast<int>(now->taken.size()));
      }
    }
    for (std::size_t i = 0; i < now->taken.size(); ++i)
      ASSERT_EQ(now->taken[i], input_of(i)) << "each input once, in order";
  }

  /// Runs one sequence.
  void play(unsigned seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    random.seed(seed);
    now = std::make_shared<record>();
    host = seed % 2 == 0 ? &*rt : &forgetful;
    readers.clear();
    run_all();
    const auto before = extra_actors();
    open_reader(client_role::talker, with_keep(1min),
                with_input_window(static_cast<std::uint32_t>(pick(3))));
    ASSERT_EQ(readers.size(), 1u);
    run = readers.front().client->position().run;
    for (int i = 0; i < 60 && !::testing::Test::HasFatalFailure(); ++i) {
      step();
      check();
    }
    // Everybody reads to the end, and the talker closes.
    for (auto& x : readers) {
      x.window += max_window;
      x.client->grant(max_window);
      x.client->close();
    }
    advance(10s);
    check();
    readers.clear();
    run_all();
    advance(11min); // the grace period
    ASSERT_EQ(witness::alive(), 0);
    ASSERT_EQ(extra_actors(), before);
  }

  runtime forgetful{system, small_log()};
  bidi_flow<nothing, int, int, int> work;
  runtime* host = nullptr; ///< of the run
  std::shared_ptr<record> now;
  std::mt19937 random;
  std::vector<reader> readers;
  std::vector<errc> refusals;
  int gaps = 0; ///< that were named
  run_id run;
};

} // namespace

TEST_F(run_sequences, each_reader_hears_the_log_and_each_input_is_taken_once) {
  for (unsigned seed = 0;
       seed < by_effort(200u, 1'000u, 100'000u) && !HasFatalFailure(); ++seed)
    play(seed);
  const auto saw = [&](errc code) {
    return std::find(refusals.begin(), refusals.end(), code) != refusals.end();
  };
  EXPECT_TRUE(saw(errc::out_of_range)) << "positions behind the end";
  EXPECT_TRUE(saw(errc::not_found)) << "runs that are over";
  EXPECT_GT(gaps, 0);
}

} // namespace tertulia::test::run_sequences_tests
