// SPDX-License-Identifier: BSD-3-Clause

// What other nodes see of a runtime.

#include <tertulia/ai/define_model.hpp>
#include <tertulia/ai/session_flow.hpp>
#include <tertulia/ai/tool.hpp>
#include <tertulia/config.hpp>
#include <tertulia/define_agent.hpp>
#include <tertulia/detail/key_patterns.hpp>
#include <tertulia/memory_store.hpp>
#include <tertulia/remote_runtime.hpp>
#include <tertulia/runtime.hpp>
#include <tertulia/store/runs.hpp>

#include <caf/actor_cast.hpp>
#include <caf/io/middleman.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/conversations.hpp"
#include "support/network_config.hpp"
#include "support/refusal.hpp"
#include "support/threaded.hpp"
#include <gtest/gtest.h>

using namespace std::literals;

namespace tertulia::test::exposure_tests {

namespace {

struct errand {
  int amount = 0;
  BOOST_DESCRIBE_CLASS(errand, (), (amount), (), ())
};

} // namespace

TEST(exposure, an_action_that_is_not_exposed_does_not_exist_elsewhere) {
  network_config cfg;
  caf::actor_system system{cfg};
  runtime rt{system};
  rt.define_bidi_flow("greet",
                      [](context, input<int>, output<int>) -> task<int> {
                        co_return 1;
                      });
  ai::define_tool(rt, "refund", "",
                  [](ai::tool_context ctx, errand) -> task<int> {
                    co_await ctx.sleep(1h);
                    co_return 1;
                  });
  auto refund = rt.action("/tool/refund")
                  .stream_bidi(with_init(json{{"amount", 1}}), with_keep(1min));
  const auto run = refund.position().run;
  ASSERT_TRUE(run);
  const auto port = rt.publish();
  network_config client_cfg;
  caf::actor_system client{client_cfg};
  const remote_runtime there{client, "127.0.0.1", port};
  const auto all = there.actions();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].key, "/bidi-flow/greet");
  EXPECT_EQ(code_from([&] {
              (void)there.action<json, json, json, json>("/tool/refund");
            }),
            errc::not_found);
  // So do programs hear that do not look at the list.
  caf::scoped_actor self{client};
  const auto code_after = [&]<class Answer>(auto question, Answer) {
    auto result = errc::ok;
    self->request(there.front_desk(), patience, std::move(question))
      .receive([](const Answer&) {},
               [&](const caf::error& x) { result = code_of(x); });
    return result;
  };
  open_request opening;
  opening.key = "/tool/refund";
  opening.init = payload::of(json{{"amount", 2}}).sealed();
  opening.client = caf::actor_cast<chunk_sink>(self.ptr());
  EXPECT_EQ(code_after(opening, open_result{}), errc::not_found);
  opening.init = {};
  opening.options.attach.emplace().run = run;
  EXPECT_EQ(code_after(opening, open_result{}), errc::not_found);
  opening.key.clear();
  EXPECT_EQ(code_after(opening, open_result{}), errc::not_found);
  caf::anon_send(there.front_desk(),
                 run_request{run_verb::abort, run, "/tool/refund", {}});
  for (const auto verb : {run_verb::inspect, run_verb::abort})
    for (const auto* key : {"/tool/refund", ""})
      EXPECT_EQ(code_after(run_request{verb, run, key, {}}, run_info{}),
                errc::not_found);
  EXPECT_EQ(rt.action("/tool/refund").find_run(run).status,
            run_status::running);
}

// A program that chooses no keys shows its conversations, and nothing of what
// is behind them.
TEST(exposure, sessions_and_models_do_not_exist_elsewhere_by_default) {
  network_config cfg;
  caf::actor_system system{cfg};
  runtime rt{system};
  const auto store = spawn_memory_store(system);
  const auto notes = define_agent(rt, "notes", take_notes,
                                  with_snapshot_store(store), each_turn);
  ai::define_session_flow(rt, "talk", repeat_in_turns,
                          with_snapshot_store(store));
  const auto parrot
    = ai::define_model(rt, "parrot",
                       [](context, ai::generate_request x,
                          ai::model_output) -> task<ai::model_response> {
                         co_return ai::model_response{x.messages.back()};
                       });
  const auto made = finish(notes.stream_bidi(my_session), {"a secret"});
  const json session{{"sessionId", "mine"}};
  const json snapshot{{"snapshotId", made.snapshot_ids.at(0).str()}};
  const std::string actions = "/snapshot-store/";
  const std::pair<std::string, json> hidden[] = {
    {actions + "notes/getSession", session},
    {actions + "notes/getSnapshot", snapshot},
    {actions + "notes/listSnapshots", session},
    {actions + "notes/restoreSnapshot", snapshot},
    {actions + "talk/getSnapshot", snapshot},
    {actions + "talk/listSnapshots", session},
    {parrot.info().key, json::object()},
  };
  EXPECT_TRUE(has(rt.run_action(hidden[0].first, {session}).dump(), "a secret"))
    << "the program itself reads it";
  network_config client_cfg;
  caf::actor_system client{client_cfg};
  const remote_runtime there{client, "127.0.0.1", rt.publish()};
  texts keys;
  for (const auto& x : there.actions())
    keys.push_back(x.key);
  EXPECT_EQ(keys, (texts{"/agent/notes", "/session-flow/talk"}));
  caf::scoped_actor self{client};
  for (const auto& [key, question] : hidden) {
    ASSERT_TRUE(rt.find_action(key)) << key;
    EXPECT_EQ(code_from([&, name = key] {
                (void)there.action<json, json, json, json>(name);
              }),
              errc::not_found)
      << key;
    open_request opening;
    opening.key = key;
    opening.client = caf::actor_cast<chunk_sink>(self.ptr());
    opening.inputs.push_back(payload::of(question).sealed());
    opening.closes = true;
    auto code = errc::ok;
    self->request(there.front_desk(), patience, opening)
      .receive([](const open_result&) {},
               [&](const caf::error& x) { code = code_of(x); });
    EXPECT_EQ(code, errc::not_found) << key;
  }
  EXPECT_EQ(code_from([&] { (void)there.store("/agent/notes"); }),
            errc::permission_denied);
}

TEST(exposure, a_rule_decides_what_callers_of_other_nodes_may_do) {
  network_config cfg;
  caf::actor_system system{cfg};
  std::mutex mutex;
  std::vector<std::string> asked;
  runtime_options options;
  options.expose = {"*"};
  options.authorize = [&](const access_request& x) {
    const std::lock_guard guard{mutex};
    asked.push_back(x.caller + ' ' + to_json(x.verb).get<std::string>() + ' '
                    + x.key + ' ' + x.session);
    if (x.verb == access_verb::abort)
      throw std::runtime_error{"a secret"};
    return x.key == "/bidi-flow/open" && x.verb != access_verb::list;
  };
  runtime rt{system, options};
  for (const auto* name : {"open", "closed"})
    rt.define_bidi_flow(name,
                        [](context, input<int> in, output<int>) -> task<int> {
                          co_await in.next();
                          co_return 1;
                        });
  network_config client_cfg;
  caf::actor_system client{client_cfg};
  const remote_runtime there{client, "localhost", rt.publish()};
  ASSERT_EQ(there.actions().size(), 1u);
  EXPECT_EQ(there.actions().front().key, "/bidi-flow/open");
  const auto open = there.action<nothing, int, int, int>("/bidi-flow/open");
  auto kept = open.stream_bidi(with_keep(), with_caller("ann"));
  const auto run = kept.position().run;
  EXPECT_EQ(open.find_run(run).status, run_status::running);
  EXPECT_EQ(code_from([&] { open.abort(run); }), errc::permission_denied);
  EXPECT_EQ(code_from([&] {
              there.action<nothing, int, int, int>("/bidi-flow/closed")
                .stream_bidi()
                .close();
            }),
            errc::not_found)
    << "it may not be seen";
  caf::scoped_actor self{client};
  auto code = errc::ok;
  list_runs_request list;
  list.agent = "/bidi-flow/open";
  list.caller = caller_name{"ann"};
  list.session = session_id{"s"};
  self->request(there.front_desk(), patience, list)
    .receive([](const run_page&) {},
             [&](const caf::error& x) { code = code_of(x); });
  EXPECT_EQ(code, errc::permission_denied);
  run_request nameless{run_verb::abort, run, {}, {}};
  self->request(there.front_desk(), patience, nameless)
    .receive([&](const run_info&) { code = errc::ok; },
             [&](const caf::error& x) { code = code_of(x); });
  EXPECT_EQ(code, errc::not_found) << "nobody can judge without the key";
  kept.close();
  EXPECT_EQ(kept.output(), 1);
  auto own = rt.action("/bidi-flow/closed").stream_bidi();
  own.close();
  EXPECT_EQ(own.output(), 1) << "the program itself is not asked";
  const std::lock_guard guard{mutex};
  const auto was_asked = [&](const std::string& text) {
    return std::find(asked.begin(), asked.end(), text) != asked.end();
  };
  EXPECT_TRUE(was_asked("ann open /bidi-flow/open "));
  EXPECT_TRUE(was_asked("ann list /bidi-flow/open ann/s"));
  EXPECT_TRUE(was_asked(" see /bidi-flow/closed "));
}

TEST(exposure, a_caller_that_may_only_attach_opens_nothing) {
  network_config cfg;
  caf::actor_system system{cfg};
  runtime_options options;
  options.authorize
    = [](const access_request& x) { return x.verb != access_verb::open; };
  runtime rt{system, options};
  const auto store = spawn_memory_store(system);
  define_agent(rt, "notes", take_notes, with_snapshot_store(store));
  network_config client_cfg;
  caf::actor_system client{client_cfg};
  const remote_runtime there{client, "localhost", rt.publish()};
  const auto notes = there.action<json, json, json, json>("/agent/notes");
  EXPECT_EQ(code_from([&] {
              (void)notes.stream_bidi(with_session_id{"s"}, with_attach{true});
            }),
            errc::permission_denied);
}

TEST(exposure, patterns_are_keys_or_beginnings_of_keys) {
  const detail::key_patterns all{{"/tool/dice", "/bidi-flow/*"}};
  EXPECT_TRUE(all.contains("/tool/dice"));
  EXPECT_TRUE(all.contains("/bidi-flow/echo"));
  EXPECT_FALSE(all.contains("/tool/dice2"));
  EXPECT_FALSE(all.contains("/tool"));
  EXPECT_FALSE(all.contains(""));
  EXPECT_TRUE(detail::key_patterns{{"*"}}.contains("/model/eliza"));
  config cfg;
  caf::actor_system system{cfg};
  runtime_options options;
  for (const auto* bad : {"", "echo", "*/echo"}) {
    options.expose = {bad};
    EXPECT_EQ(code_from([&] {
                runtime{system, options};
              }),
              errc::invalid_argument)
      << bad;
  }
}

} // namespace tertulia::test::exposure_tests
