// SPDX-License-Identifier: BSD-3-Clause

// Requests of clients that know the server, and of those that do not.

#include "support/has.hpp"
#include "support/web_fixture.hpp"

using namespace std::literals;

namespace tertulia::test::http_server_tests {

// -- actions ------------------------------------------------------------------

TEST_F(web, lists_and_describes_actions) {
  auto at = serve();
  const auto all = at.call("GET", "/actions").document()["actions"];
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1]["key"], counter);
  EXPECT_EQ(all[1]["description"], "Counts");
  const auto one = at.call("GET", "/actions" + counter).document();
  EXPECT_EQ(one["inputSchema"]["type"], "integer");
}

TEST_F(web, runs_an_action_once) {
  auto at = serve();
  const auto result
    = at.call("POST", "/actions" + counter, R"({"inputs":[2,3]})");
  EXPECT_EQ(result.status, 200u);
  EXPECT_EQ(result.field("Content-Type"), "application/json");
  EXPECT_EQ(result.document()["output"], 5);
  EXPECT_EQ(inputs, 2);
  EXPECT_EQ(at.call("POST", "/actions" + echo).document()["output"], "nothing");
}

TEST_F(web, streams_an_action) {
  auto at = serve();
  const auto result = at.call("POST", "/actions" + counter, R"({"inputs":[2]})",
                              "Accept: text/event-stream\r\n");
  EXPECT_EQ(result.status, 200u);
  EXPECT_EQ(result.field("Content-Type"), "text/event-stream");
  EXPECT_TRUE(
    has(result.body, "event: opened\n", "event: chunks\nid: 2\ndata: [0,1]\n\n",
        "event: turnEnd\nid: 3\n", "event: output\nid: 3\ndata: 2\n\n"))
    << result.body;
}

TEST_F(web, reports_errors_of_an_action) {
  auto at = serve();
  const auto failed
    = at.call("POST", "/actions" + echo, R"({"inputs":["fail"]})");
  EXPECT_EQ(failed.status, 400u);
  EXPECT_EQ(failed.document(),
            json::parse(R"({"status":"OUT_OF_RANGE","message":"too far",
                            "details":{"by":3}})"));
  const auto crashed
    = at.call("POST", "/actions" + echo, R"({"inputs":["crash"]})");
  EXPECT_EQ(crashed.status, 500u);
  EXPECT_FALSE(has(crashed.body, "secret"));
  const auto refused
    = at.call("POST", "/actions" + counter, R"({"inputs":["two"]})");
  EXPECT_EQ(refused.status, 400u);
  EXPECT_EQ(refused.document()["status"], "INVALID_ARGUMENT");
}

TEST_F(web, names_no_file_of_a_store) {
  rt.define_bidi_flow(
    "broken", [](context, input<int>, output<int>) -> task<int> {
      throw status_error{errc::data_loss,
                         "/srv/a.db: is malformed, see /srv/a.db-wal",
                         R"({"file":"/srv/a.db","sqlite":11})"};
      co_return 0;
    });
  const auto answer
    = serve().call("POST", "/actions/bidi-flow/broken", R"({"inputs":[]})");
  EXPECT_EQ(answer.document()["message"],
            "the file: is malformed, see the file-wal");
  EXPECT_EQ(answer.document()["details"], (json{{"sqlite", 11}}));
}

TEST_F(web, cancels_the_run_of_a_client_that_goes) {
  auto at = serve();
  begin_to_sleep(at);
  at.close();
  EXPECT_TRUE(eventually([] { return witness::alive() == 0; }));
}

// -- Genkit's clients ---------------------------------------------------------

TEST_F(web, serves_run_flow_of_genkit) {
  auto at = serve();
  EXPECT_EQ(at.call("POST", "/genkit" + echo, R"({"data":"hi"})").body,
            R"({"result":"hi"})");
  const auto failed = at.call("POST", "/genkit" + echo, R"({"data":"fail"})");
  EXPECT_EQ(failed.status, 400u);
  EXPECT_EQ(failed.document()["status"], "OUT_OF_RANGE");
}

TEST_F(web, serves_stream_flow_of_genkit) {
  auto at = serve();
  const auto accept = "Accept: text/event-stream\r\n"s;
  EXPECT_EQ(at.call("POST", "/genkit" + counter, R"({"data":2})", accept).body,
            "data: {\"message\":0}\n\ndata: {\"message\":1}\n\n"
            "data: {\"result\":2}\n\n");
  EXPECT_EQ(at.call("POST", "/genkit" + echo, R"({"data":"hé"})", accept).body,
            "data: {\"result\":\"h\\u00e9\"}\n\n");
  const auto failed
    = at.call("POST", "/genkit" + echo, R"({"data":"fail"})", accept);
  EXPECT_EQ(failed.status, 200u);
  EXPECT_TRUE(failed.body.starts_with("error: {\"error\":{"));
}

// -- connections --------------------------------------------------------------

TEST_F(web, answers_requests_in_a_row) {
  auto at = serve();
  for (int i = 0; i < 3; ++i)
    at.ask("GET", "/healthz");
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(at.read().status, 200u);
  const auto last = at.call("GET", "/healthz", {}, "Connection: close\r\n");
  EXPECT_EQ(last.field("Connection"), "close");
  EXPECT_TRUE(at.has_ended());
}

TEST_F(web, answers_what_a_browser_asks_first) {
  auto at = serve({.origins = {"https://a.example"}});
  const auto allowed = at.call("OPTIONS", "/runs" + counter, {},
                               "Origin: https://a.example\r\n");
  EXPECT_EQ(allowed.status, 204u);
  EXPECT_EQ(allowed.field("Content-Length"), "") << "it has no body";
  EXPECT_EQ(allowed.field("Access-Control-Allow-Origin"), "https://a.example");
  EXPECT_TRUE(has(allowed.field("Allow"), "GET", "POST", "DELETE"));
  const auto head = at.call("HEAD", "/healthz");
  EXPECT_EQ(head.status, 200u);
  EXPECT_NE(head.field("Content-Length"), "0");
  EXPECT_EQ(at.call("GET", "/readyz").status, 200u);
}

TEST_F(web, says_what_is_wrong) {
  auto at = serve();
  EXPECT_EQ(at.call("GET", "/nowhere").status, 404u);
  const auto wrong = at.call("PUT", "/actions" + counter, "{}");
  EXPECT_EQ(wrong.status, 405u);
  EXPECT_EQ(wrong.field("Allow"), "GET, POST, OPTIONS");
  EXPECT_EQ(at.call("GET", "/actions/bidi-flow/none").status, 404u);
  EXPECT_EQ(at.call("POST", "/actions" + counter, "{").status, 400u);
  EXPECT_EQ(at.call("POST", "/actions" + counter, R"({"inptus":[]})").status,
            400u);
  EXPECT_EQ(at.call("GET", "/talk" + counter).status, 426u);
  EXPECT_EQ(at.call("GET", "/actions/%zz").status, 400u);
  EXPECT_EQ(at.call("GET", "/actions/%ff").status, 400u);
}

TEST_F(web, refuses_what_is_too_large) {
  auto at = serve({.max_header = 1'024, .max_body = 100});
  EXPECT_EQ(at.call("POST", "/actions" + echo, std::string(101, ' ')).status,
            413u);
  EXPECT_TRUE(at.has_ended());
  auto other = client();
  EXPECT_EQ(
    other.call("GET", "/healthz", {}, "X: " + std::string(2'000, 'x') + "\r\n")
      .status,
    431u);
  auto third = client();
  third.send("POST /actions HTTP/1.1\r\nHost: localhost\r\n"
             "Transfer-Encoding: chunked\r\n\r\n"
             "65\r\n"
             + std::string(101, ' ') + "\r\n0\r\n\r\n");
  EXPECT_EQ(third.read().status, 413u);
  auto fourth = client();
  fourth.send("no request\r\n\r\n");
  EXPECT_EQ(fourth.read().status, 400u);
}

TEST_F(web, limits_connections) {
  auto at = serve({.max_connections = 2});
  EXPECT_EQ(at.call("GET", "/healthz").status, 200u);
  auto second = client();
  EXPECT_EQ(second.call("GET", "/healthz").status, 200u);
  EXPECT_EQ(client().read().status, 503u);
  second.close();
  EXPECT_TRUE(eventually([&] {
    auto third = client();
    third.ask("GET", "/healthz");
    return third.read().status == 200u;
  }));
}

TEST_F(web, limits_connections_of_one_address) {
  auto at = serve({.max_connections_per_address = 1});
  EXPECT_EQ(at.call("GET", "/healthz").status, 200u);
  const auto refused = client().read();
  EXPECT_EQ(refused.status, 429u);
  EXPECT_EQ(refused.field("Retry-After"), "1");
}

TEST_F(web, ends_the_connection_of_a_client_that_is_slow) {
  serve({.request_within = 50ms, .idle_within = 50ms});
  EXPECT_TRUE(client().has_ended());
  auto slow = client();
  slow.send("GET /healthz HT");
  EXPECT_TRUE(slow.has_ended());
}

TEST_F(web, asks_a_client_to_go_on) {
  auto at = serve();
  at.send("POST /actions" + echo
          + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n"
            "Expect: 100-continue\r\n\r\n");
  EXPECT_TRUE(has(at.read_until("\r\n\r\n"), "100 Continue"));
  at.send("{}");
  EXPECT_EQ(at.read().status, 200u);
}

// -- who may ------------------------------------------------------------------

TEST_F(web, serves_only_what_is_exposed) {
  auto at = serve({.expose = {echo}});
  EXPECT_EQ(at.call("GET", "/actions").document()["actions"].size(), 1u);
  EXPECT_EQ(at.call("POST", "/actions" + counter).status, 404u);
  EXPECT_EQ(at.call("POST", "/genkit" + counter, "{}").status, 404u);
  EXPECT_EQ(at.call("GET", "/runs" + counter + "?run=x").status, 404u);
  EXPECT_EQ(at.call("POST", "/actions" + echo).status, 200u);
}

TEST_F(web, needs_the_token_of_a_caller) {
  auto at = serve({.tokens = {{"ann", "0123456789abcdef"}}});
  const auto refused = at.call("GET", "/actions");
  EXPECT_EQ(refused.status, 401u);
  EXPECT_EQ(refused.field("WWW-Authenticate"), "Bearer");
  const auto with = [&](const std::string& text) {
    return at.call("GET", "/actions", {}, "Authorization: " + text + "\r\n")
      .status;
  };
  EXPECT_EQ(with("Bearer 0123456789abcdef"), 200u);
  EXPECT_EQ(with("bearer 0123456789abcdef"), 200u);
  EXPECT_EQ(with("Bearer 0123456789abcdeF"), 401u);
  EXPECT_EQ(with("Bearer "), 401u);
  EXPECT_EQ(with("Basic 0123456789abcdef"), 401u);
  EXPECT_EQ(at.call("GET", "/healthz").status, 200u);
}

TEST_F(web, refuses_pages_of_other_sites) {
  auto at = serve();
  const auto from = [&](const std::string& fields) {
    return at.call("POST", "/actions" + echo, "{}", fields).status;
  };
  EXPECT_EQ(from("Origin: http://evil.example\r\n"), 403u);
  EXPECT_EQ(from("Origin: null\r\n"), 403u);
  EXPECT_EQ(from("Origin: http://localhost\r\n"), 200u);
  auto rebound = client();
  rebound.send("GET /actions HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  EXPECT_EQ(rebound.read().status, 403u);
  const auto from_afar
    = [](auto& request) { request.set("Origin", "http://evil.example"); };
  EXPECT_THROW((web_talk{server->port(), "/talk" + counter, from_afar}),
               boost::system::system_error);
}

TEST_F(web, refuses_options_that_are_not_safe) {
  const auto code_of_options = [&](http_server_options x) {
    return code_from([&] { serve(std::move(x)); });
  };
  EXPECT_EQ(code_of_options({.address = "0.0.0.0"}), errc::failed_precondition);
  EXPECT_EQ(code_of_options(
              {.address = "0.0.0.0", .tokens = {{"ann", "0123456789abcdef"}}}),
            errc::failed_precondition);
  EXPECT_EQ(code_of_options({.tokens = {{"ann", "short"}}}),
            errc::invalid_argument);
  EXPECT_EQ(code_of_options({.address = "nowhere"}), errc::invalid_argument);
  EXPECT_EQ(code_of_options({.expose = {"echo"}}), errc::invalid_argument);
  // The fixture adds it, too.
  EXPECT_EQ(code_of_options({.protocols = {genkit_protocol()}}),
            errc::invalid_argument);
  EXPECT_EQ(code_of_options({.threads = 0}), errc::invalid_argument);
  serve();
  EXPECT_EQ(code_from([&] {
              tertulia::http_server{rt, {.port = server->port()}};
            }),
            errc::unavailable);
}

TEST_F(web, takes_an_empty_line_in_two_segments) {
  auto at = serve();
  at.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n\r");
  EXPECT_EQ(at.read().status, 200u);
  at.send("\n");
  EXPECT_EQ(at.call("GET", "/healthz").status, 200u);
}

} // namespace tertulia::test::http_server_tests
