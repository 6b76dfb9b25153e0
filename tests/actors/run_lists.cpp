// SPDX-License-Identifier: BSD-3-Clause

// Lists of kept runs, and those who wait until a run is in no turn.

#include <tertulia/define_agent.hpp>
#include <tertulia/memory_store.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store/runs.hpp>
#include <tertulia/testing/failing_store.hpp>

#include <caf/exit_reason.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "support/conversations.hpp"
#include "support/kept_run_flows.hpp"

using namespace std::literals;

namespace tertulia::test::run_list_tests {

namespace {

struct run_lists : kept_run_flows {
  /// Asks the front desk.
  std::variant<run_page, caf::error> list(const list_runs_request& x) {
    return ask<run_page>(x);
  }

  template <class Answer, class Question>
  std::variant<Answer, caf::error> ask(Question question) {
    std::variant<Answer, caf::error> result;
    auto pending
      = self->request(rt->front_desk(), caf::infinite, std::move(question));
    run();
    if (!self->has_next_message())
      return fail(errc::deadline_exceeded, "the front desk does not answer");
    pending.receive([&](Answer& x) { result = std::move(x); },
                    [&](caf::error& x) { result = std::move(x); });
    return result;
  }

  std::vector<run_id> ids(const list_runs_request& x) {
    std::vector<run_id> result;
    const auto page = std::get<run_page>(list(x));
    for (const auto& one : page.runs)
      result.push_back(one.id);
    return result;
  }

  errc code(const list_runs_request& x) {
    return code_of(std::get<caf::error>(list(x)));
  }

  caf::scoped_actor self{system};
};

} // namespace

TEST_F(run_lists, name_the_live_runs_of_an_action_without_a_store) {
  const auto counter = define_counter();
  const auto library = define_library();
  const auto other = open(library, with_keep());
  std::vector<run_id> all;
  std::vector<std::unique_ptr<recording_client<int, int, int>>> clients;
  for (int i = 0; i < 5; ++i) {
    const auto* caller = i % 2 == 0 ? "ann" : "bob";
    clients.push_back(std::make_unique<recording_client<int, int, int>>(
      system, rt->front_desk(), counter, with_keep(), with_caller(caller)));
    all.insert(all.begin(), clients.back()->position().run);
  }
  list_runs_request x;
  x.agent = "/bidi-flow/counter";
  EXPECT_EQ(ids(x), all);
  x.limit = 3;
  const auto page = std::get<run_page>(list(x));
  EXPECT_TRUE(page.more);
  EXPECT_EQ(page.runs.size(), 3u);
  EXPECT_EQ(page.runs[0].agent, "/bidi-flow/counter");
  EXPECT_EQ(page.runs[0].status, run_status::running);
  EXPECT_GE(page.runs[0].began_at, page.runs[1].began_at);
  x.after = page.runs.back().id;
  EXPECT_EQ(ids(x), std::vector(all.begin() + 3, all.end()));
  x.after = {};
  x.caller = caller_name{"bob"};
  EXPECT_EQ(ids(x), (std::vector{all[1], all[3]}));
  x.after = all[1];
  EXPECT_EQ(ids(x), std::vector{all[3]});
  x.after = all[0];
  EXPECT_EQ(code(x), errc::not_found) << "it is one of ann";
  x.after = {};
  x.status = run_status::completed;
  EXPECT_TRUE(ids(x).empty());
  x = {};
  x.agent = "/bidi-flow/counter";
  clients[2]->close();
  EXPECT_EQ(clients[2]->output(), 0);
  std::erase(all, all[2]);
  EXPECT_EQ(ids(x), all);
  x.agent = "/bidi-flow/unknown";
  EXPECT_EQ(code(x), errc::not_found);
}

TEST_F(run_lists, name_all_that_a_store_knows) {
  const auto store = spawn_memory_store(system);
  const auto agent
    = define_agent(*rt, "notes", take_notes, with_snapshot_store(store));
  auto ended
    = open(agent, with_keep(), with_session_id("s"), with_caller("ann"));
  ended.close();
  run();
  auto live
    = open(agent, with_keep(), with_session_id("s"), with_caller("ann"));
  const auto of_bob
    = open(agent, with_keep(), with_session_id("s"), with_caller("bob"));
  list_runs_request x;
  x.agent = "/agent/notes";
  x.caller = caller_name{"ann"};
  x.session = session_id{"s"};
  const auto page = std::get<run_page>(list(x));
  ASSERT_EQ(page.runs.size(), 2u);
  EXPECT_EQ(page.runs[0].id, live.position().run);
  EXPECT_EQ(page.runs[0].session, session_id{"ann/s"});
  EXPECT_EQ(page.runs[1].status, run_status::completed);
}

TEST_F(run_lists, end_with_an_error_if_the_store_does_not_answer) {
  testing::failing_store failing{system};
  define_agent(*rt, "notes", take_notes, with_snapshot_store(failing.store()),
               with_store_timeout{5s});
  failing.hang_next<list_runs_request>(1);
  list_runs_request x;
  x.agent = "/agent/notes";
  auto pending = self->request(rt->front_desk(), caf::infinite, x);
  run();
  EXPECT_FALSE(self->has_next_message());
  advance(5s);
  ASSERT_TRUE(self->has_next_message());
  auto found = errc::ok;
  pending.receive([](const run_page&) {},
                  [&](const caf::error& y) { found = code_of(y); });
  EXPECT_EQ(found, errc::deadline_exceeded);
}

TEST_F(run_lists, the_end_of_a_turn_can_be_awaited) {
  const auto counter = define_counter();
  auto client = open(counter, with_keep(), with_chunk_window(2));
  run_request question{
    run_verb::await_turn_end, client.position().run, "/bidi-flow/counter", {}};
  EXPECT_FALSE(std::get<run_info>(ask<run_info>(question)).is_in_turn);
  client.send(10);
  run();
  auto pending = self->request(rt->front_desk(), caf::infinite, question);
  run();
  EXPECT_FALSE(self->has_next_message()) << "the body waits for credit";
  client.grant(100);
  ASSERT_TRUE(self->has_next_message());
  auto found = errc::internal;
  pending.receive(
    [&](const run_info& x) {
      EXPECT_FALSE(x.is_in_turn);
      EXPECT_EQ(x.status, run_status::running);
      found = errc::ok;
    },
    [&](const caf::error& x) { found = code_of(x); });
  EXPECT_EQ(found, errc::ok);
}

TEST_F(run_lists, a_run_that_ends_in_a_turn_is_in_none) {
  const auto counter = define_counter();
  for (const auto is_killed : {false, true}) {
    auto client = open(counter, with_keep(), with_chunk_window(2));
    client.send(10);
    run();
    const run_request question{run_verb::await_turn_end,
                               client.position().run,
                               "/bidi-flow/counter",
                               {}};
    auto pending = self->request(rt->front_desk(), caf::infinite, question);
    run();
    if (is_killed)
      caf::anon_send_exit(client.connection(), caf::exit_reason::kill);
    else
      client.cancel();
    run();
    ASSERT_TRUE(self->has_next_message());
    auto status = run_status::running;
    pending.receive([&](const run_info& x) { status = x.status; },
                    [](const caf::error&) {});
    EXPECT_EQ(status, run_status::aborted);
  }
}

} // namespace tertulia::test::run_list_tests
