// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/json.hpp>
#include <tertulia/store.hpp>

#include <caf/timestamp.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cases/case.hpp"
#include <gtest/gtest.h>

// Sessions and lists of sessions.

namespace tertulia {

// -- sessions -----------------------------------------------------------------

TEST_P(store_contract, a_session_lives_without_snapshots) {
  const auto session_key = at("s");
  const auto info = work_on(session_key, number(1), 4);
  EXPECT_EQ(info.agent, session_key.agent);
  EXPECT_EQ(info.id, session_key.id);
  EXPECT_EQ(info.head, 0u);
  EXPECT_EQ(info.next_turn, 4u);
  const auto session = get(get_session_request{session_key});
  EXPECT_EQ(session.info, info);
  EXPECT_FALSE(session.head);
  EXPECT_EQ(session.content, number(1));
  EXPECT_TRUE(save(session_key, number(1), 0).created);
}

TEST_P(store_contract, what_a_session_works_on_is_not_its_head) {
  const auto session_key = at("s");
  save_all(session_key, {1, 2});
  work_on(session_key, number(3), 7);
  const auto session = get(get_session_request{session_key});
  EXPECT_EQ(session.content, number(3));
  EXPECT_EQ(session.info.next_turn, 7u);
  ASSERT_TRUE(session.head);
  EXPECT_EQ(session.head.record.sequence, 2u);
  EXPECT_EQ(session.head.content, number(2));
  save(session_key, number(4), 2);
  EXPECT_EQ(content(session_key), number(4));
}

TEST_P(store_contract, a_change_that_follows_another_one_is_aborted) {
  const auto session = at("s");
  const std::vector<session_position> nothing(1);
  const auto position = [](std::uint64_t turn, const state& content) {
    return session_position{turn, content.id(), content.type()};
  };
  const auto one = number(1);
  const auto two = number(2);
  const auto three = number(3);
  const auto first = position(0, one);
  EXPECT_EQ(code(save_session_request{session, two, 0, {first}}),
            errc::aborted);
  EXPECT_EQ(code(get_session_request{session}), errc::not_found);
  // Two writers create it.
  work_on(session, one, 0, nothing);
  EXPECT_EQ(code(save_session_request{session, two, 0, nothing}),
            errc::aborted);
  EXPECT_EQ(code(save_snapshot_request{record(session, two, 0), two,
                                       append_rule::at_head, nothing}),
            errc::aborted);
  EXPECT_EQ(content(session), one);
  // Two writers change it.
  work_on(session, two, 0, {first});
  EXPECT_EQ(code(save_session_request{session, three, 0, {first}}),
            errc::aborted);
  EXPECT_EQ(content(session), two);
  // The turn and the type are part of a position.
  for (const auto& wrong : {position(1, two), position(0, version(2, two))})
    EXPECT_EQ(code(save_session_request{session, three, 0, {wrong}}),
              errc::aborted);
  // An earlier save may have happened.
  work_on(session, three, 1, {first, position(0, two)});
  EXPECT_EQ(content(session), three);

  // A snapshot is a change, too, and so is a restore.
  auto saved = record(session, one, 0);
  saved.turn_index = 1;
  const auto save = [&](const session_position& follows) {
    return save_snapshot_request{saved, one, append_rule::at_head, {follows}};
  };
  EXPECT_EQ(code(save(position(0, three))), errc::aborted);
  EXPECT_FALSE(get(get_session_request{session}).head);
  get(save(position(1, three)));
  work_on(session, two, 2, {position(2, one)});
  restore(session, 1);
  EXPECT_EQ(code(save_session_request{session, three, 2, {position(2, two)}}),
            errc::aborted);
  if (is_durable())
    store.reopen();
  work_on(session, three, 2, {position(2, one)});
  if (is_managed()) {
    const auto copy = at("t");
    get(copy_session_request{session, copy});
    work_on(copy, two, 2, {position(2, three)});
    get(delete_session_request{copy});
    EXPECT_EQ(code(save_session_request{copy, one, 3, {position(2, two)}}),
              errc::aborted);
    EXPECT_EQ(code(get_session_request{copy}), errc::not_found);
  }
}

TEST_P(store_contract, a_session_knows_when_it_changed) {
  const auto session = at("s");
  const auto before = caf::make_timestamp();
  const auto made = work_on(session, number(1), 0);
  EXPECT_GE(made.created_at, before);
  EXPECT_GE(made.updated_at, made.created_at);
  save(session, number(2), 0);
  const auto saved = info(session);
  EXPECT_EQ(saved.created_at, made.created_at);
  EXPECT_GE(saved.updated_at, made.updated_at);
  EXPECT_LE(saved.updated_at, caf::make_timestamp());
}

// -- managed stores -----------------------------------------------------------

TEST_P(store_contract, sessions_are_listed_in_pages) {
  TERTULIA_NEEDS_MANAGED_STORE();
  std::vector<session_ref> all;
  for (const auto* agent : {"/agent/a", "/agent/b"})
    for (const auto* id : {"1", "10", "2"}) {
      all.push_back(at(id, agent));
      save_all(all.back(), {1});
    }
  for (const std::uint32_t limit : {1, 2, 4, 100})
    for (const auto* agent : {"", "/agent/a", "/agent/b"}) {
      list_sessions_request x;
      x.agent = agent;
      x.limit = limit;
      std::vector<session_ref> seen;
      for (auto more = true; more && seen.size() < 100;) {
        const auto page = get(x);
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

TEST_P(store_contract, sessions_are_found_by_time_and_label) {
  TERTULIA_NEEDS_MANAGED_STORE();
  const auto first = at("1");
  const auto second = at("2");
  save_all(first, {1});
  save_all(second, {1});
  label(second, 1, {"good"});
  list_sessions_request x;
  x.label = "good";
  auto page = get(x);
  ASSERT_EQ(page.sessions.size(), 1u);
  EXPECT_EQ(page.sessions.front().id, second.id);
  label_snapshot_request mark{snapshot_ref{second, 1}};
  mark.remove = {"good"};
  get(mark);
  EXPECT_TRUE(get(x).sessions.empty()) << "it has lost the label";
  x.label = "bad";
  EXPECT_TRUE(get(x).sessions.empty());

  x.label.clear();
  x.updated_since = page.sessions.front().updated_at;
  for (const auto& y : get(x).sessions)
    EXPECT_GE(y.updated_at, x.updated_since);
  x.updated_since += std::chrono::hours{1};
  EXPECT_TRUE(get(x).sessions.empty());
}

TEST_P(store_contract, sessions_are_listed_by_change) {
  TERTULIA_NEEDS_MANAGED_STORE();
  list_sessions_request x;
  x.agent = "/agent/a";
  x.order = session_order::by_change;
  EXPECT_TRUE(get(x).sessions.empty());
  for (const auto* id : {"1", "2", "3"})
    save_all(at(id, "/agent/a"), {1});
  save_all(at("4", "/agent/b"), {1});
  const auto ids = [&] {
    std::string result;
    for (const auto& y : get(x).sessions)
      result += y.id.str();
    return result;
  };
  EXPECT_EQ(ids(), "321");
  restore(at("1", "/agent/a"), 1);
  EXPECT_EQ(ids(), "132");
  x.limit = 2;
  EXPECT_EQ(ids(), "13");
  EXPECT_TRUE(get(x).more);
  x.limit = 3;
  EXPECT_FALSE(get(x).more);
  x.after = at("3", "/agent/a");
  EXPECT_EQ(code(x), errc::invalid_argument);
  x.after = {};
  x.agent.clear();
  EXPECT_EQ(code(x), errc::invalid_argument);
}

TEST_P(store_contract, sessions_are_listed_with_what_they_are_about) {
  TERTULIA_NEEDS_MANAGED_STORE();
  const auto session = at("s");
  const auto listed = [&] {
    const auto page = get(list_sessions_request{});
    EXPECT_EQ(page.sessions.size(), 1u);
    auto expected = info(session);
    EXPECT_EQ(page.sessions.back(), expected);
    return expected;
  };
  auto log = talk(3).messages();
  const auto preview = [&] {
    work_on(session, state::conversation(log, {}, {}), 0);
    const auto found = listed();
    EXPECT_EQ(found.messages, log.size());
    EXPECT_EQ(found.bytes, to_json_text(log).size());
    return found.preview;
  };
  EXPECT_EQ(preview(), "message 2");
  log = log.with(ai::model_text("answer"));
  EXPECT_EQ(preview(), "message 2");
  log = log.with(ai::message{ai::role::user,
                             {ai::part::media("picture"), ai::part::text(""),
                              ai::part::text("see"), ai::part::text("it")}});
  EXPECT_EQ(preview(), "see");
  log = log.with(ai::message{ai::role::user, {ai::part::media("another")}});
  for (std::size_t i = 2; i < preview_depth; ++i)
    log = log.with(ai::model_text("thinking"));
  EXPECT_EQ(preview(), "see");
  log = log.with(ai::model_text("at length"));
  EXPECT_EQ(preview(), "");
  std::string text;
  for (std::size_t i = 0; i < max_preview; ++i)
    text += i % 2 == 0 ? "\xc3\xb6" : "\xf0\x9f\x8d\xb5"; // ö and a cup of tea
  log = log.with(ai::user_text(text + "\xc3\xb6"));
  EXPECT_EQ(preview(), text);
  save(session, talk(2), 0);
  EXPECT_EQ(listed().preview, "message 1");
  save(session, number(1), 1);
  EXPECT_EQ(listed().preview, "");
  EXPECT_EQ(listed().messages, 0u);
  EXPECT_EQ(listed().bytes, 0u);
  restore(session, 1);
  EXPECT_EQ(listed().preview, "message 1");
  EXPECT_EQ(listed().messages, 2u);
  EXPECT_EQ(get(copy_session_request{session, at("t"), 2}).messages, 0u);
  EXPECT_EQ(get(copy_session_request{session, at("u"), 1}).preview,
            "message 1");
}

TEST_P(store_contract, sessions_have_titles) {
  TERTULIA_NEEDS_MANAGED_STORE();
  const auto session = at("s");
  save_all(session, {1, 2});
  const auto before = info(session);
  auto expected = before;
  expected.title = "Tea";
  EXPECT_EQ(get(title_session_request{session, "Tea"}), expected);
  EXPECT_EQ(get(list_sessions_request{}).sessions.at(0), expected);
  save(session, number(3), 2);
  EXPECT_EQ(info(session).title, "Tea");
  EXPECT_EQ(get(copy_session_request{session, at("t")}).title, "Tea");
  EXPECT_EQ(get(copy_session_request{session, at("u"), 1}).title, "Tea");
  EXPECT_EQ(get(title_session_request{session, {}}).title, "");
  EXPECT_EQ(code(title_session_request{at("v"), "x"}), errc::not_found);
  EXPECT_EQ(code(title_session_request{session, "\xff"}),
            errc::invalid_argument);
  EXPECT_EQ(
    code(title_session_request{session, std::string(max_title_size + 1, 'x')}),
    errc::invalid_argument);
  EXPECT_EQ(
    code(title_session_request{session, std::string(max_title_size, 'x')}),
    errc::ok);
}

} // namespace tertulia
