// SPDX-License-Identifier: BSD-3-Clause

// What a web server records of its requests, and what it says of itself.

#include <tertulia/metrics.hpp>
#include <tertulia/span_recorder.hpp>

#include <memory>
#include <regex>
#include <sstream>
#include <string>

#include "runtime/http/routes/router.hpp"
#include "support/has.hpp"
#include "support/web_fixture.hpp"
#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>

using namespace std::literals;

namespace tertulia::test::web_record_tests {

namespace {

/// Log of a server as text, to be read when the server has ended.
struct text_log {
  std::ostringstream text;
  std::shared_ptr<spdlog::logger> log = std::make_shared<spdlog::logger>(
    "web", std::make_shared<spdlog::sinks::ostream_sink_mt>(text, true));
};

} // namespace

TEST_F(web, logs_requests_without_what_is_private) {
  const text_log to;
  {
    auto at = serve(
      {.tokens = {{"ann", "0123456789abcdef"}, {"bob?x", "fedcba9876543210"}},
       .log = to.log});
    at.call("POST", "/actions" + echo + "?x=private",
            R"({"inputs":["private"]})",
            "Authorization: Bearer 0123456789abcdef\r\n");
    at.call("GET", "/actions", {},
            "Authorization: Bearer fedcba9876543210\r\n");
    at.call("GET", "/a%0Ab");
    at.send("private\r\n\r\n");
    EXPECT_EQ(at.read().status, 400u);
    server.reset();
  }
  EXPECT_TRUE(has(to.text.str(),
                  "method=POST path=/actions/bidi-action/echo status=200 ms=",
                  " peer=127.0.0.1 caller=ann", " caller=bob?x", "path=/a%0Ab",
                  "status=400 ", " bytes="));
  EXPECT_FALSE(has(to.text.str(), "private"));
  EXPECT_FALSE(has(to.text.str(), "0123456789abcdef"));
}

TEST_F(web, logs_the_size_of_an_answer_and_its_trace) {
  const text_log to;
  const auto spans = std::make_shared<span_recorder>();
  const auto listening = rt.traces().listen(spans);
  std::size_t size = 0;
  {
    auto at = serve({.log = to.log});
    at.ask("POST", "/actions" + echo, "{}");
    const auto head = at.read_until("\r\n\r\n");
    size = head.size() + at.read_until("}").size();
    server.reset();
  }
  EXPECT_TRUE(has(to.text.str(), " bytes=" + std::to_string(size) + " "))
    << to.text.str();
  const std::regex trace{" trace=[0-9a-f]{32}\n"};
  EXPECT_TRUE(std::regex_search(to.text.str(), trace)) << to.text.str();
}

TEST_F(web, records_connections_that_it_refuses) {
  const text_log to;
  const tertulia::metrics numbers{rt};
  {
    auto at = serve(
      {.max_connections = 2, .metrics = numbers.reader(), .log = to.log});
    EXPECT_EQ(at.call("GET", "/healthz").status, 200u);
    auto second = client();
    EXPECT_EQ(second.call("GET", "/healthz").status, 200u);
    auto third = client();
    const auto refusal = third.read();
    EXPECT_EQ(refusal.status, 503u);
    EXPECT_EQ(refusal.field("Retry-After"), "1");
    EXPECT_EQ(refusal.document()["status"], "UNAVAILABLE");
    auto fourth = client(); // perhaps within the second without a line
    EXPECT_EQ(fourth.read().status, 503u);
    const auto text = at.call("GET", "/metrics").body;
    EXPECT_TRUE(has(text, "\ntertulia_http_connections 2\n",
                    R"(tertulia_http_requests_total{code="503",)"
                    R"(method="_OTHER",route="none"} 2)"))
      << text;
    server.reset();
  }
  const auto lines = to.text.str();
  const auto line = "status=503 peer=127.0.0.1 refused=1\n"s;
  const auto first = lines.find(line);
  EXPECT_NE(first, std::string::npos);
  EXPECT_NE(lines.find(line, first + 1), std::string::npos) << lines;
}

} // namespace tertulia::test::web_record_tests
