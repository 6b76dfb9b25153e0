// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/agent.hpp>
#include <tertulia/ai/session_flow.hpp>
#include <tertulia/detail/store_model.hpp>
#include <tertulia/memory_store.hpp>
#include <tertulia/remote_runtime.hpp>
#include <tertulia/runtime.hpp>
#include <tertulia/sqlite_store.hpp>

#include <caf/scoped_actor.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/chat.hpp"
#include "support/scratch.hpp"

// Two programs, one after the other, with two types of the same name.

namespace tertulia::test {

namespace {

using words = std::vector<std::string>;

namespace first {

struct memo {
  words said;
};
BOOST_DESCRIBE_STRUCT(memo, (), (said))

/// In seconds.
struct patience {
  std::int64_t timeout = 0;
};
BOOST_DESCRIBE_STRUCT(patience, (), (timeout))

} // namespace first

namespace second {

struct memo {
  words said;
  std::string language;

  friend bool operator==(const memo&, const memo&) = default;
};
BOOST_DESCRIBE_STRUCT(memo, (), (said, language))

/// In milliseconds.
struct patience {
  std::int64_t timeout = 0;
};
BOOST_DESCRIBE_STRUCT(patience, (), (timeout))

} // namespace second

namespace other {

struct memo {
  words said;
};
BOOST_DESCRIBE_STRUCT(memo, (), (said))

} // namespace other

/// Says nothing of its version.
struct words_only {
  words said;
};
BOOST_DESCRIBE_STRUCT(words_only, (), (said))

} // namespace

} // namespace tertulia::test

namespace tertulia {

template <>
inline constexpr type_version version_of<test::first::memo>{"app.memo", 1};
template <>
inline constexpr type_version version_of<test::second::memo>{"app.memo", 2};
template <>
inline constexpr type_version version_of<test::other::memo>{"app.other", 1};
template <>
inline constexpr type_version version_of<test::second::patience>{"", 2};

} // namespace tertulia

namespace tertulia::test {

namespace {

/// Notes each word, one turn each.
template <class Memo>
task<int> take_notes(context, session<Memo> sess, input<std::string> in,
                     responder<std::string> out) {
  while (const auto word = co_await in.next()) {
    co_await sess.update([&](Memo& x) { x.said.push_back(*word); });
    co_await out.end_turn();
  }
  const auto last = co_await sess.state();
  co_return static_cast<int>(last.said.size());
}

/// Notes what was said.
template <class Memo>
task<> chat(context, ai::session<Memo> sess, input<ai::conversation_input> in,
            ai::responder<phase> out) {
  while (const auto said = co_await in.next()) {
    co_await sess.add_messages(said->messages);
    const auto text = said->messages.back().text();
    co_await sess.patch_custom([&](Memo& x) { x.said.push_back(text); });
    co_await out.end_turn();
  }
}

/// The same as a session flow.
template <class Memo>
task<>
flow(context ctx, ai::flow_session<Memo> sess, ai::flow_responder<phase>) {
  co_await sess.run(
    ctx, [&](context, const ai::conversation_input& said) -> task<> {
      const auto text = said.messages.back().text();
      co_await sess.patch_custom([&](Memo& x) { x.said.push_back(text); });
    });
}

/// Sets what the client says; nothing for 0.
template <class Patience>
task<std::int64_t> set_timeout(context, session<Patience> sess,
                               input<std::int64_t> in, responder<int> out) {
  while (const auto timeout = co_await in.next()) {
    if (*timeout != 0)
      co_await sess.update([&](Patience& x) { x.timeout = *timeout; });
    co_await out.end_turn();
  }
  const auto last = co_await sess.state();
  co_return last.timeout;
}

const with_migration speak_english{1, [](json& x) { x["language"] = "en"; }};
const with_migration to_milliseconds{
  1,
  [](json& x) { x["timeout"] = x.at("timeout").get<std::int64_t>() * 1'000; }};
const with_migration give_up{1, [](json&) {
                               throw std::runtime_error{"no idea"};
                             }};
const with_snapshot_callback each_turn{snapshot_on{snapshot_event::turn_end}};

struct evolution : ::testing::TestWithParam<const char*> {
  /// A program with a store that the next one goes on with.
  class program {
  public:
    explicit program(evolution& at)
      : self_(at.system), memory_(at.memory),
        store(memory_ ? memory_ : spawn_sqlite_store(at.system, at.file)),
        rt(std::in_place, at.system) {}

    ~program() {
      rt.reset();
      if (!memory_) {
        self_->send_exit(store, caf::exit_reason::user_shutdown);
        self_->wait_for(store);
      }
    }

    program(const program&) = delete;
    program& operator=(const program&) = delete;

    template <class Memo, class... Options>
    auto define_notes(const Options&... options) {
      return rt->define_agent("notes", take_notes<Memo>,
                              with_session_store(store), options...);
    }

    template <class Memo, class... Options>
    auto define_chat(const Options&... options) {
      return ai::define_agent(*rt, "chat", chat<Memo>,
                              with_snapshot_store(store), each_turn,
                              options...);
    }

    template <class Memo, class... Options>
    auto define_flow(const Options&... options) {
      return ai::define_session_flow(*rt, "flow", flow<Memo>,
                                     with_snapshot_store(store), options...);
    }

    template <class Patience, class... Options>
    auto define_timeout(const Options&... options) {
      return rt->define_agent("timeout", set_timeout<Patience>,
                              with_session_store(store), each_turn, options...);
    }

    template <class Verb>
    detail::answer_to<Verb> ask(const Verb& x) {
      detail::answer_to<Verb> result;
      self_->request(store, test::patience, x)
        .receive([&](detail::answer_to<Verb>& y) { result = std::move(y); },
                 [](caf::error& y) { ADD_FAILURE() << to_status(y).what(); });
      return result;
    }

    stored_session session(const std::string& agent) {
      return ask(get_session{{agent, session_id{"mine"}}});
    }

    /// The snapshots of the session: `1: {…}` by version and custom value, with
    /// a mark on the orphans.
    words snapshots(const std::string& agent) {
      list_snapshots all{{agent, session_id{"mine"}}};
      all.with_orphans = true;
      all.wanted = detail_level::state;
      words result;
      for (const auto& x : ask(all).snapshots) {
        EXPECT_EQ(x.record.type, x.content.type());
        result.push_back(std::to_string(x.content.type().version()) + ": "
                         + x.content.custom().text()
                         + (x.record.orphaned ? " orphaned" : ""));
      }
      return result;
    }

  private:
    caf::scoped_actor self_;
    managed_store memory_; // null if it is in a file

  public:
    managed_store store;
    std::optional<runtime> rt;
  };

  evolution() {
    if (GetParam() == std::string{"memory"})
      memory = spawn_memory_store(system);
  }

  /// What must be as it was: everything of the session, its times too.
  static std::string all_of(const stored_session& x) {
    return caf::deep_to_string(x);
  }

  config cfg;
  caf::actor_system system{cfg};
  scratch folder;
  std::string file = (folder / "sessions.db").string();
  managed_store memory;
};

void expect_refusal(const status_error& x, const words& said) {
  EXPECT_EQ(x.code(), errc::failed_precondition) << x.what();
  for (const auto& text : said)
    EXPECT_NE(x.message().find(text), std::string::npos) << x.what();
}

const auto mine = with_session_id("mine");

} // namespace

// -- agents -------------------------------------------------------------------

TEST_P(evolution, a_state_is_migrated_when_its_session_is_opened) {
  {
    program old{*this};
    finish(old.define_notes<first::memo>().stream_bidi(mine), words{"a", "b"});
    EXPECT_EQ(old.session("/agent/notes").content.type(),
              stored_type::of<first::memo>());
  }
  program now{*this};
  const auto notes = now.define_notes<second::memo>(speak_english);
  const auto before = all_of(now.session("/agent/notes"));
  EXPECT_EQ(finish(notes.stream_bidi(mine), words{}).state,
            (second::memo{{"a", "b"}, "en"}));
  EXPECT_EQ(all_of(now.session("/agent/notes")), before)
    << "who only looks changes nothing";
  EXPECT_EQ(finish(notes.stream_bidi(mine), words{"c"}).state,
            (second::memo{{"a", "b", "c"}, "en"}));
  const auto after = now.session("/agent/notes").content;
  EXPECT_EQ(after.type(), stored_type::of<second::memo>());
  EXPECT_EQ(after.text(), R"({"said":["a","b","c"],"language":"en"})");
}

TEST_P(evolution, a_state_from_before_versions_has_version_1) {
  {
    program old{*this};
    finish(old.define_timeout<first::patience>().stream_bidi(mine),
           std::vector<std::int64_t>{2});
    EXPECT_TRUE(old.session("/agent/timeout").content.type().empty());
  }
  program now{*this};
  const auto timeout = now.define_timeout<second::patience>(to_milliseconds);
  EXPECT_EQ(finish(timeout.stream_bidi(mine), std::vector<std::int64_t>{})
              .state.timeout,
            2'000);
}

TEST_P(evolution, an_old_snapshot_is_restored_amid_a_timeline) {
  snapshot_id oldest;
  {
    program old{*this};
    const auto notes = old.define_notes<first::memo>(each_turn);
    oldest = finish(notes.stream_bidi(mine), words{"a", "b"}).snapshot_ids[0];
  }
  program now{*this};
  const auto notes = now.define_notes<second::memo>(each_turn, speak_english);
  finish(notes.stream_bidi(mine), words{"c", "d"});
  const auto result
    = finish(notes.stream_bidi(with_snapshot_id(oldest)), words{"e"});
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
  snapshot_id newest;
  {
    program now{*this};
    const auto notes = now.define_notes<second::memo>(each_turn, speak_english);
    newest = finish(notes.stream_bidi(mine), words{"a", "b"}).snapshot_ids[1];
  }
  {
    program old{*this};
    const auto notes = old.define_notes<first::memo>(each_turn);
    const auto before = all_of(old.session("/agent/notes"));
    for (int i = 0; i < 2; ++i) { // no lease is left either
      const auto error = error_of([&] { (void)notes.stream_bidi(mine); });
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
  EXPECT_EQ(finish(notes.stream_bidi(mine), words{"c"}).state.said,
            (words{"a", "b", "c"}));
}

TEST_P(evolution, a_state_of_another_type_is_refused) {
  {
    program some{*this};
    finish(some.define_notes<other::memo>().stream_bidi(mine), words{"a"});
  }
  program now{*this};
  const auto notes = now.define_notes<second::memo>(speak_english);
  expect_refusal(error_of([&] { (void)notes.stream_bidi(mine); }),
                 {"version 1 of \"app.other\"", "version 2 of \"app.memo\""});
}

TEST_P(evolution, a_state_that_is_too_old_is_refused) {
  {
    program old{*this};
    finish(old.define_notes<first::memo>().stream_bidi(mine), words{"a"});
  }
  program now{*this};
  const auto notes = now.define_notes<second::memo>();
  expect_refusal(error_of([&] { (void)notes.stream_bidi(mine); }),
                 {"app.memo", "version 1", "version 2", "from 1 to 2"});
}

TEST_P(evolution, a_migration_that_fails_opens_no_session) {
  snapshot_id oldest;
  {
    program old{*this};
    const auto notes = old.define_notes<first::memo>(each_turn);
    oldest = finish(notes.stream_bidi(mine), words{"a", "b"}).snapshot_ids[0];
  }
  {
    program now{*this};
    const auto notes = now.define_notes<second::memo>(each_turn, give_up);
    const auto before = all_of(now.session("/agent/notes"));
    for (const auto& id : {snapshot_id{}, oldest}) {
      const auto error = error_of([&] {
        (void)(id ? notes.stream_bidi(with_snapshot_id(id))
                  : notes.stream_bidi(mine));
      });
      EXPECT_EQ(error.code(), errc::internal);
      EXPECT_NE(error.message().find("from version 1 to 2 failed: no idea"),
                std::string::npos)
        << error.what();
    }
    EXPECT_EQ(all_of(now.session("/agent/notes")), before)
      << "the head has not moved either";
  }
  program again{*this};
  const auto notes = again.define_notes<second::memo>(speak_english);
  EXPECT_EQ(finish(notes.stream_bidi(mine), words{}).state.said,
            (words{"a", "b"}));
}

TEST_P(evolution, a_refusal_ends_nobody_elses_invocation) {
  snapshot_id oldest;
  snapshot_id newest;
  {
    program old{*this};
    const auto notes = old.define_notes<first::memo>(each_turn);
    oldest = finish(notes.stream_bidi(mine), words{"a"}).snapshot_ids[0];
  }
  {
    program now{*this};
    const auto notes = now.define_notes<second::memo>(each_turn, speak_english);
    newest = finish(notes.stream_bidi(mine), words{"b"}).snapshot_ids[0];
    finish(notes.stream_bidi(with_snapshot_id(oldest)), words{});
  }
  program old{*this};
  const auto notes = old.define_notes<first::memo>(each_turn);
  auto live = notes.stream_bidi(mine); // at the oldest one again
  expect_refusal(error_of([&] {
                   (void)notes.stream_bidi(with_snapshot_id(newest),
                                           with_take_over{});
                 }),
                 {"version 2", "version 1"});
  EXPECT_EQ(finish(std::move(live), words{"c"}).state.said, (words{"a", "c"}));
}

TEST_P(evolution, the_same_text_of_two_versions_is_not_the_same_state) {
  using numbers = std::vector<std::int64_t>;
  {
    program old{*this};
    finish(old.define_timeout<first::patience>().stream_bidi(mine),
           numbers{1'000});
  }
  {
    program now{*this};
    const auto timeout = now.define_timeout<second::patience>(to_milliseconds);
    EXPECT_EQ(finish(timeout.stream_bidi(mine), numbers{1'000}).output, 1'000);
    EXPECT_EQ(now.snapshots("/agent/timeout"),
              (words{R"(1: {"timeout":1000})", R"(2: {"timeout":1000})"}));
  }
  program again{*this};
  const auto timeout = again.define_timeout<second::patience>(to_milliseconds);
  EXPECT_EQ(finish(timeout.stream_bidi(mine), numbers{0}).output, 1'000)
    << "a second, and not 1000 of them";
  EXPECT_EQ(again.snapshots("/agent/timeout").size(), 2u)
    << "now it is the same";
}

TEST_P(evolution, what_is_read_by_key_is_migrated) {
  snapshot_id id;
  {
    program old{*this};
    const auto notes = old.define_notes<first::memo>(each_turn);
    id = finish(notes.stream_bidi(mine), words{"a"}).snapshot_ids[0];
  }
  using memo = second::memo;
  const session_query session{session_id{"mine"}};
  const memo migrated{{"a"}, "en"};
  {
    program now{*this};
    now.define_notes<memo>(each_turn, speak_english);
    const auto found = now.rt->run<session_data<memo>>(
      "/session-store/notes/getSession", session);
    EXPECT_EQ(found.state, migrated);
    EXPECT_EQ(found.last_snapshot->state, migrated);
    const auto one = now.rt->run<snapshot<memo>>(
      "/session-store/notes/getSnapshot", snapshot_query{id});
    EXPECT_EQ(one.state, migrated);
    EXPECT_EQ(one.id, id);
    const auto all = now.rt->run<std::vector<snapshot<memo>>>(
      "/session-store/notes/listSnapshots", session);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].state, migrated);
  }
  program stranger{*this};
  stranger.define_notes<other::memo>();
  const auto read = [&](const char* what, const auto& question) {
    return error_of([&] {
      (void)stranger.rt->run("/session-store/notes/" + std::string{what},
                             {to_json(question)});
    });
  };
  const words both{"app.memo", "app.other"};
  expect_refusal(read("getSession", session), both);
  expect_refusal(read("getSnapshot", snapshot_query{id}), both);
  expect_refusal(read("listSnapshots", session), both);
}

// -- chat agents and session flows --------------------------------------------

TEST_P(evolution, a_chat_agents_custom_value_is_migrated) {
  snapshot_id oldest;
  {
    program old{*this};
    const auto chat = old.define_chat<first::memo>();
    oldest = say(chat.stream_bidi(mine), {"a", "b"}).snapshot_ids[0];
  }
  program now{*this};
  const auto chat = now.define_chat<second::memo>(speak_english);
  const auto next = say(chat.stream_bidi(mine), {"c"}).state;
  EXPECT_EQ(next.custom, (second::memo{{"a", "b", "c"}, "en"}));
  EXPECT_EQ(told_of(next.messages), (texts{"user: a", "user: b", "user: c"}));
  const auto branch = say(chat.stream_bidi(with_snapshot_id(oldest)), {"d"});
  EXPECT_EQ(branch.state.custom, (second::memo{{"a", "d"}, "en"}));
  EXPECT_EQ(told_of(branch.state.messages), (texts{"user: a", "user: d"}));
  const auto one = now.rt->run<ai::agent_snapshot<second::memo>>(
    "/snapshot-store/chat/getSnapshot", snapshot_query{oldest});
  EXPECT_EQ(one.state.custom, (second::memo{{"a"}, "en"}));
  EXPECT_EQ(now.snapshots("/agent/chat"),
            (words{
              R"(1: {"said":["a"]})",
              R"(1: {"said":["a","b"]} orphaned)",
              R"(2: {"said":["a","b","c"],"language":"en"} orphaned)",
              R"(2: {"said":["a","d"],"language":"en"})",
            }));
}

TEST_P(evolution, a_newer_custom_value_is_refused_with_both_versions) {
  snapshot_id id;
  snapshot_id flows;
  {
    program now{*this};
    id = say(now.define_chat<second::memo>().stream_bidi(mine), {"a"})
           .snapshot_ids[0];
    flows
      = say(now.define_flow<second::memo>().stream_bidi(), {"a"}).snapshot_id;
  }
  {
    program old{*this};
    const auto chat = old.define_chat<first::memo>();
    const auto flow = old.define_flow<first::memo>();
    const words both{"app.memo", "version 2", "version 1"};
    expect_refusal(error_of([&] { (void)chat.stream_bidi(mine); }), both);
    expect_refusal(
      error_of([&] { (void)chat.stream_bidi(with_snapshot_id(id)); }), both);
    expect_refusal(
      error_of([&] { (void)flow.stream_bidi(with_snapshot_id(flows)); }), both);
  }
  program again{*this};
  EXPECT_EQ(say(again.define_chat<second::memo>().stream_bidi(mine), {"b"})
              .state.custom.said,
            (words{"a", "b"}));
}

TEST_P(evolution, a_session_flows_custom_value_is_migrated) {
  snapshot_id oldest;
  {
    program old{*this};
    const auto flow = old.define_flow<first::memo>();
    oldest = say(flow.stream_bidi(), {"a"}).snapshot_id;
    ASSERT_TRUE(oldest);
  }
  program now{*this};
  const auto flow = now.define_flow<second::memo>(speak_english);
  const auto next = say(flow.stream_bidi(with_snapshot_id(oldest)), {"b"});
  EXPECT_EQ(next.state.custom, (second::memo{{"a", "b"}, "en"}));
  EXPECT_EQ(told_of(next.state.messages), (texts{"user: a", "user: b"}));
  // one more time, from what has the new version
  EXPECT_EQ(say(flow.stream_bidi(with_snapshot_id(next.snapshot_id)), {"c"})
              .state.custom,
            (second::memo{{"a", "b", "c"}, "en"}));
  const auto one = now.rt->run<ai::session_flow_snapshot<second::memo>>(
    "/snapshot-store/flow/getSnapshot", snapshot_query{oldest});
  EXPECT_EQ(one.state.custom, (second::memo{{"a"}, "en"}));
}

TEST_P(evolution, a_migrated_state_is_kept_at_the_next_snapshot) {
  snapshot_id oldest;
  {
    program old{*this};
    oldest
      = say(old.define_flow<first::memo>().stream_bidi(), {"a"}).snapshot_id;
  }
  program now{*this};
  const auto flow = now.define_flow<second::memo>(speak_english);
  // nobody says a word, and still it is another state than the one before
  const auto next = say(flow.stream_bidi(with_snapshot_id(oldest)), {});
  EXPECT_NE(next.snapshot_id, oldest);
  const auto found = now.ask(
    get_snapshot{{"/session-flow/flow", session_id{}, next.snapshot_id}});
  EXPECT_EQ(found.record.type, stored_type::of<second::memo>());
  EXPECT_EQ(
    say(flow.stream_bidi(with_snapshot_id(next.snapshot_id)), {}).snapshot_id,
    next.snapshot_id);
}

// -- from another process -----------------------------------------------------

TEST(remote_evolution, clients_get_what_was_migrated_and_hear_what_was_not) {
  class network_config : public config {
  public:
    network_config() {
      with_network();
    }
  };
  network_config cfg;
  caf::actor_system system{cfg};
  const auto store = spawn_memory_store(system);
  const auto define = [&]<class Memo>(runtime& rt, std::type_identity<Memo>,
                                      const auto&... options) {
    return rt.define_agent("notes", take_notes<Memo>, with_session_store(store),
                           options...);
  };
  {
    runtime old{system};
    finish(define(old, std::type_identity<first::memo>{}).stream_bidi(mine),
           words{"a"});
  }
  network_config their_cfg;
  caf::actor_system their_system{their_cfg};
  using memo = second::memo;
  const auto talk_to = [&](runtime& rt) {
    const remote_runtime there{their_system, "127.0.0.1", rt.publish()};
    return there
      .action<memo, std::string, agent_output<memo, int>, std::string>(
        "/agent/notes")
      .stream_bidi(mine);
  };
  {
    runtime now{system};
    define(now, std::type_identity<memo>{}, speak_english);
    EXPECT_EQ(finish(talk_to(now), words{"b"}).state, (memo{{"a", "b"}, "en"}));
  }
  runtime old{system};
  define(old, std::type_identity<first::memo>{});
  const auto error = error_of([&] { (void)talk_to(old); });
  expect_refusal(error, {"app.memo", "version 2", "version 1"});
  EXPECT_EQ(parse_json<json>(error.details()).at("stored").at("version"), 2);
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
  EXPECT_TRUE(session<second::memo>::type().ends_with(" app.memo 2"));
  EXPECT_TRUE(ai::session<first::memo>::type().ends_with(" app.memo 1"));
  EXPECT_EQ(session<words_only>::type(),
            detail::type_name<session<words_only>>());
}

INSTANTIATE_TEST_SUITE_P(stores, evolution,
                         ::testing::Values("memory", "sqlite"),
                         [](const auto& x) { return std::string{x.param}; });

} // namespace tertulia::test
