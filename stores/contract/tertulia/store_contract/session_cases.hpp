// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json.hpp>
#include <tertulia/store.hpp>
#include <tertulia/store_contract/suite.hpp>

#include <caf/timestamp.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

// Sessions and lists of sessions. Included by tertulia/store_contract.hpp.

namespace tertulia {

// -- sessions -----------------------------------------------------------------

TYPED_TEST_P(store_contract, a_session_lives_without_snapshots) {
  const auto session_key = this->at("s");
  const auto info = this->work_on(session_key, this->number(1), 4);
  EXPECT_EQ(info.agent, session_key.agent);
  EXPECT_EQ(info.id, session_key.id);
  EXPECT_EQ(info.head, 0u);
  EXPECT_EQ(info.next_turn, 4u);
  const auto session = this->get(get_session_request{session_key});
  EXPECT_EQ(session.info, info);
  EXPECT_FALSE(session.head);
  EXPECT_EQ(session.content, this->number(1));
  EXPECT_TRUE(this->save(session_key, this->number(1), 0).created);
}

TYPED_TEST_P(store_contract, what_a_session_works_on_is_not_its_head) {
  const auto session_key = this->at("s");
  this->save_all(session_key, {1, 2});
  this->work_on(session_key, this->number(3), 7);
  const auto session = this->get(get_session_request{session_key});
  EXPECT_EQ(session.content, this->number(3));
  EXPECT_EQ(session.info.next_turn, 7u);
  ASSERT_TRUE(session.head);
  EXPECT_EQ(session.head.record.sequence, 2u);
  EXPECT_EQ(session.head.content, this->number(2));
  this->save(session_key, this->number(4), 2);
  EXPECT_EQ(this->content(session_key), this->number(4));
}

TYPED_TEST_P(store_contract, a_change_that_follows_another_one_is_aborted) {
  const auto session = this->at("s");
  const std::vector<session_position> nothing(1);
  const auto position = [](std::uint64_t turn, const state& content) {
    return session_position{turn, content.id(), content.type()};
  };
  const auto one = this->number(1);
  const auto two = this->number(2);
  const auto three = this->number(3);
  const auto first = position(0, one);
  EXPECT_EQ(this->code(save_session_request{session, two, 0, {first}}),
            errc::aborted);
  EXPECT_EQ(this->code(get_session_request{session}), errc::not_found);
  // Two writers create it.
  this->work_on(session, one, 0, nothing);
  EXPECT_EQ(this->code(save_session_request{session, two, 0, nothing}),
            errc::aborted);
  EXPECT_EQ(this->code(save_snapshot_request{this->record(session, two, 0), two,
                                             append_rule::at_head, nothing}),
            errc::aborted);
  EXPECT_EQ(this->content(session), one);
  // Two writers change it.
  this->work_on(session, two, 0, {first});
  EXPECT_EQ(this->code(save_session_request{session, three, 0, {first}}),
            errc::aborted);
  EXPECT_EQ(this->content(session), two);
  // The turn and the type are part of a position.
  for (const auto& wrong :
       {position(1, two), position(0, this->version(2, two))})
    EXPECT_EQ(this->code(save_session_request{session, three, 0, {wrong}}),
              errc::aborted);
  // An earlier save may have happened.
  this->work_on(session, three, 1, {first, position(0, two)});
  EXPECT_EQ(this->content(session), three);

  // A snapshot is a change, too, and so is a restore.
  auto saved = this->record(session, one, 0);
  saved.turn_index = 1;
  const auto save = [&](const session_position& follows) {
    return save_snapshot_request{saved, one, append_rule::at_head, {follows}};
  };
  EXPECT_EQ(this->code(save(position(0, three))), errc::aborted);
  EXPECT_FALSE(this->get(get_session_request{session}).head);
  this->get(save(position(1, three)));
  this->work_on(session, two, 2, {position(2, one)});
  this->restore(session, 1);
  EXPECT_EQ(
    this->code(save_session_request{session, three, 2, {position(2, two)}}),
    errc::aborted);
  if constexpr (TestFixture::durable)
    this->store.reopen();
  this->work_on(session, three, 2, {position(2, one)});
  if constexpr (TestFixture::managed) {
    const auto copy = this->at("t");
    this->get(copy_session_request{session, copy});
    this->work_on(copy, two, 2, {position(2, three)});
    this->get(delete_session_request{copy});
    EXPECT_EQ(
      this->code(save_session_request{copy, one, 3, {position(2, two)}}),
      errc::aborted);
    EXPECT_EQ(this->code(get_session_request{copy}), errc::not_found);
  }
}

TYPED_TEST_P(store_contract, a_session_knows_when_it_changed) {
  const auto session = this->at("s");
  const auto before = caf::make_timestamp();
  const auto made = this->work_on(session, this->number(1), 0);
  EXPECT_GE(made.created_at, before);
  EXPECT_GE(made.updated_at, made.created_at);
  this->save(session, this->number(2), 0);
  const auto saved = this->info(session);
  EXPECT_EQ(saved.created_at, made.created_at);
  EXPECT_GE(saved.updated_at, made.updated_at);
  EXPECT_LE(saved.updated_at, caf::make_timestamp());
}

// -- managed stores -----------------------------------------------------------

TYPED_TEST_P(store_contract, sessions_are_listed_in_pages) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    std::vector<session_ref> all;
    for (const auto* agent : {"/agent/a", "/agent/b"})
      for (const auto* id : {"1", "10", "2"}) {
        all.push_back(this->at(id, agent));
        this->save_all(all.back(), {1});
      }
    for (const std::uint32_t limit : {1, 2, 4, 100})
      for (const auto* agent : {"", "/agent/a", "/agent/b"}) {
        list_sessions_request x;
        x.agent = agent;
        x.limit = limit;
        std::vector<session_ref> seen;
        for (auto more = true; more && seen.size() < 100;) {
          const auto page = this->get(x);
          ASSERT_FALSE(page.sessions.empty());
          for (const auto& y : page.sessions)
            seen.emplace_back(y.agent, y.id);
          x.after = seen.back();
          more = page.more;
        }
        auto expected = all;
        std::erase_if(expected, [&](const session_ref& y) {
          return !x.agent.empty() && y.agent != x.agent;
        });
        EXPECT_EQ(seen, expected);
      }
  }
}

TYPED_TEST_P(store_contract, sessions_are_found_by_time_and_label) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    const auto first = this->at("1");
    const auto second = this->at("2");
    this->save_all(first, {1});
    this->save_all(second, {1});
    this->label(second, 1, {"good"});
    list_sessions_request x;
    x.label = "good";
    auto page = this->get(x);
    ASSERT_EQ(page.sessions.size(), 1u);
    EXPECT_EQ(page.sessions.front().id, second.id);
    label_snapshot_request mark{snapshot_ref{second, 1}};
    mark.remove = {"good"};
    this->get(mark);
    EXPECT_TRUE(this->get(x).sessions.empty()) << "it has lost the label";
    x.label = "bad";
    EXPECT_TRUE(this->get(x).sessions.empty());

    x.label.clear();
    x.updated_since = page.sessions.front().updated_at;
    for (const auto& y : this->get(x).sessions)
      EXPECT_GE(y.updated_at, x.updated_since);
    x.updated_since += std::chrono::hours{1};
    EXPECT_TRUE(this->get(x).sessions.empty());
  }
}

TYPED_TEST_P(store_contract, sessions_are_listed_by_change) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    list_sessions_request x;
    x.agent = "/agent/a";
    x.order = session_order::by_change;
    EXPECT_TRUE(this->get(x).sessions.empty());
    for (const auto* id : {"1", "2", "3"})
      this->save_all(this->at(id, "/agent/a"), {1});
    this->save_all(this->at("4", "/agent/b"), {1});
    const auto ids = [&] {
      std::string result;
      for (const auto& y : this->get(x).sessions)
        result += y.id.str();
      return result;
    };
    EXPECT_EQ(ids(), "321");
    this->restore(this->at("1", "/agent/a"), 1);
    EXPECT_EQ(ids(), "132");
    x.limit = 2;
    EXPECT_EQ(ids(), "13");
    EXPECT_TRUE(this->get(x).more);
    x.limit = 3;
    EXPECT_FALSE(this->get(x).more);
    x.after = this->at("3", "/agent/a");
    EXPECT_EQ(this->code(x), errc::invalid_argument);
    x.after = {};
    x.agent.clear();
    EXPECT_EQ(this->code(x), errc::invalid_argument);
  }
}

TYPED_TEST_P(store_contract, sessions_are_listed_with_what_they_are_about) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    const auto session = this->at("s");
    const auto listed = [&] {
      const auto page = this->get(list_sessions_request{});
      EXPECT_EQ(page.sessions.size(), 1u);
      const auto info = this->info(session);
      EXPECT_EQ(page.sessions.back(), info);
      return info;
    };
    auto log = this->talk(3).messages();
    const auto save = [&] {
      this->work_on(session, state::conversation(log, {}, {}), 0);
      const auto info = listed();
      EXPECT_EQ(info.messages, log.size());
      EXPECT_EQ(info.bytes, to_json_text(log).size());
      return info.preview;
    };
    EXPECT_EQ(save(), "message 2");
    log = log.with(ai::model_text("answer"));
    EXPECT_EQ(save(), "message 2");
    log = log.with(ai::message{ai::role::user,
                               {ai::part::media("picture"), ai::part::text(""),
                                ai::part::text("see"), ai::part::text("it")}});
    EXPECT_EQ(save(), "see");
    log = log.with(ai::message{ai::role::user, {ai::part::media("another")}});
    for (std::size_t i = 2; i < preview_depth; ++i)
      log = log.with(ai::model_text("thinking"));
    EXPECT_EQ(save(), "see");
    log = log.with(ai::model_text("at length"));
    EXPECT_EQ(save(), "");
    std::string text;
    for (std::size_t i = 0; i < max_preview; ++i)
      text
        += i % 2 == 0 ? "\xc3\xb6" : "\xf0\x9f\x8d\xb5"; // ö and a cup of tea
    log = log.with(ai::user_text(text + "\xc3\xb6"));
    EXPECT_EQ(save(), text);
    this->save(session, this->talk(2), 0);
    EXPECT_EQ(listed().preview, "message 1");
    this->save(session, this->number(1), 1);
    EXPECT_EQ(listed().preview, "");
    EXPECT_EQ(listed().messages, 0u);
    EXPECT_EQ(listed().bytes, 0u);
    this->restore(session, 1);
    EXPECT_EQ(listed().preview, "message 1");
    EXPECT_EQ(listed().messages, 2u);
    EXPECT_EQ(
      this->get(copy_session_request{session, this->at("t"), 2}).messages, 0u);
    EXPECT_EQ(
      this->get(copy_session_request{session, this->at("u"), 1}).preview,
      "message 1");
  }
}

TYPED_TEST_P(store_contract, sessions_have_titles) {
  TERTULIA_NEEDS_MANAGED_STORE() {
    const auto session = this->at("s");
    this->save_all(session, {1, 2});
    const auto before = this->info(session);
    auto expected = before;
    expected.title = "Tea";
    EXPECT_EQ(this->get(title_session_request{session, "Tea"}), expected);
    EXPECT_EQ(this->get(list_sessions_request{}).sessions.at(0), expected);
    this->save(session, this->number(3), 2);
    EXPECT_EQ(this->info(session).title, "Tea");
    EXPECT_EQ(this->get(copy_session_request{session, this->at("t")}).title,
              "Tea");
    EXPECT_EQ(this->get(copy_session_request{session, this->at("u"), 1}).title,
              "Tea");
    EXPECT_EQ(this->get(title_session_request{session, {}}).title, "");
    EXPECT_EQ(this->code(title_session_request{this->at("v"), "x"}),
              errc::not_found);
    EXPECT_EQ(this->code(title_session_request{session, "\xff"}),
              errc::invalid_argument);
    EXPECT_EQ(this->code(title_session_request{
                session, std::string(max_title_size + 1, 'x')}),
              errc::invalid_argument);
    EXPECT_EQ(this->code(title_session_request{
                session, std::string(max_title_size, 'x')}),
              errc::ok);
  }
}

} // namespace tertulia
