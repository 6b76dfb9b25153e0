// SPDX-License-Identifier: BSD-3-Clause

// What callers of the web server may do, and strangers without a token.

#include <tertulia/define_agent.hpp>
#include <tertulia/memory_store.hpp>

#include <algorithm>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/conversations.hpp"
#include "support/has.hpp"
#include "support/web_fixture.hpp"

using namespace std::literals;

namespace tertulia::test::web_caller_tests {

namespace {

const std::string notes = "/agent/notes";

struct web_callers : web {
  web_callers() {
    define_agent(rt, "notes", take_notes, with_snapshot_store(store));
  }

  web_client serve_two(http_server_options options = {}) {
    options.tokens
      = {{"ann", "ann-0123456789abcdef"}, {"bob", "bob-0123456789abcdef"}};
    return serve(std::move(options));
  }

  static std::string token_of(const std::string& name) {
    return "Authorization: Bearer " + name + "-0123456789abcdef\r\n";
  }

  managed_store store = spawn_memory_store(system);
};

} // namespace

TEST_F(web_callers, have_sessions_of_their_own) {
  auto at = serve_two();
  const auto say = [&](const std::string& name, const std::string& session) {
    return at
      .call("POST", "/actions" + notes,
            R"({"inputs":[")" + name + R"("],"session":")" + session + "\"}",
            token_of(name))
      .document();
  };
  EXPECT_EQ(say("ann", "s")["session"], "ann/s");
  EXPECT_EQ(say("bob", "s")["output"]["state"]["words"], "bob");
  EXPECT_EQ(say("ann", "s")["output"]["state"]["words"], "annann");
  EXPECT_EQ(say("bob", "ann/s")["output"]["state"]["words"], "bob");
  EXPECT_EQ(say("ann", "ann/s")["output"]["sessionId"], "ann/s");
}

TEST_F(web_callers, have_runs_of_their_own) {
  auto at = serve_two();
  const auto opened
    = at.call("POST", "/runs" + notes, R"({"session":"s"})", token_of("ann"));
  ASSERT_EQ(opened.status, 201u) << opened.body;
  const auto run = opened.document()["run"].get<std::string>();
  const auto statuses = [&](const std::string& name) {
    std::vector<unsigned> result;
    for (const auto& target : {"?run=" + run, std::string{"?session=s"}}) {
      const auto call = [&](const char* method, const char* route,
                            const std::string& body = {}) {
        result.push_back(
          at.call(method, route + notes + target, body, token_of(name)).status);
      };
      call("GET", "/runs");
      call("POST", "/inputs", R"({"inputs":["x"]})");
      call("POST", "/inputs", R"({"confirm":true})");
      if (name != "ann") // his would be a stream
        call("GET", "/events");
      call("DELETE", "/runs");
    }
    return result;
  };
  EXPECT_EQ(statuses("bob"), std::vector<unsigned>(10, 404u));
  web_talk foreign{server->port(), "/talk" + notes, [&](auto& request) {
                     request.set("Authorization",
                                 "Bearer bob-0123456789abcdef");
                   }};
  foreign.send({{"open", {{"run", run}}}});
  EXPECT_EQ(foreign.read()["error"]["status"], "NOT_FOUND");
  const auto own = statuses("ann");
  EXPECT_EQ(own[0], 200u);
  EXPECT_EQ(own[1], 202u);
  EXPECT_EQ(own[3], 200u);
}

TEST_F(web_callers, list_their_own_runs) {
  auto at = serve_two();
  const auto open = [&](const std::string& key, const std::string& body,
                        const std::string& name) {
    return at.call("POST", "/runs" + key, body, token_of(name))
      .document()["run"]
      .get<std::string>();
  };
  const auto list = [&](const std::string& target, const std::string& name) {
    return at.call("GET", "/runs" + target, {}, token_of(name));
  };
  for (const auto& key : {notes, counter}) {
    const auto first = open(key, R"({"inputs":[],"close":true})", "ann");
    const auto second = open(key, "{}", "ann");
    const auto of_bob = open(key, "{}", "bob");
    const auto own = list(key + "?status=running", "ann").document();
    ASSERT_GE(own["runs"].size(), 1u) << own;
    EXPECT_EQ(own["runs"][0]["id"], second);
    EXPECT_EQ(own["runs"][0]["key"], key);
    EXPECT_EQ(own["runs"][0]["status"], "running");
    EXPECT_TRUE(own["runs"][0].contains("beganAt"));
    EXPECT_FALSE(has(own.dump(), of_bob));
    EXPECT_FALSE(has(own.dump(), "process"));
    const auto page = list(key + "?limit=1", "ann").document();
    EXPECT_EQ(page["runs"].size(), 1u);
    EXPECT_EQ(page["more"], true);
    const auto rest = list(key + "?after=" + second, "ann").document();
    EXPECT_EQ(rest["more"], false);
    EXPECT_EQ(rest["runs"][0]["id"], first);
    EXPECT_EQ(list(key, "bob").document()["runs"].size(), 1u);
    EXPECT_EQ(list(key + "?after=" + of_bob, "ann").status, 404u);
    EXPECT_EQ(list(key + "?status=odd", "ann").status, 400u);
    EXPECT_EQ(list(key + "?limit=x", "ann").status, 400u);
  }
  EXPECT_EQ(list("/tool/x", "ann").status, 404u);
}

TEST_F(web_callers, have_no_more_runs_than_the_program_allows) {
  runtime small{system, runtime_options{.max_connections_per_caller = 1}};
  small.define_bidi_flow("waiter",
                         [](context, input<int> in, output<int>) -> task<int> {
                           while (co_await in.next()) {
                           }
                           co_return 7;
                         });
  const tertulia::http_server own{
    small,
    {.protocols = {genkit_protocol()},
     .tokens
     = {{"ann", "ann-0123456789abcdef"}, {"bob", "bob-0123456789abcdef"}}}};
  web_client at{own.port()};
  const auto post = [&](const std::string& target, const std::string& body,
                        const std::string& fields = token_of("ann")) {
    return at.call("POST", target, body, fields);
  };
  const std::string waiter = "/bidi-flow/waiter";
  const auto opened = post("/runs" + waiter, "{}");
  ASSERT_EQ(opened.status, 201u) << opened.body;
  const auto query
    = waiter + "?run=" + opened.document()["run"].get<std::string>();
  const auto stream = token_of("ann") + "Accept: text/event-stream\r\n";
  const auto expect_no_further_one = [&] {
    for (const auto* route : {"/runs", "/actions", "/genkit"})
      for (const auto& fields : {token_of("ann"), stream}) {
        const auto refused = post(route + waiter, "{}", fields);
        EXPECT_TRUE(has(refused.body, R"("status":"RESOURCE_EXHAUSTED")"));
        // A client of Genkit that streams reads errors only in events.
        if (route == "/genkit"sv && fields == stream)
          continue;
        EXPECT_EQ(refused.status, 429u) << route;
        EXPECT_EQ(refused.field("Retry-After"), "1") << route;
      }
    web_talk talk{own.port(), "/talk" + waiter, [](auto& request) {
                    request.set("Authorization", "Bearer ann-0123456789abcdef");
                  }};
    talk.send({{"open", json::object()}});
    EXPECT_EQ(talk.read()["error"]["status"], "RESOURCE_EXHAUSTED");
  };
  expect_no_further_one();
  EXPECT_EQ(post("/actions" + waiter, "{}", token_of("bob")).status, 200u)
    << "he has no run";
  EXPECT_EQ(post("/inputs" + query, R"({"close":true})").status, 202u)
    << "she has it already";
  EXPECT_TRUE(eventually([&] {
    return at.call("GET", "/runs" + query, {}, token_of("ann"))
             .document()["status"]
           == "completed";
  }));
  expect_no_further_one(); // the end waits for her
  EXPECT_EQ(post("/inputs" + query, R"({"confirm":true})").status, 202u);
  EXPECT_TRUE(
    eventually([&] { return post("/actions" + waiter, "{}").status == 200u; }));
}

TEST_F(web_callers, may_do_what_the_program_allows) {
  std::mutex mutex;
  std::vector<std::string> asked;
  auto at = serve_two({.authorize = [&](const access_request& x) {
    const std::lock_guard guard{mutex};
    asked.push_back(x.caller + ' ' + to_json(x.verb).get<std::string>() + ' '
                    + x.key + ' ' + x.run + x.session);
    if (x.caller == "bob" && x.verb == access_verb::abort)
      throw std::runtime_error{"a secret"};
    return x.caller == "ann" || x.key == counter;
  }});
  const auto call
    = [&](const std::string& name, const char* method,
          const std::string& target, const std::string& body = {}) {
        return at.call(method, target, body, token_of(name));
      };
  EXPECT_EQ(call("ann", "GET", "/actions").document()["actions"].size(), 3u);
  EXPECT_EQ(call("bob", "GET", "/actions").document()["actions"].size(), 1u);
  EXPECT_EQ(call("bob", "GET", "/actions" + notes).status, 403u);
  EXPECT_EQ(call("bob", "POST", "/actions" + notes).status, 403u);
  EXPECT_EQ(call("bob", "POST", "/genkit" + notes, "{}").status, 403u);
  EXPECT_EQ(call("bob", "POST", "/runs" + notes).status, 403u);
  const auto gone = call("bob", "DELETE", "/runs" + counter + "?run=r");
  EXPECT_EQ(gone.status, 403u);
  EXPECT_FALSE(has(gone.body, "secret"));
  EXPECT_EQ(call("bob", "GET", "/runs" + counter + "?run=r").status, 404u);
  EXPECT_EQ(call("bob", "GET", "/events" + notes + "?session=s").status, 403u);
  EXPECT_EQ(call("bob", "GET", "/runs" + notes).status, 403u);
  EXPECT_EQ(call("bob", "POST", "/actions/tool/x").status, 404u)
    << "what is not exposed does not exist";
  web_talk talk{server->port(), "/talk" + notes, [&](auto& request) {
                  request.set("Authorization", "Bearer bob-0123456789abcdef");
                }};
  talk.send({{"open", json::object()}});
  EXPECT_EQ(talk.read()["error"]["status"], "PERMISSION_DENIED");
  EXPECT_EQ(
    call("ann", "POST", "/actions" + notes, R"({"session":"s"})").status, 200u);
  const std::lock_guard guard{mutex};
  EXPECT_EQ(asked.back(), "ann open /agent/notes ann/s");
  const auto was_asked = [&](const std::string& text) {
    return std::find(asked.begin(), asked.end(), text) != asked.end();
  };
  EXPECT_TRUE(was_asked("bob see /agent/notes "));
  EXPECT_TRUE(was_asked("bob abort /bidi-flow/counter r"));
  EXPECT_TRUE(was_asked("bob inspect /bidi-flow/counter r"));
  EXPECT_TRUE(was_asked("bob attach /agent/notes bob/s"));
}

TEST_F(web_callers, do_not_all_read_the_metrics) {
  auto at
    = serve_two({.authorize =
                   [](const access_request& x) {
                     return x.verb != access_verb::measure || x.caller == "ann";
                   },
                 .metrics = [] { return std::string{"up 1\n"}; }});
  EXPECT_EQ(at.call("GET", "/metrics", {}, token_of("ann")).status, 200u);
  EXPECT_EQ(at.call("GET", "/metrics", {}, token_of("bob")).status, 403u);
}

TEST_F(web_callers, may_have_tokens_that_another_function_knows) {
  auto at = serve(
    {.tokens = {{"ann", "ann-0123456789abcdef"}},
     .authenticate = [](std::string_view token) -> std::optional<std::string> {
       if (token == "throw")
         throw std::runtime_error{"a secret"};
       if (token == "slash")
         return "ann/x";
       return token == "bob" ? std::optional<std::string>{"bob"} : std::nullopt;
     }});
  const auto status = [&](const std::string& token) {
    return at
      .call("GET", "/actions", {}, "Authorization: Bearer " + token + "\r\n")
      .status;
  };
  EXPECT_EQ(status("ann-0123456789abcdef"), 200u);
  EXPECT_EQ(status("bob"), 200u);
  for (const auto* wrong : {"eve", "throw", "slash"})
    EXPECT_EQ(status(wrong), 401u) << wrong;
  EXPECT_EQ(at.call("POST", "/actions" + notes, R"({"session":"s"})",
                    "Authorization: Bearer bob\r\n")
              .document()["session"],
            "bob/s");
  auto only = serve({.authenticate = [](std::string_view) {
    return std::optional<std::string>{};
  }});
  EXPECT_EQ(only.call("GET", "/actions").status, 401u);
}

TEST_F(web_callers, have_names_that_can_own_sessions) {
  const auto code_of_name = [&](const char* name) {
    return code_from([&] { serve({.tokens = {{name, "0123456789abcdef"}}}); });
  };
  EXPECT_EQ(code_of_name(""), errc::invalid_argument);
  EXPECT_EQ(code_of_name("ann/x"), errc::invalid_argument);
}

// The list of what a server tells to whom it does not know.
TEST_F(web_callers, are_the_only_ones_who_get_answers) {
  auto at = serve_two({.metrics = [] { return std::string{"up 1\n"}; }});
  const auto status = [&](const char* method, const std::string& target) {
    return at.call(method, target, *method == 'G' ? "" : "{}").status;
  };
  for (const auto& key : {notes, std::string{"/tool/x"}, std::string{"/x"}}) {
    EXPECT_EQ(status("GET", "/actions" + key), 401u);
    EXPECT_EQ(status("POST", "/actions" + key), 401u);
    EXPECT_EQ(status("GET", "/talk" + key), 401u);
    EXPECT_EQ(status("POST", "/runs" + key), 401u);
    EXPECT_EQ(status("GET", "/runs" + key + "?run=r"), 401u);
    EXPECT_EQ(status("DELETE", "/runs" + key + "?run=r"), 401u);
    EXPECT_EQ(status("POST", "/inputs" + key + "?run=r"), 401u);
    EXPECT_EQ(status("GET", "/events" + key + "?run=r"), 401u);
    EXPECT_EQ(status("POST", "/genkit" + key), 401u);
    EXPECT_EQ(status("POST", "/genkit" + key + "/getSnapshot"), 401u);
    EXPECT_EQ(status("POST", "/genkit" + key + "/abort"), 401u);
    EXPECT_EQ(status("GET", "/sessions" + key), 401u);
    EXPECT_EQ(status("POST", "/sessions" + key), 401u);
    EXPECT_EQ(status("PATCH", "/sessions" + key + "?session=s"), 401u);
    EXPECT_EQ(status("DELETE", "/sessions" + key + "?session=s"), 401u);
    EXPECT_EQ(status("GET", "/snapshots" + key + "?session=s"), 401u);
    EXPECT_EQ(status("PATCH", "/snapshots" + key + "?session=s"), 401u);
    EXPECT_EQ(status("GET", "/diffs" + key + "?session=s"), 401u);
    EXPECT_EQ(status("GET", "/exports" + key + "?session=s"), 401u);
  }
  EXPECT_EQ(status("GET", "/actions"), 401u);
  EXPECT_EQ(status("GET", "/openapi.json"), 200u) << "it is the same for all";
  EXPECT_EQ(status("GET", "/metrics"), 401u);
  EXPECT_EQ(status("GET", "/healthz"), 200u);
  EXPECT_EQ(status("GET", "/readyz"), 200u);
  EXPECT_EQ(status("GET", "/nothing"), 404u);
  EXPECT_EQ(inputs, 0);
}

} // namespace tertulia::test::web_caller_tests
