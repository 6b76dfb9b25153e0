// SPDX-License-Identifier: BSD-3-Clause

// Kept runs of conversations in their store.

#include <tertulia/ask_store.hpp>

#include <string>
#include <vector>

#include "support/conversations.hpp"
#include "support/refusal.hpp"

using namespace std::literals;

namespace tertulia::test::stored_run_tests {

namespace {

const session_id trip{"trip"};

struct stored_runs : conversations {
  stored_runs() {
    runtime_options options;
    options.run_heartbeat = 5ms;
    restart(options);
  }

  stored_run found(const std::string& agent, const run_id& run) {
    return tertulia::ask_store(system, store, get_run_request{{agent, run}});
  }

  bool has(const std::string& agent, const run_id& run, run_status status) {
    return eventually([&] { return found(agent, run).status == status; });
  }
};

} // namespace

TEST_F(stored_runs, a_run_is_stored_until_its_end) {
  const auto flow = define_flow(repeat_in_turns);
  const auto& key = flow.info().key;
  auto talk = flow.stream_bidi(with_session_id(trip), with_keep());
  hear(talk, "a");
  const auto run = talk.position().run;
  ASSERT_TRUE(has(key, run, run_status::running));
  EXPECT_EQ(found(key, run).session, trip);
  finish(talk);
  ASSERT_TRUE(has(key, run, run_status::completed));
  EXPECT_EQ(found(key, run).snapshot, talk.last_snapshot());
  EXPECT_EQ(flow.find_run(run).status, run_status::completed)
    << "it is not live any more";
}

TEST_F(stored_runs, a_run_has_a_heartbeat) {
  const auto flow = define_flow(repeat_in_turns);
  auto talk = flow.stream_bidi(with_session_id(trip), with_keep());
  const auto run = talk.position().run;
  const auto& key = flow.info().key;
  ASSERT_TRUE(has(key, run, run_status::running));
  const auto begun = found(key, run);
  EXPECT_TRUE(
    eventually([&] { return found(key, run).beat_at > begun.began_at; }));
}

TEST_F(stored_runs, the_error_of_a_run_is_stored) {
  const auto flow = define_flow(repeat_in_turns);
  auto talk = flow.stream_bidi(with_session_id(trip), with_keep());
  const auto run = talk.position().run;
  talk.send_text("fail");
  EXPECT_EQ(code_from([&] { talk.output(patience); }), errc::out_of_range);
  const auto& key = flow.info().key;
  ASSERT_TRUE(has(key, run, run_status::failed));
  EXPECT_EQ(found(key, run).code, errc::out_of_range);
  EXPECT_EQ(found(key, run).error, "as you say");
}

TEST_F(stored_runs, the_end_of_a_run_is_stored_whatever_its_error_says) {
  stored_run run;
  run.id = run_id{"r"};
  run.agent = "/agent/a";
  run.session = trip;
  run.status = run_status::failed;
  for (const auto& text : {std::string{"\xff"}, std::string(100'000, 'x')}) {
    run.id = run_id{"r" + std::to_string(text.size())};
    run.error = text;
    const auto kept = tertulia::ask_store(system, store, save_run_request{run});
    EXPECT_EQ(kept.status, run_status::failed);
    EXPECT_LE(kept.error.size(), max_run_error);
  }
}

TEST_F(stored_runs, an_exception_is_not_stored_with_its_text) {
  const auto flow = define_flow(repeat_in_turns);
  auto talk = flow.stream_bidi(with_session_id(trip), with_keep());
  const auto run = talk.position().run;
  talk.send_text("throw");
  EXPECT_EQ(code_from([&] { talk.output(patience); }), errc::internal);
  ASSERT_TRUE(has(flow.info().key, run, run_status::failed));
  EXPECT_EQ(found(flow.info().key, run).error.find("as you say"),
            std::string::npos);
}

TEST_F(stored_runs, a_run_that_is_aborted_in_the_store_ends) {
  const auto flow = define_flow(repeat_in_turns);
  auto talk = flow.stream_bidi(with_session_id(trip), with_keep());
  const auto run = talk.position().run;
  const auto& key = flow.info().key;
  ASSERT_TRUE(has(key, run, run_status::running));
  const auto before
    = tertulia::ask_store(system, store, abort_run_request{{key, run}});
  EXPECT_EQ(before.status, run_status::running);
  EXPECT_EQ(code_from([&] { talk.output(patience); }), errc::aborted);
  EXPECT_EQ(found(key, run).status, run_status::aborted);
}

TEST_F(stored_runs, a_run_is_not_left_running) {
  const auto flow = define_flow(repeat_in_turns);
  const auto& key = flow.info().key;
  auto stopped = flow.stream_bidi(with_session_id(trip), with_keep());
  auto cancelled = flow.stream_bidi(with_session_id("other"s), with_keep());
  const auto first = stopped.position().run;
  const auto second = cancelled.position().run;
  cancelled.cancel();
  ASSERT_TRUE(has(key, second, run_status::aborted));
  EXPECT_EQ(found(key, second).code, errc::cancelled);
  rt.reset();
  ASSERT_TRUE(has(key, first, run_status::aborted));
  EXPECT_EQ(found(key, first).code, errc::unavailable);
}

TEST_F(stored_runs, a_run_of_a_process_that_is_gone_can_be_aborted) {
  const auto flow = define_flow(repeat_in_turns);
  stored_run lost;
  lost.id = run_id{"lost"};
  lost.agent = flow.info().key;
  lost.session = trip;
  lost.beat = 1ns;
  tertulia::ask_store(system, store, save_run_request{lost});
  ASSERT_TRUE(has(lost.agent, lost.id, run_status::expired));
  EXPECT_EQ(flow.find_run(lost.id).status, run_status::expired);
  EXPECT_EQ(flow.abort(trip).status, run_status::expired);
  EXPECT_EQ(flow.find_run(lost.id).status, run_status::aborted);
  EXPECT_EQ(code_from([&] { (void)flow.find_run(run_id{"unknown"}); }),
            errc::not_found);
}

TEST_F(stored_runs, a_run_that_is_not_kept_is_not_stored) {
  const auto flow = define_flow(repeat_in_turns);
  auto talk = flow.stream_bidi(with_session_id(trip));
  hear(talk, "a");
  finish(talk);
  EXPECT_TRUE(
    tertulia::ask_store(system, store, list_runs_request{}).runs.empty());
}

} // namespace tertulia::test::stored_run_tests
