// SPDX-License-Identifier: BSD-3-Clause

// Callers: what they open is theirs, and they do not reach what others have.

#include <tertulia/ask_store.hpp>
#include <tertulia/caller.hpp>

#include <string>
#include <vector>

#include "support/conversations.hpp"
#include "support/refusal.hpp"

using namespace std::literals;

namespace tertulia::test::caller_tests {

namespace {

const auto ann = with_caller("ann");
const auto bob = with_caller("bob");

struct callers : conversations {
  /// Asks the front desk about a run.
  /// @returns `errc::ok`, or the code of the refusal.
  errc ask(run_verb verb, const run_id& run, const session_id& session,
           const std::string& caller, const std::string& key) {
    run_request question{verb, run, key, session};
    question.caller = caller_name{caller};
    errc result = errc::ok;
    caf::scoped_actor self{system};
    self->request(rt->front_desk(), patience, std::move(question))
      .receive([](const run_info&) {},
               [&](const caf::error& reason) { result = code_of(reason); });
    return result;
  }
};

} // namespace

TEST(caller, has_the_sessions_that_begin_with_its_name) {
  const caller_name who{"ann"};
  const auto expect = [&](const char* given, const char* meant) {
    EXPECT_EQ(session_of(who, session_id{given}), session_id{meant});
  };
  expect("errands", "ann/errands");
  expect("ann/errands", "ann/errands");
  expect("ann", "ann/ann");
  expect("ann/", "ann/ann/");
  expect("anna/errands", "ann/anna/errands");
  expect("bob/errands", "ann/bob/errands");
  EXPECT_TRUE(owns(who, session_id{"ann/x"}));
  EXPECT_FALSE(owns(who, session_id{"ann/"}));
  EXPECT_FALSE(owns(who, session_id{"anna/x"}));
  EXPECT_FALSE(owns(who, session_id{}));
}

TEST(caller, has_a_name_without_a_slash) {
  for (const auto& x : {"a/b"s, "\xff"s, "a\0b"s, std::string(129, 'a')})
    EXPECT_EQ(code_from([&] { (void)with_caller(x); }), errc::invalid_argument)
      << x;
  EXPECT_EQ(code_from([] { check_caller({}); }), errc::invalid_argument);
  EXPECT_EQ(code_from([] { (void)with_caller(std::string(128, 'a')); }),
            errc::ok);
}

TEST_F(callers, do_not_share_sessions) {
  const auto notes = define_notes();
  EXPECT_EQ(finish(notes.stream_bidi(my_session, ann), {"a"}).session_id,
            session_id{"ann/mine"});
  EXPECT_EQ(finish(notes.stream_bidi(my_session, bob), {"b"}).state.words, "b");
  EXPECT_EQ(finish(notes.stream_bidi(my_session), {"c"}).state.words, "c");
  EXPECT_EQ(finish(notes.stream_bidi(my_session, ann), {"d"}).state.words,
            "ad");
  const with_session_id whole{"ann/mine"};
  EXPECT_EQ(finish(notes.stream_bidi(whole, ann), {"e"}).state.words, "ade");
  EXPECT_EQ(finish(notes.stream_bidi(whole, bob), {"f"}).state.words, "f");
  EXPECT_EQ(finish(notes.stream_bidi(whole), {"g"}).state.words, "adeg")
    << "the program reaches all sessions";
}

TEST_F(callers, own_the_sessions_that_they_do_not_name) {
  const auto notes = define_notes();
  const auto made = finish(notes.stream_bidi(ann), {"a"}).session_id;
  EXPECT_TRUE(owns(caller_name{"ann"}, made)) << made.str();
  EXPECT_TRUE(is_uuid(made.str().substr(4)));
  const auto kept_nowhere = define_agent(*rt, "free", take_notes);
  EXPECT_TRUE(owns(caller_name{"ann"},
                   finish(kept_nowhere.stream_bidi(ann), {"a"}).session_id));
  auto talk = kept_nowhere.stream_bidi(ann, with_keep());
  EXPECT_EQ(ask(run_verb::abort, {}, talk.session(), "ann", "/agent/free"),
            errc::ok);
}

TEST_F(callers, ask_a_store_about_their_sessions) {
  const auto notes = define_kept_notes();
  const auto made = finish(notes.stream_bidi(my_session, ann), {"a"});
  const auto ask_as = [&](const with_caller& who, const std::string& verb,
                          const json& question) {
    return code_from([&] {
      auto talk = rt->stream_bidi("/snapshot-store/notes/" + verb, who);
      talk.send(question);
      talk.close();
      (void)talk.output(patience);
    });
  };
  const json session{{"sessionId", "mine"}};
  const json whole{{"sessionId", "ann/mine"}};
  for (const auto* verb : {"getSession", "listSnapshots"}) {
    EXPECT_EQ(ask_as(ann, verb, session), errc::ok);
    EXPECT_EQ(ask_as(ann, verb, json::object()), errc::invalid_argument);
  }
  EXPECT_EQ(ask_as(bob, "getSession", session), errc::not_found);
  EXPECT_EQ(ask_as(bob, "getSession", whole), errc::not_found);
  const auto list = [&](const with_caller& who) {
    auto talk = rt->stream_bidi("/snapshot-store/notes/listSnapshots", who);
    talk.send(whole);
    talk.close();
    return talk.output(patience).size();
  };
  EXPECT_EQ(list(ann), 1u);
  EXPECT_EQ(list(bob), 0u);
  auto snapshot = session;
  snapshot["snapshotId"] = made.snapshot_ids.at(0).str();
  for (const auto* verb : {"getSnapshot", "restoreSnapshot"}) {
    EXPECT_EQ(ask_as(ann, verb, snapshot), errc::ok);
    EXPECT_EQ(ask_as(bob, verb, snapshot), errc::not_found);
    EXPECT_EQ(ask_as(bob, verb, {{"snapshotId", snapshot["snapshotId"]}}),
              errc::invalid_argument);
  }
}

TEST_F(callers, do_not_reach_the_snapshots_of_others) {
  const auto chat = define_chat();
  auto talk = chat.stream_bidi(my_session, ann);
  const auto secret = snapshot_after(talk, "a");
  (void)finish(talk);
  const auto open = [&](const auto&... options) {
    return code_from(
      [&] { (void)chat.stream_bidi(with_snapshot_id(secret), options...); });
  };
  EXPECT_EQ(open(bob), errc::invalid_argument) << "it needs its session";
  EXPECT_EQ(open(bob, my_session), errc::not_found);
  EXPECT_EQ(open(bob, with_session_id("ann/mine")), errc::not_found);
  EXPECT_EQ(open(ann, my_session), errc::ok);
  EXPECT_EQ(open(), errc::ok);
  ai::conversation_init<notebook> init;
  init.snapshot_id = secret;
  EXPECT_EQ(code_from([&] { (void)chat.stream_bidi(with_init(init), bob); }),
            errc::invalid_argument);
}

TEST_F(callers, do_not_reach_the_runs_of_others) {
  const auto flow = rt->define_bidi_flow(
    "waits", [](context, input<int> in, output<int>) -> task<int> {
      while (co_await in.next()) {
      }
      co_return 1;
    });
  const auto key = flow.info().key;
  const auto run = flow.stream_bidi(with_keep(), ann).detach().run;
  const auto attach = [&](const auto&... options) {
    return code_from(
      [&] { flow.stream_bidi(with_run(run), options...).detach(); });
  };
  EXPECT_EQ(attach(bob), errc::not_found);
  EXPECT_EQ(attach(bob, as_listener{}), errc::not_found);
  EXPECT_EQ(attach(ann), errc::ok);
  EXPECT_EQ(attach(), errc::ok);
  for (const auto verb : {run_verb::inspect, run_verb::abort})
    EXPECT_EQ(ask(verb, run, {}, "bob", key), errc::not_found);
  EXPECT_EQ(ask(run_verb::inspect, run, {}, "ann", key), errc::ok);
  EXPECT_EQ(ask(run_verb::inspect, run, {}, "", key), errc::ok);
  EXPECT_EQ(ask(run_verb::abort, run, {}, "ann", key), errc::ok);
  const auto own = flow.stream_bidi(with_keep()).detach().run;
  EXPECT_EQ(ask(run_verb::abort, own, {}, "ann", key), errc::not_found)
    << "the program is not a caller";
  EXPECT_EQ(ask(run_verb::abort, own, {}, "", key), errc::ok);
}

TEST_F(callers, do_not_reach_the_stored_runs_of_others) {
  const auto chat = define_chat();
  const auto key = chat.info().key;
  auto talk = chat.stream_bidi(my_session, ann, with_keep());
  const auto run = talk.position().run;
  EXPECT_EQ(ask(run_verb::inspect, {}, session_id{"mine"}, "ann", key),
            errc::ok);
  EXPECT_EQ(ask(run_verb::inspect, {}, session_id{"mine"}, "bob", key),
            errc::not_found);
  EXPECT_EQ(
    code_from([&] { (void)chat.stream_bidi(my_session, bob, with_attach()); }),
    errc::not_found);
  (void)finish(talk);
  EXPECT_TRUE(nothing_is_left());
  for (const auto verb : {run_verb::inspect, run_verb::abort}) {
    EXPECT_EQ(ask(verb, run, {}, "bob", key), errc::not_found);
    EXPECT_EQ(ask(verb, run, {}, "ann", key), errc::ok);
    EXPECT_EQ(ask(verb, run, {}, "", key), errc::ok);
    EXPECT_EQ(ask(verb, {}, session_id{"mine"}, "bob", key), errc::not_found);
    EXPECT_EQ(ask(verb, {}, session_id{"mine"}, "ann", key), errc::ok);
  }
}

TEST_F(callers, reach_the_runs_that_the_program_has_in_their_sessions) {
  const auto notes = define_notes();
  const auto key = notes.info().key;
  auto talk = notes.stream_bidi(with_session_id("ann/mine"), with_keep());
  const auto attach = [&](const auto& who) {
    return code_from([&] {
      (void)notes.stream_bidi(my_session, who, with_attach(), as_listener{});
    });
  };
  EXPECT_EQ(attach(ann), errc::ok);
  EXPECT_EQ(attach(bob), errc::not_found);
  EXPECT_EQ(ask(run_verb::inspect, talk.position().run, {}, "ann", key),
            errc::ok);
  EXPECT_EQ(ask(run_verb::abort, talk.position().run, {}, "bob", key),
            errc::not_found);
  (void)finish(talk);
}

TEST_F(callers, do_not_hear_whether_a_run_exists) {
  const auto chat = define_chat();
  auto talk = chat.stream_bidi(my_session, ann, with_keep());
  const auto run = talk.position().run;
  (void)finish(talk);
  EXPECT_TRUE(nothing_is_left());
  const auto refusal = [&](const run_id& x) {
    run_request question{run_verb::inspect, x, chat.info().key, {}};
    question.caller = caller_name{"bob"};
    caf::error result;
    caf::scoped_actor self{system};
    self->request(rt->front_desk(), patience, std::move(question))
      .receive([](const run_info&) {},
               [&](caf::error& reason) { result = std::move(reason); });
    const status_error error{to_status(result)};
    return error.message() + error.details();
  };
  EXPECT_EQ(refusal(run), "there is no run " + run.str());
  EXPECT_EQ(refusal(run_id{"r"}), "there is no run r");
}

TEST_F(callers, are_those_of_what_their_bodies_ask) {
  const auto notes = define_notes();
  const auto outer
    = rt->define_bidi_flow("outer",
                           [notes](context ctx, input<std::string> in,
                                   output<int>) -> task<std::string> {
                             const auto name = co_await in.next();
                             const session_id session{*name};
                             const auto found
                               = co_await notes.find_run(ctx, session);
                             co_return found.session.str();
                           });
  auto talk = notes.stream_bidi(my_session, ann, with_keep());
  const auto ask_as = [&](const with_caller& who, const char* session) {
    auto question = outer.stream_bidi(who);
    question.send(session);
    return question.output(patience);
  };
  EXPECT_EQ(ask_as(ann, "mine"), "ann/mine");
  EXPECT_EQ(code_from([&] { (void)ask_as(bob, "mine"); }), errc::not_found);
  EXPECT_EQ(code_from([&] { (void)ask_as(bob, "ann/mine"); }), errc::not_found);
  (void)finish(talk);
}

TEST_F(callers, are_known_to_the_bodies_that_run_for_them) {
  const auto notes = define_notes();
  const auto define = [&](const char* name, const auto&... options) {
    return rt->define_bidi_flow(
      name,
      [notes, options...](context ctx, input<int>,
                          output<int>) -> task<std::string> {
        auto talk = co_await notes.open(ctx, my_session, options...);
        talk.close();
        const auto last = co_await talk.output();
        co_return ctx.caller().str() + ' ' + last.session_id.str();
      });
  };
  const auto for_its_caller = define("for_its_caller");
  const auto for_all = define("for_all", with_caller(""));
  const auto run = [](const auto& flow, const auto&... options) {
    return flow.stream_bidi(options...).output(patience);
  };
  EXPECT_EQ(run(for_its_caller, ann), "ann ann/mine");
  EXPECT_EQ(run(for_all, ann), "ann mine");
  EXPECT_EQ(run(for_its_caller), " mine");
}

TEST_F(callers, without_a_possible_name_are_refused) {
  open_options options;
  options.caller = caller_name{"a/b"};
  caf::scoped_actor self{system};
  auto reason = errc::ok;
  self
    ->request(rt->front_desk(), patience,
              open_request{define_notes().info().key,
                           {},
                           options,
                           caf::actor_cast<chunk_sink>(self)})
    .receive([](const open_result&) {},
             [&](const caf::error& x) { reason = code_of(x); });
  EXPECT_EQ(reason, errc::invalid_argument);
}

} // namespace tertulia::test::caller_tests
