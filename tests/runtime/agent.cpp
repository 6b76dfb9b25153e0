// SPDX-License-Identifier: BSD-3-Clause

// Start of an agent from a session or a snapshot, its changes and its output.

#include <tertulia/define_agent.hpp>
#include <tertulia/when.hpp>

#include <string>
#include <vector>

#include "support/conversations.hpp"

using namespace std::literals;

namespace tertulia::test::agent_tests {

using agent = conversations;

// -- sessions -----------------------------------------------------------------

TEST_F(agent, without_a_session_id_each_connection_has_its_own_session) {
  const auto notes = define_notes();
  const auto first = finish(notes.stream_bidi(), {"a"});
  const auto second = finish(notes.stream_bidi(), {"b"});
  EXPECT_TRUE(is_uuid(first.session_id.str())) << first.session_id.str();
  EXPECT_TRUE(is_uuid(second.session_id.str()));
  EXPECT_NE(first.session_id, second.session_id);
  EXPECT_EQ(first.state, (notebook{1, "a"}));
  EXPECT_EQ(second.state, (notebook{1, "b"}));
}

TEST_F(agent, a_new_session_begins_with_the_init_or_a_default_state) {
  const auto notes = define_notes();
  const notebook given{7, "x"};
  EXPECT_EQ(finish(notes.stream_bidi(with_init(given)), {}).state, given);
  EXPECT_EQ(finish(notes.stream_bidi(), {}).state, notebook{});
  const auto named = notes.stream_bidi(my_session, with_init(given));
  EXPECT_EQ(given, (notebook{7, "x"})) << "the caller's is the caller's";
}

TEST_F(agent, changes_that_wait_for_the_store_are_all_kept) {
  const auto notes
    = define_stored([](context, agent_session<notebook> mine,
                       input<std::string>, agent_responder<int>) -> task<int> {
        co_await when_all(mine.update([](notebook& x) { x.count += 1; }),
                          mine.update([](notebook& x) { x.count += 10; }),
                          mine.update([](notebook& x) { x.count += 100; }));
        co_return 0;
      });
  (void)notes.stream_bidi(my_session).output(patience);
  EXPECT_EQ(session_of("mine").at("state"), to_json(notebook{111, ""}));
}

TEST_F(agent, states_that_wait_for_the_store_are_saved_one_by_one) {
  const auto notes
    = define_stored([](context, agent_session<notebook> mine,
                       input<std::string>, agent_responder<int>) -> task<int> {
        const notebook first{1, "a"};
        const notebook second{2, "b"};
        const notebook third{3, "c"};
        co_await when_all(mine.update_state(first), mine.update_state(second),
                          mine.update_state(third));
        co_return 0;
      });
  (void)notes.stream_bidi(my_session).output(patience);
  EXPECT_EQ(session_of("mine").at("state"), to_json(notebook{3, "c"}));
}

TEST_F(agent, two_agents_with_one_store_do_not_share_sessions) {
  const auto one = define_notes("one");
  const auto two = define_notes("two");
  finish(one.stream_bidi(my_session), {"a"});
  const auto other = finish(two.stream_bidi(my_session), {"b"});
  EXPECT_EQ(other.state, (notebook{1, "b"}));
  EXPECT_EQ(session_of("mine", "one").at("state").at("words"), "a");
  EXPECT_EQ(session_of("mine", "two").at("state").at("words"), "b");
}

TEST_F(agent, without_a_store_a_session_lives_as_long_as_its_connection) {
  const auto notes = define_agent(*rt, "notes", take_notes);
  const auto first = finish(notes.stream_bidi(), {"a"});
  const auto second = finish(notes.stream_bidi(), {"b"});
  EXPECT_NE(first.session_id, second.session_id);
  EXPECT_EQ(second.state, (notebook{1, "b"}));
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(agent, without_a_store_nobody_knows_a_session_by_its_id) {
  const auto notes = define_agent(*rt, "notes", take_notes);
  EXPECT_EQ(error_text(opening_error(notes, my_session)),
            "failed_precondition: /agent/notes has no store that can contain "
            "session mine");
  EXPECT_EQ(opening_code("/agent/notes", my_session),
            errc::failed_precondition);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(agent, a_session_that_was_given_an_init_exists_before_any_turn) {
  const auto notes = define_notes();
  const notebook given{7, "x"};
  for (const auto* name : {"mine", ""}) {
    auto talk = *name != '\0'
                  ? notes.stream_bidi(with_session_id(name), with_init(given))
                  : notes.stream_bidi(with_init(given));
    const auto id = finish(talk).session_id;
    EXPECT_EQ(session_of(id.str()).at("state"), to_json(given));
    EXPECT_EQ(finish(notes.stream_bidi(with_session_id(id)), {"a"}).state,
              (notebook{8, "xa"}));
  }
  // Without an init value nothing has changed, so nothing is stored.
  finish(notes.stream_bidi(with_session_id("empty")), {});
  EXPECT_EQ(code_from([&] { (void)session_of("empty"); }), errc::not_found);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(agent, an_empty_session_or_snapshot_id_is_refused) {
  const auto notes = define_notes();
  EXPECT_EQ(opening_code(notes, with_session_id("")), errc::invalid_argument);
  EXPECT_EQ(opening_code(notes, with_snapshot_id("")), errc::invalid_argument);
}

// -- snapshots ----------------------------------------------------------------

TEST_F(agent, a_snapshot_and_another_session_are_refused) {
  const auto notes = define_kept_notes();
  const auto first = finish(notes.stream_bidi(my_session), {"a"});
  finish(notes.stream_bidi(with_session_id("other")), {"b"});
  for (const auto* session : {"other", "nobody's"}) {
    EXPECT_TRUE(has(error_text(opening_error(
                      notes, with_snapshot_id(first.snapshot_ids.at(0)),
                      with_session_id(session))),
                    "invalid_argument: ", session));
  }
  EXPECT_EQ(session_of("other").at("state").at("words"), "b");
  EXPECT_EQ(
    code_from([&] { session_of("nobody's"); }), // it was not created either
    errc::not_found);
}

TEST_F(agent, a_snapshot_in_several_other_sessions_is_refused_likewise) {
  const auto notes = define_kept_notes();
  const auto first = finish(notes.stream_bidi(with_session_id("one")), {"a"});
  finish(notes.stream_bidi(with_session_id("two")), {"a"});
  EXPECT_EQ(opening_code(notes, with_snapshot_id(first.snapshot_ids.at(0)),
                         with_session_id("three")),
            errc::invalid_argument);
}

TEST_F(agent, an_unknown_snapshot_fails_when_the_connection_is_opened) {
  const auto notes = define_kept_notes();
  EXPECT_TRUE(
    has(error_text(opening_error(notes, with_snapshot_id("no such thing"))),
        "not_found: ", "no such thing"));
  EXPECT_EQ(opening_code(notes, with_snapshot_id("no such thing"), my_session),
            errc::not_found);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(agent, every_combination_at_the_opening_has_one_meaning) {
  enum class target { none, known, unknown };
  using enum target;
  struct opening_case {
    target snapshot;
    target session;
    bool has_init;
    const char* goes_on_with; // words at the start, or an error code
    void apply(client_options<notebook>& to) const {
      if (snapshot != none)
        to.connection.snapshot = snapshot == known ? made : snapshot_id{"none"};
      if (session != none)
        to.connection.session = session_id{session == known ? "mine" : "new"};
      if (has_init)
        to.init = notebook{7, "x"};
    }
    snapshot_id made{};
  };
  // The snapshot contains the words "a", the session "ab".
  const opening_case with_store[] = {
    {none, none, false, ""},
    {none, none, true, "x"},
    {none, known, false, "ab"},
    {none, known, true, "ab"},
    {none, unknown, false, ""},
    {none, unknown, true, "x"},
    {known, none, false, "a"},
    {known, none, true, "invalid_argument"},
    {known, known, false, "a"},
    {known, known, true, "invalid_argument"},
    {known, unknown, false, "invalid_argument"},
    {known, unknown, true, "invalid_argument"},
    {unknown, none, false, "not_found"},
    {unknown, none, true, "invalid_argument"},
    {unknown, known, false, "not_found"},
    {unknown, known, true, "invalid_argument"},
    {unknown, unknown, false, "not_found"},
    {unknown, unknown, true, "invalid_argument"},
  };
  const opening_case without_store[] = {
    {none, none, false, ""},
    {none, none, true, "x"},
    {none, unknown, false, "failed_precondition"},
    {none, unknown, true, "failed_precondition"},
    {unknown, none, false, "failed_precondition"},
    {unknown, none, true, "invalid_argument"},
    {unknown, unknown, false, "failed_precondition"},
    {unknown, unknown, true, "invalid_argument"},
  };
  const auto look_at = [&](const auto& notes, const opening_case& x) {
    try {
      const auto result = finish(notes.stream_bidi(x), {});
      const auto id = result.session_id.str();
      if (x.session == none && x.snapshot == none) {
        EXPECT_TRUE(is_uuid(id)) << id;
      } else {
        EXPECT_EQ(id, x.session == unknown ? "new" : "mine");
      }
      return result.state.words;
    } catch (const status_error& error) {
      return std::string{to_string(error.code())};
    }
  };
  const auto name_of = [](const opening_case& x) {
    return "snapshot " + std::to_string(static_cast<int>(x.snapshot))
           + ", session " + std::to_string(static_cast<int>(x.session))
           + (x.has_init ? ", init" : "");
  };
  for (auto x : with_store) {
    restart({});
    store = spawn_memory_store(system);
    const auto notes = define_kept_notes();
    x.made
      = finish(notes.stream_bidi(my_session), {"a", "b"}).snapshot_ids.at(0);
    EXPECT_EQ(look_at(notes, x), x.goes_on_with) << name_of(x);
    EXPECT_EQ(opening_code("/agent/notes", with_snapshot_id(x.made),
                           with_init(json{{"count", 1}})),
              errc::invalid_argument);
  }
  restart({});
  const auto notes = define_agent(*rt, "notes", take_notes);
  for (const auto& x : without_store)
    EXPECT_EQ(look_at(notes, x), x.goes_on_with) << name_of(x);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(agent, a_snapshot_of_another_agent_is_not_found) {
  const auto one = define_kept_notes("one");
  const auto two = define_kept_notes("two");
  const auto first = finish(one.stream_bidi(), {"a"});
  EXPECT_EQ(opening_code(two, with_snapshot_id(first.snapshot_ids.at(0))),
            errc::not_found);
}

// -- changes ------------------------------------------------------------------

TEST_F(agent, a_change_is_stored_at_once) {
  const auto slow
    = define_stored([](context ctx, agent_session<notebook> sess, input<int>,
                       agent_responder<std::string> out) -> task<> {
        const witness here;
        const auto before = co_await sess.state();
        co_await sess.update_state(before.count + 1, before.words + "!");
        co_await out.send(before.words);
        co_await ctx.sleep(1h);
      });
  for (const auto* before : {"", "!", "!!"}) {
    auto talk = slow.stream_bidi(my_session);
    for (const auto& chunk : talk.responses(patience)) {
      EXPECT_EQ(chunk, before);
      break;
    }
    EXPECT_EQ(session_of("mine").at("state").at("words"), before + "!"s);
    talk.cancel();
    EXPECT_EQ(code_from([&] { talk.output(patience); }), errc::cancelled);
  }
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(agent, what_a_body_holds_is_a_copy) {
  const auto copying
    = define_stored([](context, agent_session<notebook> sess, input<int>,
                       agent_responder<int>) -> task<std::string> {
        auto mine = co_await sess.state();
        mine.words += "mine";
        const auto theirs = co_await sess.state();
        co_return theirs.words;
      });
  const auto result
    = finish(copying.stream_bidi(with_init(notebook{1, "x"})), {});
  EXPECT_EQ(result.output, "x");
  EXPECT_EQ(result.state, (notebook{1, "x"}));
}

TEST_F(agent, a_body_that_fails_keeps_what_it_had_changed) {
  const auto failing = define_stored(
    [](context, agent_session<notebook> sess, input<std::string> in,
       agent_responder<std::string> out) -> task<> {
      while (const auto word = co_await in.next()) {
        co_await sess.update([&](notebook& x) { x.words += *word; });
        co_await out.send("noted");
        if (*word == "b")
          throw status_error{errc::out_of_range, "no b, please"};
        co_await out.end_turn();
      }
    });
  auto talk = failing.stream_bidi(my_session);
  talk.send("a");
  read_turn(talk);
  talk.send("b");
  texts seen;
  EXPECT_EQ(error_of([&] {
              for (const auto& x : talk.responses(patience))
                seen.push_back(x);
            }).message(),
            "no b, please");
  EXPECT_EQ(seen, texts{"noted"}) << "before the error";
  EXPECT_EQ(code_from([&] { talk.output(patience); }), errc::out_of_range);
  auto again = failing.stream_bidi(my_session);
  EXPECT_EQ(finish(again).state.words, "ab");
}

// -- output -------------------------------------------------------------------

TEST_F(agent, the_output_has_all_members_of_the_seed) {
  const auto maker = define_stored(
    [](context, agent_session<notebook> sess, input<std::string>,
       agent_responder<std::string>) -> task<agent_result<std::string>> {
      co_await sess.update_state(1, "x");
      agent_result<std::string> result{"done"};
      result.artifacts.emplace_back(
        "summary", std::vector<ai::part>{ai::part::text("short")});
      co_return result;
    },
    each_time);
  auto talk = maker.stream_bidi(my_session);
  const auto result = talk.output(patience);
  const auto id = hash_of(R"({"count":1,"words":"x"})");
  EXPECT_EQ(to_json_text(result),
            R"({"sessionId":"mine","output":"done","state":{"count":1,)"
            R"("words":"x"},"artifacts":[{"name":"summary","parts":)"
            R"([{"text":"short"}]}],"snapshotIds":[")"
              + id + R"("]})");
  EXPECT_EQ(result.artifacts.at(0).parts.at(0), ai::part::text("short"));
}

TEST_F(agent, a_body_may_return_a_value_or_nothing) {
  const auto value = define_stored_as(
    "value",
    [](context, agent_session<int>, input<int>,
       agent_responder<int>) -> task<double> { co_return 0.5; });
  const auto none
    = define_stored_as("none",
                       [](context, agent_session<int>, input<int>,
                          agent_responder<int>) -> task<> { co_return; });
  EXPECT_EQ(
    to_json_text(
      value.stream_bidi(with_session_id("s"), with_init(4)).output(patience)),
    R"({"sessionId":"s","output":0.5,"state":4})");
  EXPECT_EQ(
    to_json_text(
      none.stream_bidi(with_session_id("s"), with_init(4)).output(patience)),
    R"({"sessionId":"s","output":{},"state":4})");
}

} // namespace tertulia::test::agent_tests
