// SPDX-License-Identifier: BSD-3-Clause

// Creation of snapshots, their ids, and restoring them.

#include <tertulia/define_agent.hpp>

#include <memory>
#include <string>
#include <vector>

#include "support/sum_agents.hpp"

using namespace std::literals;

namespace tertulia::test::snapshot_tests {

// -- callbacks: seeds 000 §3.2, §9 --------------------------------------------

TEST_F(snapshots, without_a_callback_none_is_made) {
  EXPECT_EQ(run_mine(define_sum(), {1, 2}), strings{});
}

TEST_F(snapshots, never_makes_none) {
  const auto sum = define_sum(with_snapshot_callback(snapshot_never{}));
  const auto result = finish(sum.stream_bidi(), {1, 2});
  EXPECT_EQ(result.output, (strings{"", ""}));
  EXPECT_TRUE(result.snapshot_ids.empty());
}

TEST_F(snapshots, always_makes_one_per_turn_and_one_of_a_changed_end) {
  EXPECT_EQ(run_mine(define_doubling(snapshot_always{}), {1, 2}),
            (strings{"0/0 turnEnd 1", "1/1 turnEnd 3", "2/2 invocationEnd 6"}));
}

TEST_F(snapshots, an_unchanged_end_makes_no_record) {
  const auto sum = define_kept_sum();
  const auto result = finish(sum.stream_bidi(my_session), {1, 2});
  EXPECT_EQ(told(timeline()), (strings{"0/0 turnEnd 1", "1/1 turnEnd 3"}));
  EXPECT_EQ(result.snapshot_ids,
            (std::vector{snapshot_id{id_of(1)}, snapshot_id{id_of(3)}}));
}

TEST_F(snapshots, a_turn_that_changes_nothing_yields_the_last_id_again) {
  const auto sum = define_kept_sum();
  const auto result = finish(sum.stream_bidi(my_session), {1, 0, 2});
  EXPECT_EQ(result.output, (strings{id_of(1), id_of(1), id_of(3)}));
  EXPECT_EQ(told(timeline()), (strings{"0/0 turnEnd 1", "1/2 turnEnd 3"}));
  EXPECT_EQ(result.snapshot_ids.size(), 2u);
}

TEST_F(snapshots, an_invocation_that_changes_nothing_makes_no_record) {
  const auto sum = define_kept_sum();
  const auto first = finish(sum.stream_bidi(my_session), {1, 2});
  const auto by_session = finish(sum.stream_bidi(my_session), {0});
  EXPECT_EQ(by_session.output, strings{id_of(3)});
  EXPECT_TRUE(by_session.snapshot_ids.empty());
  const auto restored
    = finish(sum.stream_bidi(with_snapshot_id(first.snapshot_ids.at(0))), {});
  EXPECT_TRUE(restored.snapshot_ids.empty());
  EXPECT_EQ(restored.state, 1);
  EXPECT_EQ(whole_timeline().size(), 2u);
}

TEST_F(snapshots, on_makes_them_at_its_events_only) {
  const auto at_turns = define_doubling(snapshot_on{snapshot_event::turn_end});
  EXPECT_EQ(run_mine(at_turns, {1, 2}),
            (strings{"0/0 turnEnd 1", "1/1 turnEnd 3"}));
  const auto at_ends
    = define_doubling(snapshot_on{snapshot_event::invocation_end}, "ends");
  finish(at_ends.stream_bidi(my_session), {1, 2});
  EXPECT_EQ(told(snapshots_of("mine", "ends")), strings{"0/2 invocationEnd 6"});
}

TEST_F(snapshots, on_change_makes_them_of_changes_only) {
  const auto sum = define_sum(
    with_snapshot_callback(snapshot_on_change{snapshot_event::turn_end}));
  const auto result = finish(sum.stream_bidi(my_session), {0, 1, 0, 2});
  EXPECT_EQ(result.output, (strings{id_of(0), id_of(1), "", id_of(3)}))
    << "the first is one without a change";
  EXPECT_EQ(told(timeline()),
            (strings{"0/0 turnEnd 0", "1/1 turnEnd 1", "2/3 turnEnd 3"}));
}

TEST_F(snapshots, a_callback_compares_with_the_state_before) {
  const auto sum = define_sum(with_snapshot_callback([](const sum_context& x) {
    return x.event() == snapshot_event::turn_end
           && (x.prev_state() == nullptr || x.state() > *x.prev_state() + 4);
  }));
  EXPECT_EQ(run_mine(sum, {1, 2, 2, 1, 6}),
            (strings{"0/0 turnEnd 1", "1/3 turnEnd 6", "2/4 turnEnd 12"}));
}

TEST_F(snapshots, the_state_before_is_known_in_the_next_invocation_too) {
  const auto sum = define_sum(with_snapshot_callback([](const sum_context& x) {
    return x.prev_state() == nullptr || x.state() > *x.prev_state() + 4;
  }));
  run_mine(sum, {1});
  run_mine(sum, {2});
  EXPECT_EQ(run_mine(sum, {3, 1}), (strings{"0/0 turnEnd 1", "1/2 turnEnd 6"}));
}

TEST_F(snapshots, an_index_counts_snapshots_and_not_chances) {
  // Seed 000 §9.5 selects every third opportunity by its index. By §11 the
  // index does not change until a snapshot is made.
  const auto seen = std::make_shared<numbers>();
  const auto sum
    = define_sum(with_snapshot_callback([seen](const sum_context& x) {
        seen->push_back(static_cast<int>(x.index()));
        return x.index() % 3 == 0;
      }));
  EXPECT_EQ(run_mine(sum, {1, 1, 1, 1, 1}), strings{"0/0 turnEnd 1"});
  EXPECT_EQ(*seen, (numbers{0, 1, 1, 1, 1, 1}));
}

TEST_F(snapshots, a_callback_chooses_by_event_and_state) {
  const auto sum = define_doubling([](const sum_context& x) {
    switch (x.event()) {
      case snapshot_event::turn_end: return x.state() % 5 == 0;
      case snapshot_event::invocation_end: return true;
      default: return false;
    }
  });
  EXPECT_EQ(
    run_mine(sum, {1, 4, 1, 4, 1}),
    (strings{"0/1 turnEnd 5", "1/3 turnEnd 10", "2/5 invocationEnd 22"}));
}

TEST_F(snapshots, a_callback_is_told_event_turn_and_state) {
  const auto seen = std::make_shared<strings>();
  const auto sum
    = define_sum(with_snapshot_callback([seen](const sum_context& x) {
        seen->push_back(
          to_json_text(x.event()) + ' ' + std::to_string(x.turn_index()) + ' '
          + std::to_string(x.state()) + (x.changed() ? " changed" : ""));
        return true;
      }));
  run_mine(sum, {1, 0});
  EXPECT_EQ(*seen, (strings{R"("turnEnd" 0 1 changed)", R"("turnEnd" 1 1)",
                            R"("invocationEnd" 2 1)"}));
}

TEST_F(snapshots, a_callback_without_a_store_is_refused) {
  EXPECT_EQ(code_from([&] { define_agent(*rt, "sum", add_up, each_time); }),
            errc::invalid_argument);
  EXPECT_FALSE(rt->find_action("/agent/sum"));
}

TEST_F(snapshots, an_exception_of_a_callback_fails_that_turn_only) {
  const auto sum = define_sum(with_snapshot_callback([](const sum_context& x) {
    if (x.state() == 3)
      throw status_error{errc::out_of_range, "not three"};
    return true;
  }));
  auto talk = sum.stream_bidi(my_session);
  talk.send(1);
  read_turn(talk);
  talk.send(2);
  EXPECT_EQ(error_of([&] { read_turn(talk); }).message(), "not three");
  EXPECT_EQ(code_from([&] { talk.output(patience); }), errc::out_of_range);
  EXPECT_EQ(told(timeline()), strings{"0/0 turnEnd 1"});
  const auto again = finish(sum.stream_bidi(with_snapshot_id(id_of(1))), {4});
  EXPECT_EQ(again.state, 5);
}

// -- ids ----------------------------------------------------------------------

TEST_F(snapshots, an_id_is_the_hash_of_the_canonical_json) {
  const auto result = finish(define_kept_sum().stream_bidi(), {1, 41});
  EXPECT_EQ(result.snapshot_ids.at(1).str(),
            "73475cb40a568e8da8a045ced110137e159f890ac4da883b6b17dc651b3a8049")
    << "printf 42 | sha256sum";
  for (const auto& x : timeline(result.session_id.str()))
    EXPECT_EQ(x.at("id"), hash_of(x.at("state").dump()));
}

TEST_F(snapshots, a_state_that_comes_back_gets_a_record_of_its_own) {
  const auto sum = define_kept_sum();
  EXPECT_EQ(run_mine(sum, {1, 1, -1}),
            (strings{"0/0 turnEnd 1", "1/1 turnEnd 2", "2/2 turnEnd 1"}));
  const auto all = timeline();
  EXPECT_EQ(all[0].at("id"), all[2].at("id"));
  EXPECT_EQ(parents(all), (numbers{-1, 0, 1}));
  // The id alone refers to the latest of these records.
  finish(sum.stream_bidi(with_snapshot_id(id_of(1))), {7});
  EXPECT_EQ(told(timeline()), (strings{"0/0 turnEnd 1", "1/1 turnEnd 2",
                                       "2/2 turnEnd 1", "3/3 turnEnd 8"}));
}

TEST_F(snapshots, equal_states_of_two_sessions_share_nothing_but_the_id) {
  const auto sum = define_kept_sum();
  const auto one = finish(sum.stream_bidi(with_session_id("one")), {1, 2});
  const auto two = finish(sum.stream_bidi(with_session_id("two")), {1, 3});
  EXPECT_EQ(one.snapshot_ids.at(0), two.snapshot_ids.at(0));
  EXPECT_EQ(told(timeline("one")), (strings{"0/0 turnEnd 1", "1/1 turnEnd 3"}));
  EXPECT_EQ(told(timeline("two")), (strings{"0/0 turnEnd 1", "1/1 turnEnd 4"}));
  finish(sum.stream_bidi(with_snapshot_id(id_of(1)), with_session_id("two")),
         {5});
  EXPECT_EQ(told(timeline("one")), (strings{"0/0 turnEnd 1", "1/1 turnEnd 3"}));
  EXPECT_EQ(told(timeline("two")), (strings{"0/0 turnEnd 1", "1/1 turnEnd 6"}));
}

TEST_F(snapshots, an_id_in_several_sessions_needs_a_session) {
  const auto sum = define_kept_sum();
  finish(sum.stream_bidi(with_session_id("one")), {1});
  finish(sum.stream_bidi(with_session_id("two")), {1});
  const auto error = opening_error(sum, with_snapshot_id(id_of(1)));
  EXPECT_TRUE(has(error_text(error), "failed_precondition: ", "one"));
  EXPECT_TRUE(has(error.message(), "two"));
  const auto key = "/snapshot-store/sum/getSnapshot";
  EXPECT_EQ(code_from([&] {
              ask_store(key, {{"snapshotId", id_of(1)}});
            }),
            errc::failed_precondition);
  EXPECT_EQ(ask_store(key, {{"snapshotId", id_of(1)}, {"sessionId", "two"}})
              .at("sessionId"),
            "two");
}

// -- restoring ----------------------------------------------------------------

TEST_F(snapshots, restoring_and_arriving_at_the_same_state_is_a_new_record) {
  const auto sum = define_kept_sum();
  run_mine(sum, {1, 1});
  finish(sum.stream_bidi(with_snapshot_id(id_of(1))), {1});
  EXPECT_EQ(
    told(whole_timeline()),
    (strings{"0/0 turnEnd 1", "1/1 turnEnd 2 orphaned", "1/1 turnEnd 2"}));
  EXPECT_EQ(parents(whole_timeline()), (numbers{-1, 0, 0}));
  EXPECT_EQ(told(timeline()), (strings{"0/0 turnEnd 1", "1/1 turnEnd 2"}));
}

TEST_F(snapshots, restoring_orphans_at_once_what_came_after) {
  const auto sum = define_kept_sum();
  run_mine(sum, {1, 1, 1});
  auto talk = sum.stream_bidi(with_snapshot_id(id_of(2)));
  EXPECT_EQ(told(whole_timeline()), (strings{"0/0 turnEnd 1", "1/1 turnEnd 2",
                                             "2/2 turnEnd 3 orphaned"}));
}

TEST_F(snapshots, an_orphan_is_recovered_by_restoring_it) {
  const auto sum = define_kept_sum();
  run_mine(sum, {1, 1, 1});
  finish(sum.stream_bidi(with_snapshot_id(id_of(1))), {9});
  finish(sum.stream_bidi(with_snapshot_id(id_of(3))), {});
  EXPECT_EQ(told(timeline()),
            (strings{"0/0 turnEnd 1", "1/1 turnEnd 2", "2/2 turnEnd 3"}));
  EXPECT_EQ(told(whole_timeline()),
            (strings{"0/0 turnEnd 1", "1/1 turnEnd 2", "2/2 turnEnd 3",
                     "1/1 turnEnd 10 orphaned"}))
    << "nothing was rewritten";
  finish(sum.stream_bidi(my_session), {2});
  EXPECT_EQ(told(timeline()), (strings{"0/0 turnEnd 1", "1/1 turnEnd 2",
                                       "2/2 turnEnd 3", "3/3 turnEnd 5"}));
}

TEST_F(snapshots, of_two_restores_in_a_row_the_last_one_counts) {
  const auto sum = define_kept_sum();
  run_mine(sum, {1, 1, 1});
  finish(sum.stream_bidi(with_snapshot_id(id_of(1))), {});
  finish(sum.stream_bidi(with_snapshot_id(id_of(2))), {});
  EXPECT_EQ(told(timeline()), (strings{"0/0 turnEnd 1", "1/1 turnEnd 2"}));
  finish(sum.stream_bidi(with_snapshot_id(id_of(1))), {});
  finish(sum.stream_bidi(my_session), {4});
  EXPECT_EQ(told(whole_timeline()),
            (strings{"0/0 turnEnd 1", "1/1 turnEnd 2 orphaned",
                     "2/2 turnEnd 3 orphaned", "1/1 turnEnd 5"}));
}

TEST_F(snapshots, a_refused_restore_orphans_nothing) {
  const auto sum = define_kept_sum();
  run_mine(sum, {1, 1});
  auto live = sum.stream_bidi(my_session);
  EXPECT_EQ(opening_code(sum, with_snapshot_id(id_of(1))),
            errc::failed_precondition);
  EXPECT_EQ(told(whole_timeline()),
            (strings{"0/0 turnEnd 1", "1/1 turnEnd 2"}));
}

// -- indices ------------------------------------------------------------------

TEST_F(snapshots, index_and_turn_index_go_on_in_the_next_invocation) {
  const auto notes = define_kept_notes();
  finish(notes.stream_bidi(my_session), {"a", "b"});
  finish(notes.stream_bidi(my_session), {"c"});
  EXPECT_EQ(told(snapshots_of("mine")),
            (texts{R"(0/0 turnEnd {"count":1,"words":"a"})",
                   R"(1/1 turnEnd {"count":2,"words":"ab"})",
                   R"(2/2 turnEnd {"count":3,"words":"abc"})"}));
}

TEST_F(snapshots, index_and_turn_index_go_on_from_the_restored_snapshot) {
  const auto notes = define_kept_notes();
  const auto first = finish(notes.stream_bidi(my_session), {"a", "b", "c"});
  finish(notes.stream_bidi(with_snapshot_id(first.snapshot_ids.at(0))), {"d"});
  EXPECT_EQ(told(all_snapshots_of("mine")),
            (texts{R"(0/0 turnEnd {"count":1,"words":"a"})",
                   R"(1/1 turnEnd {"count":2,"words":"ab"} orphaned)",
                   R"(2/2 turnEnd {"count":3,"words":"abc"} orphaned)",
                   R"(1/1 turnEnd {"count":2,"words":"ad"})"}));
  EXPECT_EQ(told(snapshots_of("mine")),
            (texts{R"(0/0 turnEnd {"count":1,"words":"a"})",
                   R"(1/1 turnEnd {"count":2,"words":"ad"})"}));
}

TEST_F(snapshots, the_turn_index_goes_on_without_snapshots_too) {
  const auto turns = define_stored(
    [](context, agent_session<notebook> sess, input<std::string> in,
       agent_responder<std::uint64_t> out) -> task<std::uint64_t> {
      while (const auto word = co_await in.next()) {
        co_await sess.update([&](notebook& x) { x.words += *word; });
        co_await out.send(co_await sess.turn_index());
        co_await out.end_turn();
      }
      co_return co_await sess.turn_index();
    });
  EXPECT_EQ(finish(turns.stream_bidi(my_session), {"a", "b"}).output, 2u);
  auto again = turns.stream_bidi(my_session);
  again.send("c");
  EXPECT_EQ(read_turn(again), std::vector<std::uint64_t>{2});
  EXPECT_EQ(finish(again).output, 3u);
}

// -- tracing ------------------------------------------------------------------

TEST_F(snapshots, a_snapshot_notes_its_agent_on_the_span) {
  const auto recorder = listen();
  const auto made = finish(define_kept_sum().stream_bidi(), {7});
  ASSERT_TRUE(nothing_is_left());
  const auto span = recorder->find("/agent/sum");
  ASSERT_TRUE(span);
  ASSERT_NE(span->find("genkit:metadata:snapshotId"), nullptr);
  EXPECT_EQ(*span->find("genkit:metadata:snapshotId"),
            attribute_value{made.snapshot_ids.back().str()});
  ASSERT_NE(span->find("genkit:metadata:agent"), nullptr);
  EXPECT_EQ(*span->find("genkit:metadata:agent"), attribute_value{"sum"s});
}

} // namespace tertulia::test::snapshot_tests
