// SPDX-License-Identifier: BSD-3-Clause

// Agents for clients of Genkit, where the published client cannot look: who may
// see what, and what is refused. What that client hears is in tests/genkit.

#include <tertulia/ai/session_flow.hpp>
#include <tertulia/ai/tool.hpp>
#include <tertulia/ask_store.hpp>
#include <tertulia/memory_store.hpp>

#include <chrono>
#include <cstddef>
#include <string>

#include "support/conversations.hpp"
#include "support/has.hpp"
#include "support/web_fixture.hpp"

namespace tertulia::test::genkit_agent_tests {

namespace {

const std::string event_stream = "Accept: text/event-stream\r\n";

struct genkit_agents : web {
  genkit_agents() {
    ai::define_session_flow(rt, "notes", repeat_in_turns,
                            with_snapshot_store(store));
    ai::define_session_flow(rt, "pocket", repeat_in_turns);
    ai::define_session_flow(
      rt, "sleeper",
      [](context ctx, flow_session sess, flow_responder) -> task<> {
        const witness alive;
        co_await sess.run_turns(
          ctx, [](context inner, const ai::conversation_input&) -> task<> {
            co_await inner.sleep(std::chrono::hours{1});
          });
      },
      with_snapshot_store(store));
  }

  web_client serve_two() {
    return serve({.tokens = {{"ann", "ann-0123456789abcdef"},
                             {"bob", "bob-0123456789abcdef"}}});
  }

  static std::string token_of(const std::string& name) {
    return name.empty()
             ? name
             : "Authorization: Bearer " + name + "-0123456789abcdef\r\n";
  }

  /// Takes a turn and returns the answer.
  static web_client::response say(web_client& at, const std::string& text,
                                  const json& init = json::object(),
                                  const std::string& name = {},
                                  const std::string& agent = "notes") {
    const json call{
      {"data",
       {{"message", {{"role", "user"}, {"content", {{{"text", text}}}}}}}},
      {"init", init}};
    return at.call("POST", "/genkit/session-flow/" + agent, call.dump(),
                   token_of(name));
  }

  /// Takes a turn that is left, and returns the name of its snapshot.
  static std::string leave(web_client& at, const std::string& agent,
                           const std::string& name = {}) {
    const json call{
      {"data",
       {{"detach", true},
        {"message", {{"role", "user"}, {"content", {{{"text", "go on"}}}}}}}}};
    const auto left = at.call("POST", "/genkit/session-flow/" + agent,
                              call.dump(), token_of(name));
    EXPECT_EQ(left.document()["result"]["finishReason"], "detached")
      << left.body;
    return left.document()["result"]["snapshotId"];
  }

  static web_client::response ask(web_client& at, const std::string& route,
                                  const json& data,
                                  const std::string& name = {}) {
    return at.call("POST", "/genkit/session-flow/" + route,
                   json{{"data", data}}.dump(), token_of(name));
  }

  managed_store store = spawn_memory_store(system);
};

struct errand {
  int amount = 0;
  BOOST_DESCRIBE_CLASS(errand, (), (amount), (), ())
};

json result_of(const web_client::response& x) {
  EXPECT_EQ(x.status, 200u) << x.body;
  return x.document()["result"];
}

} // namespace

TEST_F(genkit_agents, continue_from_the_snapshot_that_they_name) {
  auto at = serve();
  const auto first = result_of(say(at, "one"));
  EXPECT_EQ(first["message"]["content"][0]["text"], "re: one");
  EXPECT_FALSE(first.contains("state"));
  const json from{{"snapshotId", first["snapshotId"]}};
  const auto second = result_of(say(at, "two", from));
  EXPECT_EQ(second["sessionId"], first["sessionId"]);
  const auto now = result_of(
    ask(at, "notes/getSnapshot", {{"sessionId", first["sessionId"]}}));
  EXPECT_EQ(now["snapshotId"], second["snapshotId"]);
  EXPECT_EQ(now["parentId"], first["snapshotId"]);
  EXPECT_EQ(now["state"]["messages"].size(), 4u);
  EXPECT_EQ(now["state"]["custom"]["count"], 2);
}

TEST_F(genkit_agents, cost_what_their_answer_has) {
  std::atomic<std::size_t> messages = 0;
  std::atomic<int> chunks = 0;
  auto at = serve({.redact = [&](const outgoing_value& what, json& x) {
    if (what.kind == outgoing_kind::chunk)
      ++chunks;
    if (what.kind == outgoing_kind::output)
      messages = x["state"]["messages"].size();
  }});
  auto answer = say(at, "one").document()["result"];
  for (const auto* text : {"two", "three"}) {
    answer = say(at, text, {{"sessionId", answer["sessionId"]}})
               .document()["result"];
    EXPECT_EQ(answer["message"]["content"][0]["text"],
              std::string{"re: "} + text);
    EXPECT_EQ(messages, 1u);
  }
  say(at, "one", json::object(), {}, "pocket");
  EXPECT_EQ(messages, 2u); // its client has the state
  EXPECT_EQ(chunks, 0);    // nobody gets them

  // Other clients choose.
  const auto run = [&](const char* key, const json& body) {
    return at.call("POST", std::string{"/actions/"} + key, body.dump());
  };
  json body{{"session", answer["sessionId"]}};
  EXPECT_EQ(run("session-flow/notes", body)
              .document()["output"]["state"]["messages"]
              .size(),
            6u);
  body["outputMessages"] = 2;
  EXPECT_EQ(run("session-flow/notes", body)
              .document()["output"]["state"]["messages"]
              .size(),
            2u);
  body["attach"] = true;
  EXPECT_EQ(run("session-flow/notes", body).status, 400u);

  // Others may read a durable run.
  const json turn{
    {"data", {{"message", {{"role", "user"}, {"content", {{{"text", "x"}}}}}}}},
    {"init", {{"sessionId", answer["sessionId"]}}}};
  EXPECT_EQ(at.call("POST", "/genkit/session-flow/notes?durable=true",
                    turn.dump(), event_stream)
              .status,
            200u);
  EXPECT_EQ(messages, 8u);
}

TEST_F(genkit_agents, own_their_snapshots) {
  auto at = serve_two();
  const auto first = result_of(say(at, "one", {{"sessionId", "s"}}, "ann"));
  EXPECT_EQ(first["sessionId"], "ann/s");
  const json from{{"snapshotId", first["snapshotId"]}};
  EXPECT_EQ(result_of(say(at, "two", from, "ann"))["sessionId"], "ann/s");
  EXPECT_EQ(result_of(say(at, "two", from, "bob"))["error"]["status"],
            "NOT_FOUND");
  EXPECT_EQ(ask(at, "notes/getSnapshot", from, "ann").status, 200u);
  EXPECT_EQ(ask(at, "notes/getSnapshot", from, "bob").status, 404u);
  EXPECT_EQ(ask(at, "notes/getSnapshot", {{"sessionId", "s"}}, "bob").status,
            404u);
  EXPECT_EQ(ask(at, "notes/getSnapshot", from).status, 401u);
  EXPECT_EQ(ask(at, "notes/abort", from).status, 401u);
  // Without its session a snapshot is nobody's.
  auto id = first["snapshotId"].get<std::string>();
  id.erase(id.find('@'));
  EXPECT_EQ(ask(at, "notes/getSnapshot", {{"snapshotId", id}}, "ann").status,
            400u);
}

TEST_F(genkit_agents, own_the_turns_that_they_leave) {
  auto at = serve_two();
  const json left{{"snapshotId", leave(at, "sleeper", "ann")}};
  const auto status = [&](const char* route, const std::string& name) {
    return ask(at, std::string{"sleeper/"} + route, left, name);
  };
  EXPECT_EQ(result_of(status("getSnapshot", "ann"))["status"], "pending");
  EXPECT_EQ(status("getSnapshot", "bob").status, 404u);
  EXPECT_FALSE(result_of(status("abort", "bob")).contains("status"));
  EXPECT_EQ(result_of(status("abort", "ann"))["status"], "pending");
  EXPECT_TRUE(eventually([&] {
    return result_of(status("getSnapshot", "ann"))["status"] == "aborted";
  }));
  EXPECT_EQ(witness::alive(), 0);
  EXPECT_EQ(result_of(status("abort", "ann"))["status"], "aborted");
}

TEST_F(genkit_agents, see_and_end_what_the_program_allows) {
  auto at = serve({.authorize = [](const access_request& x) {
    return x.session != "secret";
  }});
  const auto first = result_of(say(at, "one", {{"sessionId", "mine"}}));
  const auto read = [&](const std::string& name) {
    return ask(at, "notes/getSnapshot", {{"snapshotId", name}}).status;
  };
  const auto name = first["snapshotId"].get<std::string>();
  const auto id = name.substr(0, name.find('@'));
  EXPECT_EQ(read(id), 200u);
  server.reset();
  auto secret = serve(
    {.authorize = [](const access_request& x) { return x.session != "mine"; }});
  const auto status = [&](const char* route, const std::string& of) {
    return ask(secret, route, {{"snapshotId", of}}).status;
  };
  EXPECT_EQ(status("notes/getSnapshot", name), 403u);
  EXPECT_EQ(status("notes/getSnapshot", id), 403u);
  EXPECT_EQ(status("notes/getSnapshot", id + "@other"), 404u);
  const auto left = leave(secret, "sleeper");
  const auto run = left.substr(0, left.find('@'));
  EXPECT_FALSE(
    result_of(ask(secret, "sleeper/abort", {{"snapshotId", run + "@other"}}))
      .contains("status"));
  EXPECT_EQ(witness::alive(), 1);
  EXPECT_EQ(
    result_of(ask(secret, "sleeper/abort", {{"snapshotId", run}}))["status"],
    "pending");
  EXPECT_TRUE(eventually([] { return witness::alive() == 0; }));
}

TEST_F(genkit_agents, are_told_of_a_turn_that_has_made_no_snapshot) {
  ai::define_chat_agent(rt, "quiet", repeat, with_snapshot_store(store));
  auto at = serve();
  const json call{{"data", {{"detach", true}}}};
  const auto left
    = result_of(at.call("POST", "/genkit/agent/quiet", call.dump()));
  const json of{{"data", {{"snapshotId", left["snapshotId"]}}}};
  EXPECT_TRUE(eventually([&] {
    const auto now = result_of(
      at.call("POST", "/genkit/agent/quiet/getSnapshot", of.dump()));
    EXPECT_FALSE(now.contains("state"));
    return now["status"] == "completed";
  }));
}

TEST_F(genkit_agents, are_told_of_a_turn_whose_process_is_gone) {
  auto at = serve();
  stored_run lost;
  lost.id = run_id{"lost"};
  lost.agent = "/session-flow/notes";
  lost.session = session_id{"s"};
  lost.beat = std::chrono::nanoseconds{1};
  tertulia::ask_store(system, store, save_run_request{lost});
  const json of{{"snapshotId", lost.id.str()}}; // that of its end
  EXPECT_TRUE(eventually([&] {
    return result_of(ask(at, "notes/getSnapshot", of))["status"] == "expired";
  }));
}

TEST_F(genkit_agents, go_on_from_a_turn_that_they_have_left) {
  auto at = serve();
  const json from{{"snapshotId", leave(at, "notes")}};
  EXPECT_TRUE(eventually([&] {
    return result_of(ask(at, "notes/getSnapshot", from))["status"]
           == "completed";
  }));
  const auto next = result_of(say(at, "two", from));
  EXPECT_NE(next["snapshotId"], from["snapshotId"]);
  const auto now = result_of(
    ask(at, "notes/getSnapshot", {{"snapshotId", next["snapshotId"]}}));
  EXPECT_EQ(now["state"]["messages"].size(), 4u);
}

TEST_F(genkit_agents, do_not_learn_which_process_holds_a_session) {
  auto at = serve();
  const auto open
    = at.call("POST", "/runs/session-flow/notes", R"({"session":"s"})");
  EXPECT_EQ(open.status, 201u) << open.body;
  const auto refused
    = at.call("POST", "/actions/session-flow/notes", R"({"session":"s"})");
  EXPECT_EQ(refused.status, 400u);
  EXPECT_EQ(refused.document()["message"],
            "session \"s\" of /session-flow/notes has a live invocation "
            "already");
  EXPECT_FALSE(has(refused.body, "process"));
}

TEST_F(genkit_agents, run_tools_that_are_exposed) {
  ai::define_tool(rt, "double", "",
                  [](ai::tool_context, errand x) -> task<int> {
                    co_return 2 * x.amount;
                  });
  const std::string call = R"({"data":{"amount":21}})";
  auto at = serve({.expose = {"/tool/double"}});
  EXPECT_EQ(result_of(at.call("POST", "/genkit/tool/double", call)), 42);
  EXPECT_EQ(serve().call("POST", "/genkit/tool/double", call).status, 404u);
}

TEST_F(genkit_agents, have_states_of_their_own_without_a_store) {
  auto at = serve();
  const auto first = result_of(say(at, "one", json::object(), {}, "pocket"));
  EXPECT_FALSE(first.contains("snapshotId"));
  const json from{{"state", first["state"]}};
  const auto second = result_of(say(at, "two", from, {}, "pocket"));
  EXPECT_EQ(second["state"]["messages"].size(), 4u);
  EXPECT_EQ(second["sessionId"], first["sessionId"]);
  const auto failed = result_of(say(at, "fail", from, {}, "pocket"));
  EXPECT_EQ(failed["error"]["status"], "OUT_OF_RANGE");
  EXPECT_EQ(failed["state"], first["state"]);
}

TEST_F(genkit_agents, refuse_what_they_do_not_understand) {
  auto at = serve();
  const auto status_of = [&](const std::string& body) {
    const auto x = at.call("POST", "/genkit/session-flow/notes", body);
    const auto document = x.document();
    EXPECT_EQ(x.status, document.contains("status") ? 400u : 200u) << x.body;
    return document.value("status", "")
           + document.value("message", "").substr(0, 22);
  };
  EXPECT_EQ(status_of("[]"), "INVALID_ARGUMENT$: is not an object");
  EXPECT_EQ(status_of(R"({"data":7})"),
            "INVALID_ARGUMENT$.data: is not an obje");
  EXPECT_EQ(status_of(R"({"data":{"message":7}})"),
            "INVALID_ARGUMENT$.data.message: is not");
  EXPECT_EQ(status_of(R"({"data":{"detach":7}})"),
            "INVALID_ARGUMENT$.data.detach: is neit");
  EXPECT_EQ(status_of(R"({"data":{"resume":{"respond":7}}})"),
            "INVALID_ARGUMENT$.data.resume.respond:");
  EXPECT_EQ(status_of(R"({"data":{"resume":{"restart":[{}]}}})"),
            "INVALID_ARGUMENT$.data.resume.restart[");
  EXPECT_EQ(status_of(R"({"init":{"snapshotId":7}})"),
            "INVALID_ARGUMENT$.init.snapshotId: is ");
  EXPECT_EQ(status_of(R"({"init":{"state":{}}})"),
            "FAILED_PRECONDITION$.init.state: the agen");
  EXPECT_EQ(status_of(R"({"init":{"snapshotId":"a@b","sessionId":"c"}})"),
            "INVALID_ARGUMENT$.init.snapshotId: is ");
  EXPECT_EQ(ask(at, "notes/abort", {{"sessionId", "s"}}).status, 400u);
  EXPECT_EQ(ask(at, "notes/getSnapshot", json::object()).status, 400u);
  EXPECT_EQ(ask(at, "notes/getSnapshot", 7).status, 400u);
  EXPECT_EQ(ask(at, "pocket/abort", {{"snapshotId", "a"}}).status, 400u);
  EXPECT_EQ(at.call("POST", "/genkit/bidi-flow/counter/abort",
                    R"({"data":{"snapshotId":"a"}})")
              .status,
            400u);
  EXPECT_EQ(at.call("POST", "/genkit/tool/x/getSnapshot",
                    R"({"data":{"snapshotId":"a"}})")
              .status,
            404u);
}

TEST_F(genkit_agents, hear_of_errors_in_the_stream) {
  auto at = serve();
  const auto refused = at.call("POST", "/genkit/session-flow/notes",
                               R"({"data":7})", event_stream);
  EXPECT_EQ(refused.status, 200u);
  EXPECT_TRUE(refused.body.starts_with(
    R"(error: {"error":{"message":"$.data: is not an object")"))
    << refused.body;
  EXPECT_EQ(
    at.call("POST", "/genkit/session-flow/none", "{}", event_stream).status,
    404u);
  const auto failed = at.call(
    "POST", "/genkit/session-flow/notes",
    R"({"data":{"message":{"role":"user","content":[{"text":"fail"}]}}})",
    event_stream);
  EXPECT_TRUE(has(failed.body, R"({"turnEnd":{"finishReason":"failed"}})",
                  R"({"result":{"error":{"message":"as you say")"))
    << failed.body;
}

TEST_F(genkit_agents, hear_of_an_error_that_the_program_has_replaced) {
  auto at = serve({.redact = [](const outgoing_value& what, json& x) {
    if (what.kind == outgoing_kind::error)
      x = "withheld";
  }});
  const auto failed
    = at.call("POST", "/genkit/session-flow/notes",
              R"({"init":{"snapshotId":"none"}})", event_stream);
  EXPECT_TRUE(has(failed.body, R"({"result":{"error":"withheld")"))
    << failed.body;
}

} // namespace tertulia::test::genkit_agent_tests
