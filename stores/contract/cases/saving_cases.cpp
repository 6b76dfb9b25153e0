// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/store.hpp>
#include <tertulia/store_contract.hpp>

#include <caf/timestamp.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

// Saving of records.

namespace tertulia {

TEST_P(store_contract, the_first_record_is_a_root) {
  const auto session = at("s");
  auto made = record(session, talk(1), 0);
  made.turn_index = 3;
  made.finish_reason = ai::finish_reason::interrupted;
  made.event = snapshot_event::tool_iteration_end;
  made.created_at = caf::timestamp{std::chrono::seconds{1'700'000'000}};
  const auto saved = append(made, talk(1));
  EXPECT_TRUE(saved.created);
  made.sequence = 1;
  EXPECT_EQ(saved.record, made);
  EXPECT_EQ(read(session, 1), made);
}

TEST_P(store_contract, a_record_follows_its_parent) {
  const auto session = at("s");
  save_all(session, {1, 2, 3});
  const auto last = read(session, 3);
  EXPECT_EQ(last.parent, 2u);
  EXPECT_EQ(last.parent_id, id_of(number(2)));
  EXPECT_EQ(last.index, 2u);
}

TEST_P(store_contract, a_state_that_comes_back_is_recorded_again) {
  const auto session = at("s");
  save_all(session, {1, 2, 1});
  EXPECT_EQ(sequences(session), (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(read(session, 1).id, read(session, 3).id);
  const auto found
    = get(get_snapshot_request{{session.agent, session.id, id_of(number(1))}});
  EXPECT_EQ(found.record.sequence, 3u);
}

TEST_P(store_contract, an_id_means_the_last_active_record_that_has_it) {
  const auto session = at("s");
  save_all(session, {1, 2, 1});
  restore(session, 2);
  const snapshot_ref snapshot{session.agent, session.id, id_of(number(1))};
  EXPECT_EQ(get(get_snapshot_request{snapshot}).record.sequence, 1u);
}

TEST_P(store_contract, an_id_without_active_records_means_its_last_one) {
  const auto session = at("s");
  save_all(session, {1, 2, 3, 2});
  restore(session, 1);
  const snapshot_ref snapshot{session.agent, session.id, id_of(number(2))};
  EXPECT_EQ(get(get_snapshot_request{snapshot}).record.sequence, 4u);
}

TEST_P(store_contract, saving_what_the_parent_has_changes_nothing) {
  const auto session = at("s");
  save_all(session, {1, 2});
  const auto before = get(get_session_request{session});
  const auto again = save(session, number(2), 2);
  EXPECT_FALSE(again.created);
  EXPECT_EQ(again.record, read(session, 2));
  const auto branch = save(session, number(1), 1, append_rule::anywhere);
  EXPECT_FALSE(branch.created);
  EXPECT_EQ(branch.record, read(session, 1));
  const auto after = get(get_session_request{session});
  EXPECT_EQ(before.info, after.info);
  EXPECT_EQ(before.content, after.content);
}

TEST_P(store_contract, the_same_text_of_another_version_is_another_state) {
  const auto session = at("s");
  const auto versions
    = {number(1), version(1, number(1)), version(2, number(1))};
  std::uint64_t sequence = 0;
  for (const auto& x : versions) {
    const auto saved = save(session, x, sequence);
    EXPECT_TRUE(saved.created);
    EXPECT_EQ(saved.record.type, x.type());
    EXPECT_EQ(saved.record.state, number(1).id());
    sequence = saved.record.sequence;
    EXPECT_FALSE(save(session, x, sequence).created);
  }
  sequence = 0;
  for (const auto& x : versions) {
    ++sequence;
    EXPECT_EQ(read(session, sequence).type, x.type());
    EXPECT_EQ(content(session, sequence), x);
    EXPECT_EQ(restore(session, sequence).content, x);
    EXPECT_EQ(content(session), x);
  }
  // their id still means the last active record
  restore(session, 2);
  EXPECT_EQ(
    get(get_snapshot_request{{session.agent, session.id, id_of(number(1))}})
      .record.sequence,
    2u);
}

TEST_P(store_contract, what_a_session_works_on_has_a_version) {
  const auto session = at("s");
  save(session, version(1, number(1)), 0);
  const auto now = version(2, number(1));
  work_on(session, now, 1);
  const auto found = get(get_session_request{session});
  EXPECT_EQ(found.content, now);
  EXPECT_EQ(found.head.content, version(1, number(1)));
  EXPECT_EQ(found.head.record.type, found.head.content.type());
}

TEST_P(store_contract, versions_of_a_conversation_go_on_from_each_other) {
  const auto session = at("s");
  const auto old = version(1, talk(3));
  const auto now = version(2, talk(3));
  save(session, old, 0);
  save(session, now, 1);
  const auto next
    = now.with_messages(now.messages().with(ai::user_text("more")));
  save(session, next, 2);
  for (std::uint64_t i = 1; i <= 3; ++i)
    EXPECT_EQ(content(session, i), i == 1 ? old : (i == 2 ? now : next));
}

TEST_P(store_contract, who_saves_behind_a_head_that_has_moved_is_told) {
  const auto session = at("race");
  save_all(session, {1});
  auto late = save_snapshot_request{record(session, number(2), 1), number(2),
                                    append_rule::at_head};
  EXPECT_EQ(code(late), errc::ok);
  EXPECT_EQ(code(late), errc::aborted);
  EXPECT_NE(store.error().message().find("race"), std::string::npos);
  late.record.parent = 0;
  EXPECT_EQ(code(late), errc::aborted);
  EXPECT_EQ(sequences(session, true), (std::vector<std::uint64_t>{1, 2}));
}

TEST_P(store_contract, a_branch_orphans_what_it_leaves) {
  const auto session = at("s");
  save_all(session, {1, 2, 3});
  const auto saved = save(session, number(4), 1, append_rule::anywhere);
  EXPECT_EQ(saved.record.sequence, 4u);
  EXPECT_EQ(saved.record.index, 1u);
  EXPECT_EQ(sequences(session), (std::vector<std::uint64_t>{1, 4}));
  EXPECT_TRUE(read(session, 3).orphaned);
}

TEST_P(store_contract, a_record_can_be_saved_as_it_was) {
  const auto session = at("s");
  const auto as_it_was = [&](int value, std::uint64_t sequence,
                             std::uint64_t parent) {
    auto saved = record(session, number(value), parent);
    saved.sequence = sequence;
    saved.index = 10 * sequence;
    return save_snapshot_request{saved, number(value), append_rule::as_it_was};
  };
  EXPECT_EQ(code(as_it_was(1, 0, 0)), errc::invalid_argument);
  EXPECT_TRUE(get(as_it_was(1, 3, 0)).created);
  const auto same = get(as_it_was(1, 5, 3)); // record 4 does not exist
  EXPECT_TRUE(same.created);
  EXPECT_EQ(same.record.sequence, 5u);
  EXPECT_EQ(same.record.index, 50u);
  EXPECT_EQ(same.record.parent, 3u);
  EXPECT_EQ(same.record.parent_id, id_of(number(1)));
  get(as_it_was(2, 6, 5));
  get(as_it_was(3, 9, 3));
  EXPECT_EQ(code(as_it_was(4, 9, 3)), errc::aborted);
  EXPECT_EQ(code(as_it_was(4, 2, 0)), errc::aborted);
  EXPECT_EQ(code(as_it_was(4, 10, 4)), errc::not_found);
  EXPECT_EQ(sequences(session), (std::vector<std::uint64_t>{3, 9}));
  EXPECT_EQ(sequences(session, true), (std::vector<std::uint64_t>{3, 5, 6, 9}));
  restore(session, 6);
  EXPECT_EQ(sequences(session), (std::vector<std::uint64_t>{3, 5, 6}));
  const auto next = save(session, number(5), 6).record;
  EXPECT_EQ(next.sequence, 10u);
  EXPECT_EQ(next.index, 61u);
}

TEST_P(store_contract, a_parent_that_is_not_there_is_not_found) {
  const auto session = at("s");
  const auto content = number(1);
  for (const auto rule : {append_rule::anywhere, append_rule::at_head}) {
    EXPECT_EQ(
      code(save_snapshot_request{record(session, content, 1), content, rule}),
      errc::not_found);
  }
  EXPECT_EQ(code(get_session_request{session}), errc::not_found);
}

TEST_P(store_contract, a_state_with_another_id_is_refused) {
  const auto session = at("s");
  EXPECT_EQ(code(save_snapshot_request{record(session, number(1), 0), number(2),
                                       append_rule::anywhere}),
            errc::invalid_argument);
  EXPECT_EQ(code(get_session_request{session}), errc::not_found);
}

TEST_P(store_contract, what_has_no_json_is_refused) {
  const auto session = at("s");
  const auto wrong
    = state::plain(payload::of(std::numeric_limits<double>::quiet_NaN()));
  auto saved = record(session, number(1), 0);
  EXPECT_EQ(code(save_snapshot_request{saved, wrong, append_rule::anywhere}),
            errc::invalid_argument);
  EXPECT_EQ(code(save_session_request{session, wrong, 0}),
            errc::invalid_argument);
  EXPECT_EQ(code(get_session_request{session}), errc::not_found);
}

TEST_P(store_contract, numbers_that_mean_nothing_are_refused) {
  const auto session = at("s");
  const auto first = number(1);
  constexpr auto last = (std::uint64_t{1} << 63u) - 1;
  auto saved = record(session, first, 0);
  saved.event = static_cast<snapshot_event>(77);
  EXPECT_EQ(code(save_snapshot_request{saved, first, append_rule::at_head}),
            errc::invalid_argument);
  saved.event = snapshot_event::turn_end;
  saved.sequence = last + 1;
  EXPECT_EQ(code(save_snapshot_request{saved, first, append_rule::as_it_was}),
            errc::invalid_argument);
  EXPECT_EQ(code(get_session_request{session}), errc::not_found);
  saved.sequence = last;
  EXPECT_TRUE(
    get(save_snapshot_request{saved, first, append_rule::as_it_was}).created);
  const auto next = number(2);
  EXPECT_EQ(code(save_snapshot_request{record(session, next, last), next,
                                       append_rule::at_head}),
            errc::resource_exhausted);
  const auto found = get(get_session_request{session});
  EXPECT_EQ(found.info.head, last);
  EXPECT_EQ(found.head.record.sequence, last);
  EXPECT_EQ(content(session, last), first);
}

TEST_P(store_contract, empty_names_are_refused) {
  const auto content = number(1);
  const auto saved = record(at("s"), content, 0);
  auto refused = [&](auto change) {
    auto wrong = saved;
    change(wrong);
    return code(save_snapshot_request{wrong, content, append_rule::anywhere})
           == errc::invalid_argument;
  };
  EXPECT_TRUE(refused([](snapshot_record& x) { x.agent.clear(); }));
  EXPECT_TRUE(refused([](snapshot_record& x) { x.session = {}; }));
  EXPECT_TRUE(refused([](snapshot_record& x) { x.id = {}; }));
  const auto nobody = at("s", "");
  const auto nameless = at("");
  for (const auto& x : {nobody, nameless}) {
    EXPECT_EQ(code(save_session_request{x, content, 0}),
              errc::invalid_argument);
    EXPECT_EQ(code(get_session_request{x}), errc::invalid_argument);
    EXPECT_EQ(code(list_snapshots_request{x}), errc::invalid_argument);
  }
  EXPECT_EQ(code(get_snapshot_request{{"", {}, saved.id}}),
            errc::invalid_argument);
  EXPECT_EQ(code(get_snapshot_request{{"/agent/a", {}, {}}}),
            errc::invalid_argument);
  EXPECT_EQ(code(nameless, 1), errc::invalid_argument);
}

TEST_P(store_contract, names_that_cannot_be_shown_are_refused) {
  const auto content = number(1);
  for (const auto& name :
       {std::string{"\xff"}, std::string{"caf\xc3"}, std::string{"a\0b", 3},
        std::string(max_session_name + 1, 'x')})
    for (const auto& x : {at(name), at("s", name)}) {
      EXPECT_EQ(code(get_session_request{x}), errc::invalid_argument);
      EXPECT_EQ(code(list_snapshots_request{x}), errc::invalid_argument);
      EXPECT_EQ(code(save_session_request{x, content, 0}),
                errc::invalid_argument);
      EXPECT_EQ(code(save_snapshot_request{record(x, content, 0), content,
                                           append_rule::at_head}),
                errc::invalid_argument);
      if (is_managed()) {
        EXPECT_EQ(code(copy_session_request{at("s"), x}),
                  errc::invalid_argument);
      }
    }
  const auto tea = at("\xf0\x9f\x8d\xb5 caf\xc3\xa9\n");
  work_on(tea, content, 0);
  EXPECT_EQ(info(tea).id, tea.id);
  const auto longest = at(std::string(max_session_name, 'x'));
  work_on(longest, content, 0);
  EXPECT_EQ(info(longest).id, longest.id);
}

} // namespace tertulia
