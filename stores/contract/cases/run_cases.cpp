// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/store.hpp>

#include <caf/timespan.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "cases/case.hpp"
#include <gtest/gtest.h>

// Kept runs.

namespace tertulia {

TEST_P(store_contract, a_run_begins_beats_and_ends) {
  auto run = run_of("r", "s");
  const auto begun = get(save_run_request{run});
  EXPECT_EQ(begun.status, run_status::running);
  EXPECT_EQ(begun.beat_at, begun.began_at);
  EXPECT_EQ(begun.ended_at, timestamp{});
  const auto beaten = get(save_run_request{run});
  EXPECT_EQ(beaten.began_at, begun.began_at);
  EXPECT_GE(beaten.beat_at, begun.beat_at);
  run.status = run_status::failed;
  run.code = errc::out_of_range;
  run.error = "as you say";
  run.snapshot = snapshot_id{"a"};
  const auto ended = get(save_run_request{run});
  EXPECT_EQ(ended.status, run_status::failed);
  EXPECT_GE(ended.ended_at, beaten.beat_at);
  EXPECT_EQ(get(get_run_request{{run.agent, run.id}}), ended);
  EXPECT_EQ(get(get_run_request{{run.agent, {}, run.session}}), ended)
    << "the last one of its session";
  run.status = run_status::running;
  EXPECT_EQ(get(save_run_request{run}), ended) << "it is over";
}

TEST_P(store_contract, a_run_learns_that_it_was_aborted) {
  const auto run = run_of("r", "s");
  get(save_run_request{run});
  const abort_run_request abort{{run.agent, run.id}};
  EXPECT_EQ(get(abort).status, run_status::running) << "as it was";
  EXPECT_EQ(get(abort).status, run_status::aborted);
  EXPECT_EQ(get(save_run_request{run}).status, run_status::aborted);
  auto late = run;
  late.status = run_status::completed;
  EXPECT_EQ(get(save_run_request{late}).status, run_status::aborted);
}

TEST_P(store_contract, a_run_without_a_heartbeat_has_expired) {
  auto run = run_of("r", "s");
  run.beat = std::chrono::nanoseconds{1};
  const auto begun = get(save_run_request{run});
  const get_run_request question{{run.agent, run.id}};
  auto found = get(question);
  for (int i = 0; i < 1'000 && found.status == run_status::running; ++i)
    found = get(question);
  EXPECT_EQ(found.status, run_status::expired);
  EXPECT_EQ(found.ended_at, timestamp{}) << "nobody has ended it";
  if (is_managed()) {
    list_runs_request expired;
    expired.status = run_status::expired;
    EXPECT_EQ(get(expired).runs.size(), 1u);
  }
  EXPECT_EQ(get(abort_run_request{{{}, run.id}}).status, run_status::expired);
  EXPECT_EQ(get(question).status, run_status::aborted);
}

TEST_P(store_contract, runs_are_listed_from_the_last_one) {
  TERTULIA_NEEDS_MANAGED_STORE();
  std::vector<stored_run> all;
  for (int i = 0; i < 5; ++i)
    all.insert(all.begin(),
               get(save_run_request{run_of("r" + std::to_string(i),
                                           i % 2 == 0 ? "even" : "odd")}));
  list_runs_request query;
  query.limit = 2;
  std::vector<stored_run> found;
  for (auto more = true; more;) {
    const auto page = get(query);
    more = page.more;
    EXPECT_LE(page.runs.size(), 2u);
    found.insert(found.end(), page.runs.begin(), page.runs.end());
    query.after = found.back().id;
  }
  EXPECT_EQ(found, all);
  list_runs_request odd;
  odd.agent = all[0].agent;
  odd.session = session_id{"odd"};
  const auto of_odd = std::vector{all[1], all[3]};
  EXPECT_EQ(get(odd).runs, of_odd);
  odd.after = all[0].id; // of another session
  EXPECT_EQ(get(odd).runs, of_odd);
  odd.after = all[1].id;
  EXPECT_EQ(get(odd).runs, std::vector{all[3]});
  odd.after = {};
  odd.agent = "/agent/other";
  EXPECT_TRUE(get(odd).runs.empty());
  odd.after = run_id{"unknown"};
  EXPECT_EQ(code(odd), errc::not_found);
}

TEST_P(store_contract, runs_of_a_caller_are_listed_alone) {
  TERTULIA_NEEDS_MANAGED_STORE();
  std::vector<stored_run> of_ann;
  std::vector<stored_run> of_an;
  for (int i = 0; i < 6; ++i) {
    const auto is_ann = i % 2 == 0;
    const auto session
      = std::string{is_ann ? "ann/" : "an/"} + std::to_string(i);
    auto& to = is_ann ? of_ann : of_an;
    to.insert(to.begin(),
              get(save_run_request{run_of("r" + std::to_string(i), session)}));
  }
  for (const auto* session : {"ann", "nobody", "ann/", "/ann/s"})
    get(save_run_request{run_of("of " + std::string{session}, session)});
  list_runs_request query;
  for (const auto& agent : {of_ann[0].agent, std::string{}}) {
    query.agent = agent;
    query.caller = caller_name{"ann"};
    query.limit = 2;
    query.after = {};
    const auto first = get(query);
    EXPECT_EQ(first.runs, (std::vector{of_ann[0], of_ann[1]}));
    EXPECT_TRUE(first.more);
    query.after = of_ann[1].id;
    const auto last = get(query);
    EXPECT_EQ(last.runs, std::vector{of_ann[2]});
    EXPECT_FALSE(last.more);
    query.after = of_an[0].id;
    EXPECT_EQ(code(query), errc::not_found);
    query.caller = caller_name{"bob"};
    query.after = {};
    EXPECT_TRUE(get(query).runs.empty());
  }
  query.agent = of_an[0].agent;
  query.session = of_an[0].session;
  EXPECT_TRUE(get(query).runs.empty()) << "it is not one of bob";
}

TEST_P(store_contract, runs_that_are_over_are_erased_in_time) {
  const auto save
    = [&](std::string id, run_status status, std::chrono::nanoseconds beat) {
        auto run = run_of(std::move(id), "s");
        run.status = status;
        run.beat = beat;
        get(save_run_request{run});
      };
  constexpr std::chrono::nanoseconds short_beat{1};
  constexpr std::chrono::hours long_beat{1};
  save("over", run_status::completed, short_beat);
  save("lost", run_status::running, short_beat);
  save("live", run_status::running, long_beat);
  save("unheard", run_status::aborted, long_beat);
  const auto knows = [&](const char* id) {
    return code(get_run_request{{{}, run_id{id}}}) == errc::ok;
  };
  auto other = run_of("other", "s");
  other.agent = "/agent/other";
  constexpr std::chrono::seconds none{0};
  get(save_run_request{other, none});
  EXPECT_TRUE(knows("over")) << "the agent is another one";
  auto latest = run_of("new", "s");
  get(save_run_request{latest, std::chrono::hours{1}});
  EXPECT_TRUE(knows("over"));
  EXPECT_TRUE(knows("lost"));
  for (int i = 0; i < 1'000 && (knows("over") || knows("lost")); ++i) {
    latest.id = run_id{"new" + std::to_string(i)};
    get(save_run_request{latest, none});
  }
  EXPECT_FALSE(knows("over"));
  EXPECT_FALSE(knows("lost"));
  EXPECT_TRUE(knows("live"));
  EXPECT_TRUE(knows("unheard")) << "its process may not know of the abort";
}

TEST_P(store_contract, a_run_reserves_the_id_of_its_last_snapshot) {
  const auto session = at("s");
  const auto saved = save(session, number(1), 0).record;
  auto run = run_of("r", "s");
  run.snapshot = saved.id;
  get(save_run_request{run});
  const get_snapshot_request question{
    snapshot_ref{session.agent, session_id{}, end_of(run.id)}};
  EXPECT_EQ(code(question), errc::failed_precondition);
  EXPECT_NE(store.error().details().find(R"("status":"pending")"),
            std::string::npos)
    << store.error().details();
  run.status = run_status::completed;
  get(save_run_request{run});
  EXPECT_EQ(get(question).record, saved);
  auto in_session = question;
  in_session.target.session = session.id;
  EXPECT_EQ(get(in_session).record, saved);
  in_session.target.session = session_id{"other"};
  EXPECT_EQ(code(in_session), errc::not_found);
  auto failed = run_of("f", "s");
  failed.status = run_status::failed;
  get(save_run_request{failed});
  EXPECT_EQ(code(get_snapshot_request{
              snapshot_ref{session.agent, session_id{}, end_of(failed.id)}}),
            errc::failed_precondition);
  EXPECT_NE(store.error().details().find(R"("status":"failed")"),
            std::string::npos);
}

TEST_P(store_contract, runs_that_cannot_be_are_refused) {
  const auto refuses = [&](auto change) {
    auto run = run_of("r", "s");
    change(run);
    return code(save_run_request{run});
  };
  EXPECT_EQ(refuses([](auto& x) { x.id = {}; }), errc::invalid_argument);
  EXPECT_EQ(refuses([](auto& x) { x.agent.clear(); }), errc::invalid_argument);
  EXPECT_EQ(refuses([](auto& x) { x.session = {}; }), errc::invalid_argument);
  EXPECT_EQ(refuses([](auto& x) { x.status = run_status::expired; }),
            errc::invalid_argument);
  EXPECT_EQ(refuses([](auto& x) { x.beat = std::chrono::nanoseconds{-1}; }),
            errc::invalid_argument);
  EXPECT_EQ(refuses([](auto& x) { x.beat = caf::timespan::max(); }),
            errc::invalid_argument);
  EXPECT_EQ(
    code(save_run_request{run_of("r", "s"), std::chrono::nanoseconds{-1}}),
    errc::invalid_argument);
  get(save_run_request{run_of("r", "s"), caf::timespan::max()});
  EXPECT_EQ(refuses([](auto& x) { x.agent = "/agent/other"; }),
            errc::already_exists);
  EXPECT_EQ(code(get_run_request{{"/agent/other", run_id{"r"}}}),
            errc::not_found);
  EXPECT_EQ(code(get_run_request{}), errc::invalid_argument);
  EXPECT_EQ(code(abort_run_request{{{}, run_id{"x"}}}), errc::not_found);
  EXPECT_EQ(code(get_run_request{{"/agent/a", {}, session_id{"x"}}}),
            errc::not_found);
}

} // namespace tertulia
