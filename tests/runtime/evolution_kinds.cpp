// SPDX-License-Identifier: BSD-3-Clause

// The tests of evolution.cpp for chat agents, session flows and clients in
// another process.

#include <tertulia/ai/chat_agent.hpp>
#include <tertulia/ai/session_flow.hpp>
#include <tertulia/define_agent.hpp>
#include <tertulia/memory_store.hpp>
#include <tertulia/remote_runtime.hpp>
#include <tertulia/runtime.hpp>

#include <string>
#include <type_traits>

#include "support/evolution_programs.hpp"
#include "support/network_config.hpp"

namespace tertulia::test::evolution_tests {

// -- chat agents and session flows --------------------------------------------

TEST_P(evolution, a_chat_agents_custom_value_is_migrated) {
  snapshot_id oldest;
  {
    program old{*this};
    const auto chat = old.define_chat<first::memo>();
    oldest = say(chat.stream_bidi(my_session), {"a", "b"}).snapshot_ids[0];
  }
  program now{*this};
  const auto chat = now.define_chat<second::memo>(speak_english);
  const auto next = say(chat.stream_bidi(my_session), {"c"}).state;
  EXPECT_EQ(next.custom, (second::memo{{"a", "b", "c"}, "en"}));
  EXPECT_EQ(told_of(next.messages), (texts{"user: a", "user: b", "user: c"}));
  const auto branch = say(chat.stream_bidi(with_snapshot_id(oldest)), {"d"});
  EXPECT_EQ(branch.state.custom, (second::memo{{"a", "d"}, "en"}));
  EXPECT_EQ(told_of(branch.state.messages), (texts{"user: a", "user: d"}));
  const auto one = now.rt->run_action<ai::agent_snapshot<second::memo>>(
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
    id = say(now.define_chat<second::memo>().stream_bidi(my_session), {"a"})
           .snapshot_ids[0];
    flows
      = say(now.define_flow<second::memo>().stream_bidi(), {"a"}).snapshot_id;
  }
  {
    program old{*this};
    const auto chat = old.define_chat<first::memo>();
    const auto flow = old.define_flow<first::memo>();
    const words both{"app.memo", "version 2", "version 1"};
    expect_refusal(error_of([&] { (void)chat.stream_bidi(my_session); }), both);
    expect_refusal(
      error_of([&] { (void)chat.stream_bidi(with_snapshot_id(id)); }), both);
    expect_refusal(
      error_of([&] { (void)flow.stream_bidi(with_snapshot_id(flows)); }), both);
  }
  program again{*this};
  EXPECT_EQ(say(again.define_chat<second::memo>().stream_bidi(my_session),
                {"b"})
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
  // once more, from a state of the new version
  EXPECT_EQ(say(flow.stream_bidi(with_snapshot_id(next.snapshot_id)), {"c"})
              .state.custom,
            (second::memo{{"a", "b", "c"}, "en"}));
  const auto one = now.rt->run_action<ai::session_flow_snapshot<second::memo>>(
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
  // without any input, and still the state differs from the one before
  const auto next = say(flow.stream_bidi(with_snapshot_id(oldest)), {});
  EXPECT_NE(next.snapshot_id, oldest);
  const auto found = now.ask(get_snapshot_request{
    {"/session-flow/flow", session_id{}, next.snapshot_id}});
  EXPECT_EQ(found.record.type, stored_type::of<second::memo>());
  EXPECT_EQ(
    say(flow.stream_bidi(with_snapshot_id(next.snapshot_id)), {}).snapshot_id,
    next.snapshot_id);
}

// -- from another process -----------------------------------------------------

TEST(remote_evolution, clients_get_what_was_migrated_and_hear_what_was_not) {
  network_config cfg;
  caf::actor_system system{cfg};
  const auto store = spawn_memory_store(system);
  const auto define = [&]<class Memo>(runtime& rt, std::type_identity<Memo>,
                                      const auto&... options) {
    return define_agent(rt, "notes", take_notes<Memo>,
                        with_snapshot_store(store), options...);
  };
  {
    runtime old{system};
    finish(
      define(old, std::type_identity<first::memo>{}).stream_bidi(my_session),
      {"a"});
  }
  network_config their_cfg;
  caf::actor_system their_system{their_cfg};
  using memo = second::memo;
  const auto talk_to = [&](runtime& rt) {
    const remote_runtime there{their_system, "127.0.0.1", rt.publish()};
    return there
      .action<memo, std::string, agent_output<memo, int>, std::string>(
        "/agent/notes")
      .stream_bidi(my_session);
  };
  {
    runtime now{system};
    define(now, std::type_identity<memo>{}, speak_english);
    EXPECT_EQ(finish(talk_to(now), {"b"}).state, (memo{{"a", "b"}, "en"}));
  }
  runtime old{system};
  define(old, std::type_identity<first::memo>{});
  const auto error = error_of([&] { (void)talk_to(old); });
  expect_refusal(error, {"app.memo", "version 2", "version 1"});
  EXPECT_EQ(parse_json<json>(error.details()).at("stored").at("version"), 2);
}

} // namespace tertulia::test::evolution_tests
