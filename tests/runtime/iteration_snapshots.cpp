// SPDX-License-Identifier: BSD-3-Clause

// Snapshots at the end of an iteration of tools: seed 000 §12.

#include <tertulia/define_agent.hpp>

#include <string>
#include <vector>

#include "support/sum_agents.hpp"

namespace tertulia::test::snapshot_tests {

TEST_F(snapshots, a_nested_model_has_a_snapshot_made_before_it_answers) {
  auto talk = define_asking(each_time).stream_bidi(my_session);
  talk.send(1);
  EXPECT_EQ(read_turn(talk), strings{"sum? 111 " + id_of(111)});
  talk.close();
  EXPECT_EQ(talk.output(patience).snapshot_ids.size(), 2u);
  EXPECT_EQ(told(timeline()),
            (strings{"0/0 toolIterationEnd 111", "1/0 turnEnd 112"}));
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(snapshots, the_callback_hears_of_the_end_of_an_iteration) {
  const auto asking = define_asking(
    with_snapshot_callback(snapshot_on{snapshot_event::tool_iteration_end}));
  EXPECT_EQ(run_mine(asking, {1, 2}),
            (strings{"0/0 toolIterationEnd 111", "1/1 toolIterationEnd 224"}));
}

TEST_F(snapshots, an_iteration_that_nobody_wants_a_snapshot_of_yields_none) {
  auto talk = define_asking(each_turn).stream_bidi();
  talk.send(1);
  EXPECT_EQ(read_turn(talk), strings{"sum? 111 "});
}

TEST_F(snapshots, without_a_session_there_is_no_snapshot) {
  EXPECT_EQ(rt->run_action(define_model(), {json("sum?")}),
            "no session, snapshot ''");
}

TEST_F(snapshots, a_turn_goes_on_from_the_snapshot_of_an_iteration) {
  const auto asking = define_asking(
    with_snapshot_callback(snapshot_on{snapshot_event::tool_iteration_end}));
  run_mine(asking, {1, 1});
  finish(asking.stream_bidi(with_snapshot_id(id_of(111))), {5});
  EXPECT_EQ(told(timeline()),
            (strings{"0/0 toolIterationEnd 111", "1/0 toolIterationEnd 226"}))
    << "turn 0 had not ended";
}

TEST_F(snapshots, a_session_of_another_type_is_not_found) {
  const auto model = define_model();
  const auto other = define_stored(
    [this, model](context ctx, agent_session<double>, input<int>,
                  agent_responder<int>) -> task<std::string> {
      EXPECT_TRUE(ctx.session<agent_session<double>>());
      EXPECT_FALSE(ctx.session<agent_session<int>>());
      const std::vector<json> question(1, json("sum?"));
      const auto answer = co_await rt->run_action(ctx, model, question);
      co_return answer.get<std::string>();
    });
  auto talk = other.stream_bidi();
  EXPECT_EQ(talk.output(patience).output, "no session, snapshot ''");
}

TEST_F(snapshots, only_the_end_of_an_iteration_can_be_triggered) {
  const auto wrong = define_stored(
    [](context ctx, agent_session<int>, input<int>,
       agent_responder<int>) -> task<strings> {
      strings codes;
      for (const auto event :
           {snapshot_event::turn_end, snapshot_event::invocation_end}) {
        const auto made = co_await as_expected(trigger_snapshot(ctx, event));
        EXPECT_FALSE(made);
        codes.push_back(std::string{to_string(code_of(made.error()))});
      }
      co_return codes;
    },
    each_time);
  auto talk = wrong.stream_bidi();
  const auto result = talk.output(patience);
  EXPECT_EQ(result.output, strings(2, "invalid_argument"));
  EXPECT_EQ(result.snapshot_ids.size(), 1u) << "of the end of the invocation";
}

} // namespace tertulia::test::snapshot_tests
