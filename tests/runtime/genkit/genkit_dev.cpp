// SPDX-License-Identifier: BSD-3-Clause

// Genkit's developer tools, where the published ones cannot look: what is
// refused, and what is left behind. What they do is in tests/genkit.

#include <tertulia/ai/define_evaluator.hpp>
#include <tertulia/define_agent.hpp>
#include <tertulia/genkit_dev.hpp>
#include <tertulia/memory_store.hpp>
#include <tertulia/span_names.hpp>
#include <tertulia/span_recorder.hpp>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "runtime/genkit/dev/model_call.hpp"
#include "runtime/genkit/dev/project_folder.hpp"
#include "runtime/genkit/dev/telemetry.hpp"
#include "runtime/genkit/dev/web_address.hpp"
#include "support/conversations.hpp"
#include "support/has.hpp"
#include "support/scratch.hpp"
#include "support/web_fixture.hpp"

namespace tertulia::test::genkit_dev_tests {

namespace {

/// Returns the snapshot that a span names beside its conversation, as the tools
/// read it; empty if there is none.
std::string snapshot_in(const span_recorder& of, const std::string& owner,
                        const std::string& name) {
  const auto spans = of.spans();
  if (spans.empty())
    return {};
  const auto trace = tertulia::web::genkit_trace(spans);
  for (const auto& span : trace["spans"]) {
    const auto& attributes = span["attributes"];
    if (attributes.contains(span_names::snapshot)
        && attributes.value(owner, "") == name)
      return attributes[span_names::snapshot];
  }
  return {};
}

struct genkit_dev_tools : web {
  genkit_dev_tools() {
    define_agent(rt, "notes", take_notes, with_snapshot_store(store),
                 each_turn);
    ai::define_session_flow(rt, "talk", repeat_in_turns,
                            with_snapshot_store(store));
    genkit_dev_options options;
    options.is_active = true;
    options.name = "test";
    options.folder = (folder / "project").string();
    dev.emplace(rt, options);
  }

  [[nodiscard]] web_client tools() const {
    const auto url = dev->url();
    return web_client{
      static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)))};
  }

  static web_client::response run(web_client& at, const std::string& body,
                                  const std::string& query = {}) {
    return at.call("POST", "/api/runAction" + query, body);
  }

  /// Returns the notices of programs in the folder.
  [[nodiscard]] std::vector<json> notices() const {
    std::vector<json> result;
    const auto place = folder / "project" / ".genkit" / "runtimes";
    for (const auto& entry : std::filesystem::directory_iterator{place}) {
      std::ifstream in{entry.path()};
      result.push_back(json::parse(in));
    }
    return result;
  }

  scratch folder;
  managed_store store = spawn_memory_store(system);
  std::optional<genkit_dev> dev;
};

} // namespace

TEST_F(genkit_dev_tools, find_the_program_as_long_as_it_lives) {
  const auto known = notices();
  ASSERT_EQ(known.size(), 1u);
  EXPECT_EQ(known[0]["name"], "test");
  EXPECT_EQ(known[0]["reflectionServerUrl"], dev->url());
  const auto id = known[0]["id"].get<std::string>();
  auto at = tools();
  EXPECT_EQ(at.call("GET", "/api/__health").status, 200u);
  EXPECT_EQ(at.call("GET", "/api/__health?id=" + id).body, "OK");
  EXPECT_EQ(at.call("GET", "/api/__health?id=other").status, 503u);
  genkit_dev_options second;
  second.is_active = true;
  second.folder = (folder / "project").string();
  {
    const genkit_dev other{rt, second};
    EXPECT_NE(other.url(), dev->url());
    EXPECT_EQ(notices().size(), 2u);
  }
  dev.reset();
  EXPECT_EQ(notices().size(), 0u);
}

TEST_F(genkit_dev_tools, do_nothing_unless_they_are_asked_to) {
  genkit_dev_options none;
  none.folder = (folder / "project").string();
  const genkit_dev quiet{rt, none};
  EXPECT_FALSE(quiet.is_active());
  EXPECT_EQ(quiet.url(), "");
  EXPECT_EQ(notices().size(), 1u);
  EXPECT_FALSE(genkit_dev_options::from_environment().is_active);
}

TEST_F(genkit_dev_tools, see_all_actions) {
  auto at = tools();
  const auto all = at.call("GET", "/api/actions").document();
  EXPECT_EQ(all["/flow/counter"]["name"], "counter");
  EXPECT_EQ(all["/flow/counter"]["description"], "Counts");
  EXPECT_EQ(all["/flow/counter"]["inputSchema"]["type"], "integer");
  EXPECT_TRUE(all.contains("/bidi-action/echo"));
  EXPECT_TRUE(all.contains("/snapshot-store/notes/getSnapshot"));
  for (const auto& [key, entry] : all.items())
    EXPECT_FALSE(has(entry.dump(), "null")) << key;
  EXPECT_EQ(at.call("GET", "/api/envs").body, R"(["dev"])");
  EXPECT_EQ(at.call("GET", "/api/values?type=defaultModel").body, "{}");
  EXPECT_EQ(at.call("GET", "/api/values").status, 400u);
}

TEST_F(genkit_dev_tools, run_actions) {
  auto at = tools();
  const auto once = run(at, R"({"key":"/flow/counter","input":2})");
  EXPECT_EQ(once.document()["result"], 2);
  EXPECT_EQ(once.document()["telemetry"]["traceId"],
            once.field("X-Genkit-Trace-Id"));
  const auto stream
    = run(at, R"({"key":"/flow/counter","input":2})", "?stream=true");
  EXPECT_TRUE(stream.body.starts_with("0\n1\n{\"result\":2,")) << stream.body;
  EXPECT_NE(stream.body.back(), '\n');
  const auto failed = run(at, R"({"key":"/bidi-action/echo","input":"fail"})");
  EXPECT_EQ(failed.status, 200u);
  EXPECT_EQ(failed.document()["error"]["code"], 11);
  EXPECT_EQ(failed.document()["error"]["details"]["traceId"],
            failed.field("X-Genkit-Trace-Id"));
  const auto refused = run(at, R"({"key":"/flow/counter","input":"two"})");
  EXPECT_EQ(refused.document()["error"]["code"], 3);
  EXPECT_EQ(run(at, R"({"key":"/flow/none"})").status, 404u);
  EXPECT_EQ(run(at, "{}").status, 400u);
  EXPECT_EQ(run(at, "{").status, 400u);
}

TEST_F(genkit_dev_tools, read_snapshots_of_a_store) {
  auto at = tools();
  const auto told
    = run(at, R"({"key":"/agent/notes","input":"x"})").document()["result"];
  const json query{{"key", "/snapshot-store/notes/listSnapshots"},
                   {"input", {{"sessionId", told["sessionId"]}}}};
  const auto list = run(at, query.dump()).document()["result"];
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0]["state"]["words"], "x");
}

// As the page of the tools does: it finds the snapshot in a span of the run,
// and asks the store of the conversation for it.
TEST_F(genkit_dev_tools, find_the_snapshots_of_each_kind_in_its_spans) {
  ai::define_chat_agent(rt, "chat", repeat, with_snapshot_store(store),
                        each_turn);
  auto at = tools();
  const json message{
    {"message", {{"role", "user"}, {"content", {{{"text", "hi"}}}}}}};
  struct conversation {
    std::string name;
    json input;
    bool is_chat;
    std::string owner; ///< attribute with its name
    std::string text;  ///< in its state
  };
  const conversation all[] = {
    {"notes", "one word", false, "genkit:metadata:agent", "one word"},
    {"chat", message, true, "genkit:metadata:agent", "re: hi"},
    {"talk", message, true, "genkit:metadata:sessionFlow", "re: hi"},
  };
  for (const auto& x : all) {
    SCOPED_TRACE(x.name);
    const auto call = [&](const std::string& key, const json& input) {
      return run(at, json{{"key", key}, {"input", input}}.dump());
    };
    const auto recorder = std::make_shared<span_recorder>();
    auto listening = rt.traces().listen(recorder);
    const auto made = call("/agent/" + x.name, x.input).document()["result"];
    const auto session = made["sessionId"];
    std::string id;
    EXPECT_TRUE(eventually([&] {
      id = snapshot_in(*recorder, x.owner, x.name);
      return !id.empty();
    }));
    listening = {};
    if (x.is_chat)
      EXPECT_EQ(made["snapshotId"], id + '@' + session.get<std::string>());
    else
      EXPECT_EQ(made["snapshotIds"], json::array({id}));
    const auto ask = [&](const char* what, const json& input) {
      return call("/snapshot-store/" + x.name + '/' + what, input);
    };
    const auto found
      = ask("getSnapshot", {{"snapshotId", id}}).document()["result"];
    EXPECT_TRUE(has(found["state"].dump(), x.text));
    EXPECT_EQ(found["turnIndex"], 0);
    const json of_session{{"sessionId", session}};
    EXPECT_EQ(ask("listSnapshots", of_session).document()["result"],
              json::array({found}));
    EXPECT_EQ(
      ask("getSnapshot", {{"snapshotId", "none"}}).document()["error"]["code"],
      5);
    const auto whole = ask("getSession", of_session);
    if (x.is_chat) {
      EXPECT_EQ(whole.status, 404u);
      continue;
    }
    EXPECT_EQ(whole.document()["result"]["id"], session);
    EXPECT_EQ(whole.document()["result"]["lastSnapshot"], found);
    EXPECT_EQ(whole.document()["result"]["state"], found["state"]);
  }
}

TEST_F(genkit_dev_tools, leave_turns_and_find_them_again) {
  auto at = tools();
  const auto all = at.call("GET", "/api/actions").document();
  EXPECT_TRUE(all.contains("/agent-snapshot/talk"));
  EXPECT_TRUE(all.contains("/agent-abort/talk"));
  EXPECT_FALSE(all.contains("/agent-abort/notes")) << "it has no messages";
  const auto left = run(at, R"({"key":"/agent/talk","input":{"detach":true,
    "message":{"role":"user","content":[{"text":"hi"}]}}})")
                      .document()["result"];
  EXPECT_EQ(left["finishReason"], "detached");
  const auto ask = [&](const char* what) {
    const json call{{"key", std::string{"/agent-"} + what + "/talk"},
                    {"input", {{"snapshotId", left["snapshotId"]}}}};
    return run(at, call.dump()).document()["result"];
  };
  EXPECT_TRUE(
    eventually([&] { return ask("snapshot")["status"] == "completed"; }));
  EXPECT_TRUE(has(ask("snapshot").dump(), "re: hi"));
  EXPECT_EQ(ask("abort")["status"], "completed");
  EXPECT_EQ(run(at, R"({"key":"/agent-snapshot/talk","input":{}})")
              .document()["error"]["code"],
            3);
  EXPECT_EQ(run(at, R"({"key":"/agent-snapshot/none","input":{}})").status,
            404u);
}

TEST_F(genkit_dev_tools, cancel_runs) {
  define_sleeper();
  auto at = tools();
  at.ask("POST", "/api/runAction?stream=true", R"({"key":"/flow/sleeper"})");
  const std::string field = "X-Genkit-Trace-Id: ";
  const auto head = at.read_until("\r\n\r\n");
  ASSERT_TRUE(has(head, field)) << head;
  const auto trace = head.substr(head.find(field) + field.size(), 32);
  auto other = tools();
  const auto cancel = [&] {
    return other.call("POST", "/api/cancelAction",
                      json{{"traceId", trace}}.dump());
  };
  EXPECT_TRUE(eventually([&] { return witness::alive() == 1; }));
  EXPECT_EQ(cancel().status, 200u);
  EXPECT_TRUE(has(at.read_until("}}"), R"("code":1,)"));
  EXPECT_TRUE(eventually([&] { return cancel().status == 404u; }));
  EXPECT_EQ(other.call("POST", "/api/cancelAction", "{}").status, 400u);
  at.close();
  auto third = tools();
  third.ask("POST", "/api/runAction", R"({"key":"/flow/sleeper"})");
  EXPECT_TRUE(eventually([&] { return witness::alive() == 1; }));
  third.close();
  EXPECT_TRUE(eventually([&] { return witness::alive() == 0; }))
    << "nobody waits for it";
}

TEST_F(genkit_dev_tools, are_no_way_for_other_pages) {
  auto at = tools();
  EXPECT_EQ(run(at, R"({"key":"/flow/counter","input":1})").status, 200u);
  EXPECT_EQ(at.call("POST", "/api/runAction",
                    R"({"key":"/flow/counter","input":1})",
                    "Origin: http://evil.example\r\n")
              .status,
            403u);
  auto rebound = tools();
  rebound.send("GET /api/actions HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  EXPECT_EQ(rebound.read().status, 403u);
  EXPECT_EQ(at.call("GET", "/api/__quitquitquit", {},
                    "Sec-Fetch-Site: cross-site\r\n")
              .status,
            403u);
}

TEST_F(genkit_dev_tools, score_outputs) {
  ai::define_evaluator(
    rt, "length", [](context, ai::test_case x) -> task<ai::evaluation> {
      if (x.output.is_null())
        throw status_error{errc::invalid_argument, "no text"};
      if (x.output.is_number())
        throw std::runtime_error{"a number"};
      ai::evaluation result;
      result.score = static_cast<double>(x.output.get<std::string>().size());
      if (!x.reference.is_null())
        result.passed = x.output == x.reference;
      co_return result;
    });
  auto at = tools();
  const auto scores
    = run(at, R"({"key":"/evaluator/length","input":{"evalRunId":"1",
          "dataset":[{"testCaseId":"a","input":1,"output":"abc"},
                     {"testCaseId":"b","input":1,"output":"x","reference":"x"},
                     {"testCaseId":"c","input":1,"output":"x","reference":"y"},
                     {"testCaseId":"d","input":1},
                     {"testCaseId":"e","input":1,"output":7}]}})")
        .document()["result"];
  EXPECT_EQ(scores, json::parse(R"([
    {"testCaseId":"a","evaluation":{"score":3.0,"status":"UNKNOWN"}},
    {"testCaseId":"b","evaluation":{"score":1.0,"status":"PASS"}},
    {"testCaseId":"c","evaluation":{"score":1.0,"status":"FAIL"}},
    {"testCaseId":"d","evaluation":{"status":"UNKNOWN","error":"no text"}},
    {"testCaseId":"e","evaluation":{"status":"UNKNOWN","error":"a number"}}])"));
}

TEST(genkit_telemetry, has_what_the_tools_read) {
  tracer traces;
  const auto recorder = std::make_shared<span_recorder>();
  const auto listening = traces.listen(recorder);
  auto root = traces.start("/flow/greet");
  auto child = traces.start("generate", root.context());
  child.set_error(errc::not_found, "no model");
  child.end();
  root.end();
  const auto trace = tertulia::web::genkit_trace(recorder->spans());
  EXPECT_EQ(trace["displayName"], "/flow/greet");
  const auto& first = recorder->find("/flow/greet")->context;
  const auto& top = trace["spans"][to_string(first.span)];
  EXPECT_EQ(top["attributes"]["genkit:metadata:subtype"], "flow");
  EXPECT_EQ(top["attributes"]["genkit:name"], "greet");
  EXPECT_EQ(top["attributes"]["genkit:state"], "success");
  EXPECT_FALSE(top.contains("parentSpanId"));
  EXPECT_GE(top["endTime"], top["startTime"]);
  const auto& inner
    = trace["spans"][to_string(recorder->find("generate")->context.span)];
  EXPECT_EQ(inner["parentSpanId"], to_string(first.span));
  EXPECT_EQ(inner["attributes"]["genkit:state"], "error");
  EXPECT_EQ(inner["status"]["code"], 2);
  EXPECT_EQ(inner["timeEvents"]["timeEvent"][0]["annotation"]["attributes"]
                 ["exception.message"],
            "no model");
}

TEST(genkit_model_calls, become_requests_to_models) {
  const auto call = tertulia::web::model_call(json::parse(R"({
    "messages":[{"role":"system","content":[{"text":"Be brief."}]},
                {"role":"user","content":[{"text":"Hi"}]}],
    "config":{"temperature":0.5,"safety":"high"},
    "tools":[{"name":"book","description":"Books.","inputSchema":{},"key":"x"}],
    "output":{"format":"json","schema":{"type":"object"}}})"));
  EXPECT_EQ(call, json::parse(R"({
    "messages":[{"role":"user","content":[{"text":"Hi"}]}],
    "system":"Be brief.",
    "config":{"temperature":0.5,"custom":{"safety":"high"}},
    "tools":[{"name":"book","description":"Books.","inputSchema":{}}],
    "outputSchema":{"type":"object"}})"));
  for (const auto* odd :
       {R"({"messages":["hi",7,{"role":"system","content":[{"text":5},6]}]})",
        R"({"messages":7,"tools":[7],"config":7,"output":7})"})
    EXPECT_NO_THROW(
      static_cast<void>(tertulia::web::model_call(json::parse(odd))));
  EXPECT_EQ(code_from([] { static_cast<void>(tertulia::web::model_call(7)); }),
            errc::invalid_argument);
}

TEST(genkit_addresses, are_of_this_machine) {
  const auto at = tertulia::web::web_address::of("ws://localhost:3200/x");
  ASSERT_TRUE(at);
  EXPECT_EQ(at->host + ' ' + at->port + ' ' + at->path, "localhost 3200 /x");
  EXPECT_EQ(tertulia::web::web_address::of("http://[::1]:4033")->host, "::1");
  for (const auto* wrong : {"", "https://a:1", "http://a", "http://:1", "a:1"})
    EXPECT_FALSE(tertulia::web::web_address::of(wrong)) << wrong;
}

} // namespace tertulia::test::genkit_dev_tests
