// SPDX-License-Identifier: BSD-3-Clause

// All orders in which a store on disk, its supervisor, a runtime and their
// actor system can stop. In each order the scope of the system ends in time,
// every request is answered, and the file is closed.

#include <tertulia/define_agent.hpp>
#include <tertulia/runtime.hpp>
#include <tertulia/sqlite_store.hpp>

#include <caf/all.hpp>

#include <array>
#include <chrono>
#include <filesystem>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "stores/sqlite/sqlite_store_actor.hpp"
#include "support/effort.hpp"
#include "support/scratch.hpp"
#include "support/threaded.hpp"

using namespace std::chrono_literals;

namespace tertulia::test::store_ending_tests {

namespace {

/// Part that is stopped. The end of the system's scope comes last.
enum class part { store, supervisor, runtime };

using parts = std::vector<part>;

/// Work of the store in the meantime.
enum class load { none, requests, conversations };

/// All selections of parts in all orders.
const std::array<parts, 16> orders{
  parts{},
  {part::store},
  {part::supervisor},
  {part::runtime},
  {part::store, part::supervisor},
  {part::supervisor, part::store},
  {part::store, part::runtime},
  {part::runtime, part::store},
  {part::supervisor, part::runtime},
  {part::runtime, part::supervisor},
  {part::store, part::supervisor, part::runtime},
  {part::store, part::runtime, part::supervisor},
  {part::supervisor, part::store, part::runtime},
  {part::supervisor, part::runtime, part::store},
  {part::runtime, part::store, part::supervisor},
  {part::runtime, part::supervisor, part::store}};

constexpr std::array<caf::exit_reason, 5> reasons{
  caf::exit_reason::normal, caf::exit_reason::unhandled_exception,
  caf::exit_reason::user_shutdown, caf::exit_reason::kill,
  caf::exit_reason::remote_link_unreachable};

/// Defines an agent that adds each input to its state and ends the turn.
bidi_flow<int, int, agent_output<int, nothing>, int>
define_adder(runtime& rt, const managed_store& store) {
  return define_agent(
    rt, "adder",
    [](context, agent_session<int> sum, input<int> in,
       agent_responder<int> out) -> task<> {
      while (auto x = co_await in.next()) {
        co_await sum.update([&](int& y) { y += *x; });
        co_await out.end_turn();
      }
    },
    with_snapshot_store(store), with_snapshot_callback(snapshot_always{}));
}

/// Sends many requests at once. The actor ends after all answers have arrived,
/// and the actor system waits for that.
caf::behavior ask_much(caf::event_based_actor* self,
                       const managed_store& store) {
  for (int i = 0; i < 100; ++i) {
    const session_ref session{"/agent/a", session_id{"s" + std::to_string(i)}};
    self
      ->request(store, caf::infinite,
                save_session_request{session, state::plain(payload::of(i)), 0})
      .then([](const session_info&) {}, [](const caf::error&) {});
  }
  return {};
}

/// Starts a store, uses it, and stops it.
void live(const std::filesystem::path& file, load work, const parts& order,
          caf::exit_reason reason) {
  sqlite_options options;
  options.survives = durability::process;
  options.patience = 0s;
  config cfg;
  caf::actor_system system{cfg};
  const auto first = std::make_shared<std::optional<caf::actor_addr>>();
  auto store = supervise_store(system, [=, name = file.string()](auto& where) {
    auto result = spawn_sqlite_store_actor(where, name, options);
    if (!*first)
      *first = result.address();
    return result;
  });
  std::optional<runtime> rt{std::in_place, system};
  const auto adder = define_adder(*rt, store);
  std::vector<decltype(adder.stream_bidi())> talks;
  if (work == load::conversations)
    for (int i = 0; i < 3; ++i) {
      auto& talk = talks.emplace_back(adder.stream_bidi());
      talk.send(1);
      for ([[maybe_unused]] auto& x : talk.responses(patience))
        ;
      talk.send(2); // this turn may or may not end
    }
  else if (work == load::requests)
    system.spawn(ask_much, store);
  for (const auto what : order)
    switch (what) {
      case part::store:
        if (const auto behind = caf::actor_cast<caf::actor>(**first))
          caf::anon_send_exit(behind, reason);
        break;
      case part::supervisor: caf::anon_send_exit(store, reason); break;
      case part::runtime: rt.reset(); break;
    }
}

/// Calls a function on a separate thread, which is detached if the function
/// does not return in time.
template <class Fn>
bool returns_in_time(Fn fn) {
  std::packaged_task<void()> work{std::move(fn)};
  auto end = work.get_future();
  std::thread thread{std::move(work)};
  if (end.wait_for(patience) != std::future_status::ready) {
    thread.detach();
    return false;
  }
  thread.join();
  end.get();
  return true;
}

/// Tests every order, and every exit reason if an actor is stopped with one;
/// under a sanitizer a third of them.
void expect_ends(load work) {
  auto row_index = 0u;
  for (const auto& order : orders)
    for (const auto reason : reasons) {
      if (row_index++ % by_effort(3u, 1u, 1u) != 0)
        continue;
      std::string row = caf::to_string(reason);
      for (const auto what : order)
        row += what == part::store        ? ", store"
               : what == part::supervisor ? ", supervisor"
                                          : ", runtime";
      const scratch folder;
      const auto file = folder / "x.db";
      ASSERT_TRUE(returns_in_time([=] { live(file, work, order, reason); }))
        << row;
      EXPECT_NO_THROW(live(file, load::none, {}, {})) << "not closed: " << row;
      if (order.empty() || order == parts{part::runtime})
        break; // the reason is not used
    }
}

} // namespace

TEST(store_endings, an_idle_store_lets_its_system_end_however_it_is_stopped) {
  expect_ends(load::none);
}

TEST(store_endings, a_busy_store_answers_everybody_however_it_is_stopped) {
  expect_ends(load::requests);
}

TEST(store_endings, conversations_hold_up_no_end_however_it_comes) {
  expect_ends(load::conversations);
}

} // namespace tertulia::test::store_ending_tests
