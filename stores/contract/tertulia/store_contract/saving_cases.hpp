// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/store.hpp>
#include <tertulia/store_contract/suite.hpp>

#include <caf/timestamp.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

// Saving of records. Included by tertulia/store_contract.hpp.

namespace tertulia {

TYPED_TEST_P(store_contract, the_first_record_is_a_root) {
  const auto session = this->at("s");
  auto made = this->record(session, this->talk(1), 0);
  made.turn_index = 3;
  made.finish_reason = ai::finish_reason::interrupted;
  made.event = snapshot_event::tool_iteration_end;
  made.created_at = caf::timestamp{std::chrono::seconds{1'700'000'000}};
  const auto saved = this->append(made, this->talk(1));
  EXPECT_TRUE(saved.created);
  made.sequence = 1;
  EXPECT_EQ(saved.record, made);
  EXPECT_EQ(this->read(session, 1), made);
}

TYPED_TEST_P(store_contract, a_record_follows_its_parent) {
  const auto session = this->at("s");
  this->save_all(session, {1, 2, 3});
  const auto last = this->read(session, 3);
  EXPECT_EQ(last.parent, 2u);
  EXPECT_EQ(last.parent_id, this->id_of(this->number(2)));
  EXPECT_EQ(last.index, 2u);
}

TYPED_TEST_P(store_contract, a_state_that_comes_back_is_recorded_again) {
  const auto session = this->at("s");
  this->save_all(session, {1, 2, 1});
  EXPECT_EQ(this->sequences(session), (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(this->read(session, 1).id, this->read(session, 3).id);
  const auto found = this->get(get_snapshot_request{
    {session.agent, session.id, this->id_of(this->number(1))}});
  EXPECT_EQ(found.record.sequence, 3u);
}

TYPED_TEST_P(store_contract, an_id_means_the_last_active_record_that_has_it) {
  const auto session = this->at("s");
  this->save_all(session, {1, 2, 1});
  this->restore(session, 2);
  const snapshot_ref snapshot{session.agent, session.id,
                              this->id_of(this->number(1))};
  EXPECT_EQ(this->get(get_snapshot_request{snapshot}).record.sequence, 1u);
}

TYPED_TEST_P(store_contract, an_id_without_active_records_means_its_last_one) {
  const auto session = this->at("s");
  this->save_all(session, {1, 2, 3, 2});
  this->restore(session, 1);
  const snapshot_ref snapshot{session.agent, session.id,
                              this->id_of(this->number(2))};
  EXPECT_EQ(this->get(get_snapshot_request{snapshot}).record.sequence, 4u);
}

TYPED_TEST_P(store_contract, saving_what_the_parent_has_changes_nothing) {
  const auto session = this->at("s");
  this->save_all(session, {1, 2});
  const auto before = this->get(get_session_request{session});
  const auto again = this->save(session, this->number(2), 2);
  EXPECT_FALSE(again.created);
  EXPECT_EQ(again.record, this->read(session, 2));
  const auto branch
    = this->save(session, this->number(1), 1, append_rule::anywhere);
  EXPECT_FALSE(branch.created);
  EXPECT_EQ(branch.record, this->read(session, 1));
  const auto after = this->get(get_session_request{session});
  EXPECT_EQ(before.info, after.info);
  EXPECT_EQ(before.content, after.content);
}

TYPED_TEST_P(store_contract,
             the_same_text_of_another_version_is_another_state) {
  const auto session = this->at("s");
  const auto versions = {this->number(1), this->version(1, this->number(1)),
                         this->version(2, this->number(1))};
  std::uint64_t sequence = 0;
  for (const auto& x : versions) {
    const auto saved = this->save(session, x, sequence);
    EXPECT_TRUE(saved.created);
    EXPECT_EQ(saved.record.type, x.type());
    EXPECT_EQ(saved.record.state, this->number(1).id());
    sequence = saved.record.sequence;
    EXPECT_FALSE(this->save(session, x, sequence).created);
  }
  sequence = 0;
  for (const auto& x : versions) {
    ++sequence;
    EXPECT_EQ(this->read(session, sequence).type, x.type());
    EXPECT_EQ(this->content(session, sequence), x);
    EXPECT_EQ(this->restore(session, sequence).content, x);
    EXPECT_EQ(this->content(session), x);
  }
  // their id still means the last active record
  this->restore(session, 2);
  EXPECT_EQ(this
              ->get(get_snapshot_request{
                {session.agent, session.id, this->id_of(this->number(1))}})
              .record.sequence,
            2u);
}

TYPED_TEST_P(store_contract, what_a_session_works_on_has_a_version) {
  const auto session = this->at("s");
  this->save(session, this->version(1, this->number(1)), 0);
  const auto now = this->version(2, this->number(1));
  this->work_on(session, now, 1);
  const auto found = this->get(get_session_request{session});
  EXPECT_EQ(found.content, now);
  EXPECT_EQ(found.head.content, this->version(1, this->number(1)));
  EXPECT_EQ(found.head.record.type, found.head.content.type());
}

TYPED_TEST_P(store_contract, versions_of_a_conversation_go_on_from_each_other) {
  const auto session = this->at("s");
  const auto old = this->version(1, this->talk(3));
  const auto now = this->version(2, this->talk(3));
  this->save(session, old, 0);
  this->save(session, now, 1);
  const auto next
    = now.with_messages(now.messages().with(ai::user_text("more")));
  this->save(session, next, 2);
  for (std::uint64_t i = 1; i <= 3; ++i)
    EXPECT_EQ(this->content(session, i), i == 1 ? old : (i == 2 ? now : next));
}

TYPED_TEST_P(store_contract, who_saves_behind_a_head_that_has_moved_is_told) {
  const auto session = this->at("race");
  this->save_all(session, {1});
  auto late = save_snapshot_request{this->record(session, this->number(2), 1),
                                    this->number(2), append_rule::at_head};
  EXPECT_EQ(this->code(late), errc::ok);
  EXPECT_EQ(this->code(late), errc::aborted);
  EXPECT_NE(this->store.error().message().find("race"), std::string::npos);
  late.record.parent = 0;
  EXPECT_EQ(this->code(late), errc::aborted);
  EXPECT_EQ(this->sequences(session, true), (std::vector<std::uint64_t>{1, 2}));
}

TYPED_TEST_P(store_contract, a_branch_orphans_what_it_leaves) {
  const auto session = this->at("s");
  this->save_all(session, {1, 2, 3});
  const auto saved
    = this->save(session, this->number(4), 1, append_rule::anywhere);
  EXPECT_EQ(saved.record.sequence, 4u);
  EXPECT_EQ(saved.record.index, 1u);
  EXPECT_EQ(this->sequences(session), (std::vector<std::uint64_t>{1, 4}));
  EXPECT_TRUE(this->read(session, 3).orphaned);
}

TYPED_TEST_P(store_contract, a_record_can_be_saved_as_it_was) {
  const auto session = this->at("s");
  const auto save
    = [&](int value, std::uint64_t sequence, std::uint64_t parent) {
        auto saved = this->record(session, this->number(value), parent);
        saved.sequence = sequence;
        saved.index = 10 * sequence;
        return save_snapshot_request{saved, this->number(value),
                                     append_rule::as_it_was};
      };
  EXPECT_EQ(this->code(save(1, 0, 0)), errc::invalid_argument);
  EXPECT_TRUE(this->get(save(1, 3, 0)).created);
  const auto same = this->get(save(1, 5, 3)); // record 4 does not exist
  EXPECT_TRUE(same.created);
  EXPECT_EQ(same.record.sequence, 5u);
  EXPECT_EQ(same.record.index, 50u);
  EXPECT_EQ(same.record.parent, 3u);
  EXPECT_EQ(same.record.parent_id, this->id_of(this->number(1)));
  this->get(save(2, 6, 5));
  this->get(save(3, 9, 3));
  EXPECT_EQ(this->code(save(4, 9, 3)), errc::aborted);
  EXPECT_EQ(this->code(save(4, 2, 0)), errc::aborted);
  EXPECT_EQ(this->code(save(4, 10, 4)), errc::not_found);
  EXPECT_EQ(this->sequences(session), (std::vector<std::uint64_t>{3, 9}));
  EXPECT_EQ(this->sequences(session, true),
            (std::vector<std::uint64_t>{3, 5, 6, 9}));
  this->restore(session, 6);
  EXPECT_EQ(this->sequences(session), (std::vector<std::uint64_t>{3, 5, 6}));
  const auto next = this->save(session, this->number(5), 6).record;
  EXPECT_EQ(next.sequence, 10u);
  EXPECT_EQ(next.index, 61u);
}

TYPED_TEST_P(store_contract, a_parent_that_is_not_there_is_not_found) {
  const auto session = this->at("s");
  const auto content = this->number(1);
  for (const auto rule : {append_rule::anywhere, append_rule::at_head}) {
    EXPECT_EQ(this->code(save_snapshot_request{
                this->record(session, content, 1), content, rule}),
              errc::not_found);
  }
  EXPECT_EQ(this->code(get_session_request{session}), errc::not_found);
}

TYPED_TEST_P(store_contract, a_state_with_another_id_is_refused) {
  const auto session = this->at("s");
  EXPECT_EQ(
    this->code(save_snapshot_request{this->record(session, this->number(1), 0),
                                     this->number(2), append_rule::anywhere}),
    errc::invalid_argument);
  EXPECT_EQ(this->code(get_session_request{session}), errc::not_found);
}

TYPED_TEST_P(store_contract, what_has_no_json_is_refused) {
  const auto session = this->at("s");
  const auto wrong
    = state::plain(payload::of(std::numeric_limits<double>::quiet_NaN()));
  auto saved = this->record(session, this->number(1), 0);
  EXPECT_EQ(
    this->code(save_snapshot_request{saved, wrong, append_rule::anywhere}),
    errc::invalid_argument);
  EXPECT_EQ(this->code(save_session_request{session, wrong, 0}),
            errc::invalid_argument);
  EXPECT_EQ(this->code(get_session_request{session}), errc::not_found);
}

TYPED_TEST_P(store_contract, numbers_that_mean_nothing_are_refused) {
  const auto session = this->at("s");
  const auto content = this->number(1);
  constexpr auto last = (std::uint64_t{1} << 63u) - 1;
  auto saved = this->record(session, content, 0);
  saved.event = static_cast<snapshot_event>(77);
  EXPECT_EQ(
    this->code(save_snapshot_request{saved, content, append_rule::at_head}),
    errc::invalid_argument);
  saved.event = snapshot_event::turn_end;
  saved.sequence = last + 1;
  EXPECT_EQ(
    this->code(save_snapshot_request{saved, content, append_rule::as_it_was}),
    errc::invalid_argument);
  EXPECT_EQ(this->code(get_session_request{session}), errc::not_found);
  saved.sequence = last;
  EXPECT_TRUE(
    this->get(save_snapshot_request{saved, content, append_rule::as_it_was})
      .created);
  const auto next = this->number(2);
  EXPECT_EQ(this->code(save_snapshot_request{this->record(session, next, last),
                                             next, append_rule::at_head}),
            errc::resource_exhausted);
  const auto found = this->get(get_session_request{session});
  EXPECT_EQ(found.info.head, last);
  EXPECT_EQ(found.head.record.sequence, last);
  EXPECT_EQ(this->content(session, last), content);
}

TYPED_TEST_P(store_contract, empty_names_are_refused) {
  const auto content = this->number(1);
  const auto saved = this->record(this->at("s"), content, 0);
  auto refused = [&](auto change) {
    auto wrong = saved;
    change(wrong);
    return this->code(
             save_snapshot_request{wrong, content, append_rule::anywhere})
           == errc::invalid_argument;
  };
  EXPECT_TRUE(refused([](snapshot_record& x) { x.agent.clear(); }));
  EXPECT_TRUE(refused([](snapshot_record& x) { x.session = {}; }));
  EXPECT_TRUE(refused([](snapshot_record& x) { x.id = {}; }));
  const auto nobody = this->at("s", "");
  const auto nameless = this->at("");
  for (const auto& x : {nobody, nameless}) {
    EXPECT_EQ(this->code(save_session_request{x, content, 0}),
              errc::invalid_argument);
    EXPECT_EQ(this->code(get_session_request{x}), errc::invalid_argument);
    EXPECT_EQ(this->code(list_snapshots_request{x}), errc::invalid_argument);
  }
  EXPECT_EQ(this->code(get_snapshot_request{{"", {}, saved.id}}),
            errc::invalid_argument);
  EXPECT_EQ(this->code(get_snapshot_request{{"/agent/a", {}, {}}}),
            errc::invalid_argument);
  EXPECT_EQ(this->code(nameless, 1), errc::invalid_argument);
}

TYPED_TEST_P(store_contract, names_that_cannot_be_shown_are_refused) {
  const auto content = this->number(1);
  for (const auto& name :
       {std::string{"\xff"}, std::string{"caf\xc3"}, std::string{"a\0b", 3},
        std::string(max_session_name + 1, 'x')})
    for (const auto& x : {this->at(name), this->at("s", name)}) {
      EXPECT_EQ(this->code(get_session_request{x}), errc::invalid_argument);
      EXPECT_EQ(this->code(list_snapshots_request{x}), errc::invalid_argument);
      EXPECT_EQ(this->code(save_session_request{x, content, 0}),
                errc::invalid_argument);
      EXPECT_EQ(this->code(save_snapshot_request{
                  this->record(x, content, 0), content, append_rule::at_head}),
                errc::invalid_argument);
      if constexpr (TestFixture::managed) {
        EXPECT_EQ(this->code(copy_session_request{this->at("s"), x}),
                  errc::invalid_argument);
      }
    }
  const auto tea = this->at("\xf0\x9f\x8d\xb5 caf\xc3\xa9\n");
  this->work_on(tea, content, 0);
  EXPECT_EQ(this->info(tea).id, tea.id);
  const auto longest = this->at(std::string(max_session_name, 'x'));
  this->work_on(longest, content, 0);
  EXPECT_EQ(this->info(longest).id, longest.id);
}

} // namespace tertulia
