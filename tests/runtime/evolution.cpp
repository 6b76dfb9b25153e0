// SPDX-License-Identifier: BSD-3-Clause

// A state outlives the program that made it: the next program migrates or
// refuses it.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/evolution_programs.hpp"

namespace tertulia::test::evolution_tests {

// -- agents -------------------------------------------------------------------

TEST_P(evolution, a_state_is_migrated_when_its_session_is_opened) {
  {
    program old{*this};
    finish(old.define_notes<first::memo>().stream_bidi(my_session), {"a", "b"});
    EXPECT_EQ(old.session("/agent/notes").content.type(),
              stored_type::of<first::memo>());
  }
  program now{*this};
  const auto notes = now.define_notes<second::memo>(speak_english);
  const auto before = all_of(now.session("/agent/notes"));
  EXPECT_EQ(finish(notes.stream_bidi(my_session), {}).state,
            (second::memo{{"a", "b"}, "en"}));
  EXPECT_EQ(all_of(now.session("/agent/notes")), before)
    << "who only looks changes nothing";
  EXPECT_EQ(finish(notes.stream_bidi(my_session), {"c"}).state,
            (second::memo{{"a", "b", "c"}, "en"}));
  const auto after = now.session("/agent/notes").content;
  EXPECT_EQ(after.type(), stored_type::of<second::memo>());
  EXPECT_EQ(after.text(), R"({"said":["a","b","c"],"language":"en"})");
}

TEST_P(evolution, a_state_from_before_versions_has_version_1) {
  {
    program old{*this};
    finish(old.define_timeout<first::patience>().stream_bidi(my_session), {2});
    EXPECT_TRUE(old.session("/agent/timeout").content.type().empty());
  }
  program now{*this};
  const auto timeout = now.define_timeout<second::patience>(to_milliseconds);
  EXPECT_EQ(finish(timeout.stream_bidi(my_session), {}).state.timeout, 2'000);
}

TEST_P(evolution, an_old_snapshot_is_restored_amid_a_timeline) {
  const auto oldest = leave_notes<first::memo>({"a", "b"}, each_turn).at(0);
  program now{*this};
  const auto notes = now.define_notes<second::memo>(each_turn, speak_english);
  finish(notes.stream_bidi(my_session), {"c", "d"});
  const auto result
    = finish(notes.stream_bidi(with_snapshot_id(oldest)), {"e"});
  EXPECT_EQ(result.session_id.str(), "mine");
  EXPECT_EQ(result.state, (second::memo{{"a", "e"}, "en"}));
  EXPECT_EQ(now.snapshots("/agent/notes"),
            (words{
              R"(1: {"said":["a"]})",
              R"(1: {"said":["a","b"]} orphaned)",
              R"(2: {"said":["a","b","c"],"language":"en"} orphaned)",
              R"(2: {"said":["a","b","c","d"],"language":"en"} orphaned)",
              R"(2: {"said":["a","e"],"language":"en"})",
            }));
}

TEST_P(evolution, a_newer_state_is_refused_with_both_versions) {
  const auto newest
    = leave_notes<second::memo>({"a", "b"}, each_turn, speak_english).at(1);
  {
    program old{*this};
    const auto notes = old.define_notes<first::memo>(each_turn);
    const auto before = all_of(old.session("/agent/notes"));
    for (int i = 0; i < 2; ++i) { // no lease is left either
      const auto error = error_of([&] { (void)notes.stream_bidi(my_session); });
      expect_refusal(error, {"app.memo", "version 2", "version 1"});
      const auto details = parse_json<json>(error.details());
      EXPECT_EQ(details.at("stored").at("version"), 2);
      EXPECT_EQ(details.at("known").at("version"), 1);
      EXPECT_EQ(details.at("known").at("name"), "app.memo");
      expect_refusal(
        error_of([&] { (void)notes.stream_bidi(with_snapshot_id(newest)); }),
        {"app.memo", "version 2", "version 1"});
    }
    EXPECT_EQ(all_of(old.session("/agent/notes")), before);
  }
  program again{*this};
  const auto notes = again.define_notes<second::memo>(each_turn);
  EXPECT_EQ(finish(notes.stream_bidi(my_session), {"c"}).state.said,
            (words{"a", "b", "c"}));
}

TEST_P(evolution, a_state_of_another_type_is_refused) {
  leave_notes<other::memo>({"a"});
  program now{*this};
  const auto notes = now.define_notes<second::memo>(speak_english);
  expect_refusal(error_of([&] { (void)notes.stream_bidi(my_session); }),
                 {"version 1 of \"app.other\"", "version 2 of \"app.memo\""});
}

TEST_P(evolution, a_state_that_is_too_old_is_refused) {
  leave_notes<first::memo>({"a"});
  program now{*this};
  const auto notes = now.define_notes<second::memo>();
  expect_refusal(error_of([&] { (void)notes.stream_bidi(my_session); }),
                 {"app.memo", "version 1", "version 2", "from 1 to 2"});
}

TEST_P(evolution, a_migration_that_fails_opens_no_session) {
  const auto oldest = leave_notes<first::memo>({"a", "b"}, each_turn).at(0);
  {
    program now{*this};
    const auto notes = now.define_notes<second::memo>(each_turn, give_up);
    const auto before = all_of(now.session("/agent/notes"));
    for (const auto& id : {snapshot_id{}, oldest}) {
      EXPECT_TRUE(has(error_text([&] {
                        (void)(id ? notes.stream_bidi(with_snapshot_id(id))
                                  : notes.stream_bidi(my_session));
                      }),
                      "internal: ", "from version 1 to 2 failed: no idea"));
    }
    EXPECT_EQ(all_of(now.session("/agent/notes")), before)
      << "the head has not moved either";
  }
  program again{*this};
  const auto notes = again.define_notes<second::memo>(speak_english);
  EXPECT_EQ(finish(notes.stream_bidi(my_session), {}).state.said,
            (words{"a", "b"}));
}

TEST_P(evolution, a_refusal_ends_nobody_elses_invocation) {
  const auto oldest = leave_notes<first::memo>({"a"}, each_turn).at(0);
  snapshot_id newest;
  {
    program now{*this};
    const auto notes = now.define_notes<second::memo>(each_turn, speak_english);
    newest = finish(notes.stream_bidi(my_session), {"b"}).snapshot_ids[0];
    finish(notes.stream_bidi(with_snapshot_id(oldest)), {});
  }
  program old{*this};
  const auto notes = old.define_notes<first::memo>(each_turn);
  auto live = notes.stream_bidi(my_session); // at the oldest snapshot again
  expect_refusal(error_of([&] {
                   (void)notes.stream_bidi(with_snapshot_id(newest),
                                           with_take_over{});
                 }),
                 {"version 2", "version 1"});
  EXPECT_EQ(finish(std::move(live), {"c"}).state.said, (words{"a", "c"}));
}

TEST_P(evolution, the_same_text_of_two_versions_is_not_the_same_state) {
  {
    program old{*this};
    finish(old.define_timeout<first::patience>().stream_bidi(my_session),
           {1'000});
  }
  {
    program now{*this};
    const auto timeout = now.define_timeout<second::patience>(to_milliseconds);
    EXPECT_EQ(finish(timeout.stream_bidi(my_session), {1'000}).output, 1'000);
    EXPECT_EQ(now.snapshots("/agent/timeout"),
              (words{R"(1: {"timeout":1000})", R"(2: {"timeout":1000})"}));
  }
  program again{*this};
  const auto timeout = again.define_timeout<second::patience>(to_milliseconds);
  EXPECT_EQ(finish(timeout.stream_bidi(my_session), {0}).output, 1'000)
    << "a second, and not 1000 of them";
  EXPECT_EQ(again.snapshots("/agent/timeout").size(), 2u)
    << "now it is the same";
}

TEST_P(evolution, what_is_read_by_key_is_migrated) {
  const auto id = leave_notes<first::memo>({"a"}, each_turn).at(0);
  using memo = second::memo;
  const session_query session{session_id{"mine"}};
  const memo migrated{{"a"}, "en"};
  {
    program now{*this};
    now.define_notes<memo>(each_turn, speak_english);
    const auto found = now.rt->run_action<session_data<memo>>(
      "/snapshot-store/notes/getSession", session);
    EXPECT_EQ(found.state, migrated);
    EXPECT_EQ(found.last_snapshot->state, migrated);
    const auto one = now.rt->run_action<snapshot<memo>>(
      "/snapshot-store/notes/getSnapshot", snapshot_query{id});
    EXPECT_EQ(one.state, migrated);
    EXPECT_EQ(one.id, id);
    const auto all = now.rt->run_action<std::vector<snapshot<memo>>>(
      "/snapshot-store/notes/listSnapshots", session);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].state, migrated);
  }
  program stranger{*this};
  stranger.define_notes<other::memo>();
  const auto read = [&](const char* what, const auto& question) {
    return error_of([&] {
      (void)stranger.rt->run_action(
        "/snapshot-store/notes/" + std::string{what}, {to_json(question)});
    });
  };
  const words both{"app.memo", "app.other"};
  expect_refusal(read("getSession", session), both);
  expect_refusal(read("getSnapshot", snapshot_query{id}), both);
  expect_refusal(read("listSnapshots", session), both);
}

// -- definitions --------------------------------------------------------------

TEST_P(evolution, migrations_that_lead_nowhere_are_refused_by_definitions) {
  program now{*this};
  const auto expect_bad = [&](const auto&... options) {
    const auto codes
      = {code_from([&] { now.define_notes<second::memo>(options...); }),
         code_from([&] { now.define_chat<second::memo>(options...); }),
         code_from([&] { now.define_flow<second::memo>(options...); })};
    for (const auto code : codes)
      EXPECT_EQ(code, errc::invalid_argument);
  };
  const auto nothing = [](json&) {};
  expect_bad(speak_english, speak_english);
  expect_bad(with_migration{0, nothing}, speak_english);
  expect_bad(speak_english, with_migration{2, nothing});
  expect_bad(with_migration{1, nullptr});
  EXPECT_EQ(code_from([&] { now.define_notes<words_only>(speak_english); }),
            errc::invalid_argument)
    << "a type that says nothing has version 1";
  EXPECT_TRUE(now.rt->actions().empty());
}

TEST_P(evolution, a_session_is_not_found_under_another_version) {
  EXPECT_TRUE(
    detail::access::session_type<agent_session<second::memo>>().ends_with(
      " app.memo 2"));
  EXPECT_TRUE(
    detail::access::session_type<ai::chat_session<first::memo>>().ends_with(
      " app.memo 1"));
  EXPECT_EQ(detail::access::session_type<agent_session<words_only>>(),
            detail::type_name<agent_session<words_only>>());
}

INSTANTIATE_TEST_SUITE_P(stores, evolution,
                         ::testing::Values("memory", "sqlite"),
                         [](const auto& x) { return std::string{x.param}; });

} // namespace tertulia::test::evolution_tests
