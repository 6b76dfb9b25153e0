// SPDX-License-Identifier: BSD-3-Clause

// Kept runs of conversations in their store.

#include <tertulia/ask_store.hpp>
#include <tertulia/testing/deterministic_runtime.hpp>

#include <caf/scoped_actor.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "support/conversations.hpp"
#include "support/effort.hpp"
#include "support/failing_store.hpp"
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

/// A runtime with a clock of its own, and a store that fails.
struct run_records : ::testing::Test {
  auto define_flow() {
    return ai::define_session_flow(*at.rt, "chat", repeat_in_turns,
                                   with_snapshot_store(failing.store()));
  }

  /// Sends a request and returns the status of the run in the answer.
  template <class Answer, class Actor, class Question>
  run_status status_from(const Actor& who, const Question& question) {
    caf::scoped_actor self{at.system};
    auto pending = self->request(who, 10s, question);
    at.run();
    auto result = run_status::expired;
    pending.receive([&](const Answer& x) { result = x.status; },
                    [](const caf::error& x) { ADD_FAILURE() << to_string(x); });
    return result;
  }

  testing::deterministic_runtime at;
  failing_store failing{at.system};
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
  ASSERT_EQ(found(key, run).status, run_status::completed);
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

TEST_F(stored_runs, an_abort_in_the_store_comes_before_an_end_that_follows) {
  restart({}); // the next heartbeat is far away
  const auto flow = define_flow(repeat_in_turns);
  auto talk = flow.stream_bidi(with_session_id(trip), with_keep());
  hear(talk, "a");
  const auto run = talk.position().run;
  const auto& key = flow.info().key;
  ASSERT_TRUE(has(key, run, run_status::running));
  tertulia::ask_store(system, store, abort_run_request{{key, run}});
  talk.close();
  EXPECT_EQ(code_from([&] { talk.output(patience); }), errc::aborted);
  EXPECT_EQ(found(key, run).status, run_status::aborted);
}

TEST_F(stored_runs, a_client_hears_the_end_that_the_store_has) {
  const auto flow = define_flow(repeat_in_turns);
  auto talk = flow.stream_bidi(with_session_id(trip), with_keep());
  hear(talk, "a");
  const auto run = talk.position().run;
  finish(talk);
  EXPECT_EQ(found(flow.info().key, run).status, run_status::completed);
}

TEST_F(stored_runs, a_body_that_fails_has_failed_whatever_its_code) {
  static constexpr std::array codes{errc::aborted, errc::cancelled,
                                    errc::unavailable};
  const auto flow
    = define_turns([](context, flow_session, const ai::conversation_input& x,
                      flow_responder) -> task<> {
        const auto text = x.messages.back().text();
        throw status_error{codes.at(std::stoul(text)), "as you say"};
        co_return;
      });
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const auto name = std::to_string(i);
    auto talk = flow.stream_bidi(with_session_id(name), with_keep());
    const auto run = talk.position().run;
    talk.send_text(name);
    EXPECT_EQ(code_from([&] { talk.output(patience); }), codes.at(i));
    EXPECT_TRUE(has(flow.info().key, run, run_status::failed)) << name;
  }
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

TEST_F(stored_runs, the_end_of_a_run_is_sent_until_the_store_has_it) {
  failing_store failing{system, store};
  const auto flow = ai::define_session_flow(
    *rt, "chat", repeat_in_turns, with_snapshot_store(failing.store()));
  const auto& key = flow.info().key;
  auto talk = flow.stream_bidi(with_session_id(trip), with_keep());
  hear(talk, "a");
  const auto run = talk.position().run;
  ASSERT_TRUE(has(key, run, run_status::running));
  failing.fail_next<save_run_request>(2, errc::unavailable);
  finish(talk);
  EXPECT_TRUE(has(key, run, run_status::completed));
}

TEST_F(stored_runs, ten_thousand_runs_go_on_without_clients) {
  restart({}); // with an ordinary heartbeat
  const auto count = by_effort<std::size_t>(500, 10'000, 10'000);
  const auto flow = define_flow(repeat_in_turns);
  for (std::size_t i = 0; i < count; ++i) {
    auto talk
      = flow.stream_bidi(with_session_id("s" + std::to_string(i)), with_keep());
    talk.send_text("a");
    if (i % 2 == 0)
      talk.close();
    talk.detach();
  }
  const auto has_all = [&](run_status status, std::size_t wanted) {
    return eventually([&] {
      list_runs_request query;
      query.status = status;
      query.limit = max_page;
      std::size_t found = 0;
      for (auto more = true; more;) {
        const auto page = tertulia::ask_store(system, store, query);
        found += page.runs.size();
        more = page.more;
        if (more)
          query.after = page.runs.back().id;
      }
      return found == wanted;
    });
  };
  EXPECT_TRUE(has_all(run_status::completed, count / 2));
  EXPECT_TRUE(has_all(run_status::running, count - count / 2));
  rt.reset();
  EXPECT_TRUE(has_all(run_status::aborted, count - count / 2))
    << "none is left running";
}

TEST_F(run_records, hold_the_end_until_the_store_has_it) {
  const auto flow = define_flow();
  auto client = at.open(flow, with_session_id(trip), with_keep());
  failing.hang_next<save_run_request>(1);
  client.close();
  for (int i = 0; i < max_missed_beats; ++i) {
    EXPECT_FALSE(client.received().end) << i;
    at.advance(1s);
  }
  EXPECT_EQ(client.code(), errc::ok);
}

TEST_F(run_records, answer_an_abort_that_is_too_late_with_the_end) {
  const auto flow = define_flow();
  auto client = at.open(flow, with_session_id(trip), with_keep());
  const run_request abort{run_verb::abort, client.position().run, {}, {}};
  failing.hang_next<save_run_request>(1);
  client.close();
  EXPECT_EQ(status_from<run_info>(at.rt->front_desk(), abort),
            run_status::completed);
  for (int i = 0; i < max_missed_beats; ++i)
    at.advance(1s);
  EXPECT_EQ(client.code(), errc::ok);
}

TEST_F(run_records, say_aborted_of_a_connection_that_is_killed_at_its_end) {
  const auto flow = define_flow();
  auto client = at.open(flow, with_session_id(trip), with_keep());
  failing.fail_next<save_run_request>(1, errc::unavailable);
  client.close();
  EXPECT_FALSE(client.received().end);
  caf::anon_send_exit(client.connection(), caf::exit_reason::kill);
  at.run();
  EXPECT_EQ(client.code(), errc::aborted);
  const get_run_request question{{flow.info().key, client.position().run}};
  EXPECT_EQ(status_from<stored_run>(failing.store(), question),
            run_status::aborted);
}

TEST_F(run_records, do_not_hold_the_end_for_ever) {
  const auto flow = define_flow();
  auto client = at.open(flow, with_session_id(trip), with_keep());
  failing.hang_next<save_run_request>(1'000);
  client.close();
  for (int i = 0; i < 30; ++i) {
    EXPECT_FALSE(client.received().end) << i;
    at.advance(1s);
  }
  EXPECT_EQ(client.code(), errc::ok);
}

TEST_F(run_records, do_not_hold_a_runtime_that_stops) {
  const auto flow = define_flow();
  auto client = at.open(flow, with_session_id(trip), with_keep());
  failing.hang_next<save_run_request>(1'000);
  client.close();
  caf::anon_send_exit(at.rt->front_desk(), caf::exit_reason::user_shutdown);
  at.run();
  EXPECT_FALSE(client.received().end);
  at.advance(2s);
  EXPECT_EQ(client.code(), errc::ok);
}

TEST_F(run_records, do_not_flood_a_store_that_stalls) {
  const auto flow = define_flow();
  failing.hang_next<save_run_request>(1'000);
  auto client = at.open(flow, with_session_id(trip), with_keep());
  const auto before = failing.requests();
  for (int beats = 0; beats < 3 * max_missed_beats; ++beats)
    at.advance(10s);
  EXPECT_EQ(failing.requests(), before + 3);
}

TEST_F(stored_runs, the_id_of_the_end_is_known_before) {
  const auto flow = define_flow(repeat_in_turns);
  auto talk = flow.stream_bidi(with_session_id(trip), with_keep());
  hear(talk, "a");
  const auto end = end_of(talk.position().run);
  EXPECT_EQ(code_from([&] { (void)snapshot_of(end); }),
            errc::failed_precondition)
    << "it is pending";
  finish(talk);
  EXPECT_EQ(snapshot_of(end), snapshot_of(talk.last_snapshot()));
  const auto branch
    = say(flow.stream_bidi(with_snapshot_id(end)), {"b"}).state.messages;
  EXPECT_EQ(branch.size(), 4u) << "one can go on from it";
}

TEST_F(stored_runs, an_agent_says_whether_its_runs_are_kept) {
  const auto flow = define_flow(repeat_in_turns, with_keep(1min));
  auto kept = flow.stream_bidi(with_session_id(trip));
  EXPECT_TRUE(kept.position().run);
  auto other = flow.stream_bidi(with_session_id("other"s), without_keep{});
  EXPECT_FALSE(other.position().run);
  EXPECT_EQ(
    code_from([&] { (void)define_flow(repeat_in_turns, with_keep(-1s)); }),
    errc::invalid_argument);
}

TEST_F(stored_runs, impossible_heartbeats_are_refused) {
  for (const caf::timespan beat :
       {caf::timespan{0}, caf::timespan{-1}, caf::timespan::max()}) {
    runtime_options options;
    options.run_heartbeat = beat;
    EXPECT_EQ(code_from([&] { const runtime refused(system, options); }),
              errc::invalid_argument);
  }
  runtime_options options;
  options.stored_run_retention = -1s;
  EXPECT_EQ(code_from([&] { const runtime refused(system, options); }),
            errc::invalid_argument);
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
