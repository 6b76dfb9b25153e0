// SPDX-License-Identifier: BSD-3-Clause

// What a program lets out of its web server, and who may answer its tools.

#include <tertulia/ai/session_flow.hpp>
#include <tertulia/define_agent.hpp>
#include <tertulia/memory_store.hpp>

#include <stdexcept>
#include <string>
#include <vector>

#include "support/conversations.hpp"
#include "support/has.hpp"
#include "support/web_fixture.hpp"

namespace tertulia::test::web_policy_tests {

namespace {

const std::string notes = "/agent/notes";
const std::string chat = "/session-flow/chat";

/// Replaces a word in all texts of a document.
void hide(json& x, const std::string& word) {
  if (x.is_structured()) {
    for (auto& one : x)
      hide(one, word);
  } else if (x.is_string()) {
    auto text = x.get<std::string>();
    for (auto i = text.find(word); i != std::string::npos; i = text.find(word))
      text.replace(i, word.size(), "***");
    x = text;
  }
}

/// Part of a message: a text, or an answer to the question of a tool.
const std::string text = R"({"text":"yes"})";
const std::string secret = R"({"text":"a secret"})";
const std::string answer
  = R"({"toolRequest":{"name":"pay"},"metadata":{"resumed":true}})";

/// Message as an input.
std::string said(const std::string& parts, const std::string& members = {},
                 const std::string& role = "user") {
  return R"({"inputs":[{"messages":[{"role":")" + role + R"(","content":[)"
         + parts + "]}]}]" + members + '}';
}

/// Request to a server.
struct request {
  const char* method;
  std::string target;
  std::string body{};
};

/// Checks that an error is all that a client hears.
void expect_withheld(const web_client::response& x) {
  EXPECT_EQ(x.status, 500u);
  EXPECT_EQ(x.document()["status"], "INTERNAL");
  EXPECT_FALSE(has(x.body, "secret"));
}

struct web_policies : web {
  web_policies() {
    define_agent(rt, "notes", take_notes, with_snapshot_store(store),
                 with_snapshot_callback(snapshot_always{}));
    ai::define_session_flow(rt, "chat", repeat_in_turns,
                            with_snapshot_store(store));
  }

  /// Keys of all that this server shows: also the sessions of its store.
  static std::vector<std::string> with_sessions() {
    auto result = default_exposure();
    result.emplace_back("/snapshot-store/*");
    return result;
  }

  /// Serves with a redaction of the word "secret".
  web_client serve_redacted() {
    return serve({.expose = with_sessions(),
                  .redact = [](const outgoing_value& what, json& x) {
                    EXPECT_EQ(what.caller, "");
                    hide(x, "secret");
                  }});
  }

  /// Serves with a redaction that fails.
  web_client serve_nothing() {
    return serve(
      {.expose = with_sessions(), .redact = [](const outgoing_value&, json&) {
         throw std::runtime_error{"a secret"};
       }});
  }

  /// Serves callers of whom bob may answer the tools of ann.
  web_client serve_approver() {
    return serve({.tokens = {{"ann", "ann-0123456789abcdef"},
                             {"bob", "bob-0123456789abcdef"},
                             {"eve", "eve-0123456789abcdef"}},
                  .approve = [](const approval_request& x) {
                    return x.caller == "bob" && x.owner == "ann";
                  }});
  }

  static std::string token_of(const std::string& name) {
    return "Authorization: Bearer " + name + "-0123456789abcdef\r\n";
  }

  managed_store store = spawn_memory_store(system);
};

} // namespace

TEST_F(web_policies, redact_what_leaves) {
  auto at = serve_redacted();
  const auto done = at.call("POST", "/actions" + notes,
                            R"({"inputs":["a secret"],"session":"s"})");
  EXPECT_EQ(done.document()["output"]["state"]["words"], "a ***");
  const auto events
    = at.call("POST", "/actions" + notes, R"({"inputs":[" secret"]})",
              "Accept: text/event-stream\r\n");
  EXPECT_TRUE(has(events.body, "event: chunks", "[\" ***\"]"));
  EXPECT_FALSE(has(events.body, "secret"));
  for (const auto& target :
       {"/sessions" + notes + "?session=s",
        "/snapshots" + notes + "?session=s&snapshot=1",
        "/diffs" + notes + "?session=s&before=1&after=1"}) {
    const auto got = at.call("GET", target);
    EXPECT_EQ(got.status, 200u) << got.body;
    EXPECT_FALSE(has(got.body, "secret")) << target;
  }
  const auto titled = at.call("PATCH", "/sessions" + notes + "?session=s",
                              R"({"title":"the secret"})");
  EXPECT_EQ(titled.document()["title"], "the ***");
  EXPECT_EQ(at.call("GET", "/exports" + notes + "?session=s").status, 403u);
  const auto unknown = at.call("GET", "/actions/bidi-flow/secret");
  EXPECT_EQ(unknown.status, 404u);
  EXPECT_FALSE(has(unknown.body, "secret"));
}

TEST_F(web_policies, redact_the_error_of_a_call_without_a_run) {
  auto at = serve({.redact = [](const outgoing_value& what, json& x) {
    EXPECT_EQ(what.kind, outgoing_kind::error);
    hide(x, "object");
  }});
  for (const auto* accept : {"", "Accept: text/event-stream\r\n"}) {
    const auto refused = at.call("POST", "/genkit" + echo, "[]", accept);
    EXPECT_TRUE(has(refused.body, "is not an ***")) << refused.body;
    EXPECT_FALSE(has(refused.body, "object"));
  }
}

TEST_F(web_policies, let_nothing_out_if_the_redaction_fails) {
  auto at = serve_nothing();
  const std::string input = R"({"inputs":["secret"]})";
  expect_withheld(at.call("POST", "/actions" + notes, input));
  expect_withheld(at.call("POST", "/genkit" + echo, R"({"data":"secret"})"));
  const auto events = at.call("POST", "/actions" + notes, input,
                              "Accept: text/event-stream\r\n");
  EXPECT_TRUE(has(events.body, "event: error"));
  EXPECT_FALSE(has(events.body, "secret"));
  web_talk talk{server->port(), "/talk" + echo};
  talk.send({{"open", {{"inputs", {"secret"}}, {"close", true}}}});
  EXPECT_TRUE(talk.read().contains("opened"));
  EXPECT_EQ(talk.read()["error"]["status"], "INTERNAL");
}

TEST_F(web_policies, let_nothing_of_a_store_out_if_the_redaction_fails) {
  auto open = serve({.expose = with_sessions()});
  const std::string session = R"(,"session":"secret")";
  const auto opened
    = open.call("POST", "/runs" + notes,
                R"({"inputs":["a secret"],"close":true)" + session + '}');
  ASSERT_EQ(opened.status, 201u) << opened.body;
  const auto run
    = "/runs" + notes + "?run=" + opened.document()["run"].get<std::string>();
  EXPECT_EQ(open.call("POST", "/actions" + chat, said(secret, session)).status,
            200u);
  ASSERT_TRUE(eventually([&] { // the snapshots are stored
    return open.call("GET", run).document()["status"] == "completed";
  }));
  const auto query = notes + "?session=secret";
  const auto snapshot = query + "&snapshot=1";
  std::vector<request> calls{
    {"GET", "/sessions" + notes},
    {"GET", "/sessions" + query},
    {"GET", "/snapshots" + query},
    {"GET", "/snapshots" + snapshot},
    {"GET", "/diffs" + query + "&before=1&after=1"},
    {"GET", "/runs" + notes},
    {"GET", "/exports" + query},
    {"POST", "/genkit" + chat + "/getSnapshot",
     R"({"data":{"sessionId":"secret"}})"},
    {"PATCH", "/sessions" + query, R"({"title":"a secret"})"},
    {"PATCH", "/snapshots" + snapshot, R"({"note":"a secret"})"},
  };
  for (const auto& x : calls) {
    const auto whole = open.call(x.method, x.target, x.body);
    EXPECT_EQ(whole.status, 200u) << x.target;
    EXPECT_TRUE(has(whole.body, "secret")) << x.target;
  }
  calls.push_back({"POST", "/genkit" + chat + "/abort",
                   R"({"data":{"snapshotId":"secret"}})"});
  calls.push_back(
    {"POST", "/sessions" + notes, R"({"session":"copy","from":"secret"})"});
  calls.push_back({"DELETE", "/sessions" + query});
  auto at = serve_nothing();
  for (const auto& x : calls) {
    SCOPED_TRACE(x.method + (' ' + x.target));
    expect_withheld(at.call(x.method, x.target, x.body));
  }
}

TEST_F(web_policies, let_no_event_of_genkit_out_if_the_redaction_fails) {
  rt.define_bidi_flow("parrot",
                      [](context, input<std::string> in,
                         output<std::string> out) -> task<int> {
                        const auto word = co_await in.next();
                        co_await out.send(word.value_or(""));
                        co_return 1;
                      });
  ai::define_session_flow(rt, "pocket", repeat_in_turns);
  const std::string word = R"({"data":"a secret"})";
  const auto message
    = R"({"data":{"message":{"role":"user","content":[)" + secret + "]}}}";
  const request streams[] = {
    {"POST", "/genkit" + echo, word},
    {"POST", "/genkit/bidi-flow/parrot", word},
    {"POST", "/genkit/bidi-flow/parrot?durable=true", word},
    {"POST", "/genkit" + chat, message},
    {"POST", "/genkit/session-flow/pocket", message},
  };
  const auto ask = [](web_client& at, const request& x) {
    const auto result
      = at.call(x.method, x.target, x.body, "Accept: text/event-stream\r\n");
    EXPECT_EQ(result.status, 200u) << x.target;
    return result.body;
  };
  auto open = serve();
  for (const auto& x : streams)
    EXPECT_TRUE(has(ask(open, x), "secret")) << x.target;
  auto at = serve_nothing();
  const auto expect_no_event = [&](const request& x) {
    const auto events = ask(at, x);
    EXPECT_TRUE(has(events, R"("message":"the answer is withheld")",
                    R"("status":"INTERNAL")"))
      << x.target;
    EXPECT_FALSE(has(events, "secret")) << x.target;
  };
  for (const auto& x : streams)
    expect_no_event(x);
  expect_no_event({"POST", "/genkit" + chat, word}); // is not understood
}

TEST_F(web_policies, let_one_caller_answer_the_tools_of_another) {
  auto at = serve_approver();
  const auto run = [&](const std::string& name, const std::string& body) {
    return at.call("POST", "/actions" + chat, body, token_of(name));
  };
  const std::string mine = R"(,"session":"s")";
  const std::string hers = mine + R"(,"owner":"ann")";
  EXPECT_EQ(run("ann", said(text, mine)).status, 200u);
  EXPECT_EQ(run("ann", said(answer, mine)).status, 403u)
    << "she may not approve what her own agent does";
  EXPECT_EQ(run("bob", said(answer, mine)).status, 403u);
  EXPECT_EQ(run("eve", said(answer, hers)).status, 403u);
  EXPECT_EQ(run("bob", said(text, hers)).status, 403u)
    << "he may answer, and not talk for her";
  EXPECT_EQ(run("bob", said(answer + ',' + text, hers)).status, 403u);
  EXPECT_EQ(run("bob", said(answer, hers, "model")).status, 403u)
    << "what he answers is not asked by himself";
  EXPECT_EQ(run("bob", R"({"inputs":[{}])" + hers + '}').status, 403u);
  for (const auto* more :
       {R"(,"live":"take_over")", R"(,"resume":true)", R"(,"keep":true)",
        R"(,"snapshot":"x")", R"(,"init":{})", R"(,"deadline":"PT1S")"})
    EXPECT_EQ(run("bob", said(answer, hers + more)).status, 400u) << more;
  EXPECT_EQ(run("bob", said(answer, R"(,"owner":"ann")")).status, 400u)
    << "in no session of hers";
  const auto approved = run("bob", said(answer, hers));
  EXPECT_EQ(approved.status, 200u) << approved.body;
  EXPECT_EQ(approved.document()["session"], "ann/s");
}

TEST_F(web_policies, let_one_caller_answer_in_a_live_run) {
  auto at = serve_approver();
  const auto opened = at.call("POST", "/runs" + chat, "{}", token_of("ann"));
  const auto run = opened.document()["run"].get<std::string>();
  const auto send = [&](const std::string& name, const std::string& body,
                        const std::string& owner) {
    return at
      .call("POST", "/inputs" + chat + "?run=" + run + owner, body,
            token_of(name))
      .status;
  };
  const std::string hers = "&owner=ann";
  EXPECT_EQ(send("bob", said(text), ""), 404u);
  EXPECT_EQ(send("eve", said(answer), hers), 403u);
  EXPECT_EQ(send("bob", said(text), hers), 403u);
  for (const auto* end : {R"({"close":true})", R"({"cancel":true})"})
    EXPECT_EQ(send("bob", end, hers), 403u) << end;
  EXPECT_EQ(at.call("GET", "/events" + chat + "?run=" + run + hers, "",
                    token_of("bob"))
              .status,
            400u)
    << "he does not listen to what she says";
  EXPECT_EQ(at.call("POST", "/actions" + chat,
                    said(answer, R"(,"owner":"ann","run":")" + run + '"'),
                    token_of("bob"))
              .status,
            400u)
    << "a live run has inputs";
  EXPECT_EQ(send("ann", said(text), "&owner=ann"), 202u)
    << "she may name herself";
  EXPECT_EQ(send("ann", said(text), "&session=other"), 404u)
    << "it is the run of another session";
  EXPECT_EQ(at.call("GET", "/runs" + chat + "?run=" + run + "&session=other",
                    "", token_of("ann"))
              .status,
            404u);
  web_talk guest{server->port(), "/talk" + chat, [&](auto& request) {
                   request.set("Authorization", "Bearer bob-0123456789abcdef");
                 }};
  guest.send({{"open", {{"run", run}, {"owner", "ann"}}}});
  EXPECT_TRUE(guest.read().contains("opened"));
  guest.send({{"cancel", true}});
  // The turn of her text may end meanwhile.
  EXPECT_EQ(guest.read_until("refused")["refused"]["status"],
            "PERMISSION_DENIED");
  guest.send({{"detach", true}});
  EXPECT_EQ(send("bob", said(answer), hers), 202u);
  EXPECT_EQ(send("ann", said(text), ""), 202u);
}

TEST_F(web_policies, know_no_run_of_a_session_that_is_not_its_own) {
  auto at = serve();
  const auto opened
    = at.call("POST", "/runs" + notes, R"({"session":"s"})").document();
  const auto run = "/runs" + notes + "?run=" + opened["run"].get<std::string>();
  const auto expect_unknown = [&] {
    for (const auto* verb : {"GET", "DELETE"})
      EXPECT_EQ(at.call(verb, run + "&session=other").status, 404u) << verb;
  };
  expect_unknown();
  EXPECT_EQ(at.call("DELETE", run + "&session=s").status, 200u);
  EXPECT_TRUE(eventually([&] { // the end is stored
    return at.call("GET", run).document()["status"] == "aborted";
  }));
  expect_unknown();
  EXPECT_EQ(at.call("GET", run + "&session=s").status, 200u);
}

TEST_F(web_policies,
       let_nobody_act_for_another_caller_unless_the_program_does) {
  auto at = serve({.tokens = {{"ann", "ann-0123456789abcdef"},
                              {"bob", "bob-0123456789abcdef"}}});
  EXPECT_EQ(at.call("POST", "/actions" + chat,
                    said(answer, R"(,"owner":"ann")"), token_of("bob"))
              .status,
            403u);
  EXPECT_EQ(at.call("POST", "/actions" + chat,
                    said(answer, R"(,"owner":"bob")"), token_of("bob"))
              .status,
            200u)
    << "it is his own";
  auto open = serve();
  EXPECT_EQ(
    open.call("POST", "/actions" + chat, said(answer, R"(,"owner":"ann")"))
      .status,
    403u)
    << "a stranger is nobody's approver";
}

TEST_F(web_policies, refuse_inputs_that_the_program_does_not_take) {
  ai::define_session_flow(
    rt, "brief", repeat_in_turns,
    ai::with_input_check([](const ai::conversation_input& x) {
      if (x.messages.size() > 1)
        throw status_error{errc::invalid_argument, "one message at a time"};
    }));
  auto at = serve();
  const std::string key = "/session-flow/brief";
  web_talk talk{server->port(), "/talk" + key};
  const json message{{"role", "user"}, {"content", {{{"text", "hi"}}}}};
  const auto say = [&](const json& messages) {
    talk.send({{"input", {{"messages", messages}}}});
  };
  talk.send({{"open", json::object()}});
  EXPECT_TRUE(talk.read().contains("opened"));
  say({message, message});
  EXPECT_EQ(talk.read()["refused"]["message"], "one message at a time");
  say(json::array({message}));
  EXPECT_TRUE(talk.read().contains("chunks")) << "the run goes on";
}

} // namespace tertulia::test::web_policy_tests
