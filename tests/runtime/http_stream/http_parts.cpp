// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/json.hpp>

#include "runtime/http_stream/event_parser.hpp"
#include "runtime/http_stream/failure.hpp"
#include "runtime/http_stream/retry_policy.hpp"
#include "runtime/http_stream/url.hpp"
#include "support/refusal.hpp"
#include <gtest/gtest.h>

using namespace std::literals;

namespace tertulia::test::http_parts_tests {

namespace {

/// Returns the events in a text that arrives in these two pieces.
std::vector<http_event> http_events_in(std::string_view first,
                                       std::string_view second) {
  http::event_parser parser{1'000};
  parser.feed(first);
  parser.feed(second);
  std::vector<http_event> result;
  while (auto x = parser.next())
    result.push_back(*x);
  return result;
}

} // namespace

// -- URLs ---------------------------------------------------------------------

TEST(http_url, its_parts_are_found) {
  const auto plain = http::parse_url("http://localhost:8080/v1/");
  EXPECT_FALSE(plain.secure);
  EXPECT_EQ(plain.host, "localhost");
  EXPECT_EQ(plain.port, "8080");
  EXPECT_EQ(plain.path, "/v1");
  EXPECT_EQ(plain.authority(), "localhost:8080");
  EXPECT_EQ(plain.text(), "http://localhost:8080/v1");
  const auto secure = http::parse_url("https://u:p@example.org");
  EXPECT_TRUE(secure.secure);
  EXPECT_EQ(secure.user, "u");
  EXPECT_EQ(secure.password, "p");
  EXPECT_EQ(secure.authority(), "example.org");
  EXPECT_EQ(secure.endpoint(), "example.org:443");
  EXPECT_EQ(secure.text(), "https://example.org:443");
  EXPECT_EQ(http::parse_url("http://[::1]:80/x").authority(), "[::1]");
}

TEST(http_url, a_text_that_is_not_a_url_is_refused_without_repeating_it) {
  for (const auto* x :
       {"", "example.org", "ftp://secret", "http://", "http://secret:0",
        "http://secret:99999", "http://secret:1x", "http://se cret",
        "http://secret\r\n", "http://[secret", "http://a/?secret"}) {
    const auto said = refusal([&] { http::parse_url(x); });
    EXPECT_TRUE(said.starts_with("a URL ")) << x;
    EXPECT_FALSE(has(said, "secret")) << x;
  }
}

TEST(http_url, exceptions_from_a_proxy_lose_ports_and_brackets) {
  const auto of = [](const char* list, const std::string& host) {
    return http::exceptions_for(list, http::parse_url("https://" + host));
  };
  EXPECT_EQ(of("a, *", "example.org"), "*");
  EXPECT_EQ(of("a, Example.org", "a"), "a,Example.org,");
  EXPECT_EQ(of(",,", "a"), "");
  EXPECT_EQ(of("", "a"), "");
  EXPECT_EQ(of("example.org:443", "a"), "example.org,");
  EXPECT_EQ(of("example.org:443", "a:8443"), "");
  for (const auto* list : {"::1", "[::1]", "[::1]:443"})
    EXPECT_EQ(of(list, "[::1]"), "::1,") << list;
  EXPECT_EQ(of("[::1]:8443", "[::1]"), "");
}

TEST(http_url, a_proxy_needs_no_scheme_and_may_have_any_password) {
  const auto proxy = http::parse_proxy("me:p%40ss%3a%2F@proxy:3128");
  EXPECT_FALSE(proxy.secure);
  EXPECT_EQ(proxy.endpoint(), "proxy:3128");
  EXPECT_EQ(proxy.user, "me");
  EXPECT_EQ(proxy.password, "p@ss:/");
  EXPECT_EQ(http::parse_proxy("http://proxy").endpoint(), "proxy:80");
  for (const auto* x : {"https://secret", "se cret@a", ":"})
    EXPECT_FALSE(has(refusal([&] { http::parse_proxy(x); }), "secret"));
}

// -- events -------------------------------------------------------------------

TEST(http_events, they_are_the_same_wherever_the_bytes_are_split) {
  const auto text = "\r\ndata: caf\xC3\xA9\r\n\r\n: comment\n\n"
                    "event: x\r\ndata:one\r\ndatabase: x\ndata: two\r\r"
                    "id: 7\n\nevent: no data\n\n"
                    "data\n\ndata: [DONE]\n\ndata: no end"s;
  const std::vector<http_event> expected{{"message", "caf\xC3\xA9"},
                                         {"x", "one\ntwo"},
                                         {"message", ""},
                                         {"message", "[DONE]"}};
  for (std::size_t i = 0; i <= text.size(); ++i)
    EXPECT_EQ(http_events_in(std::string_view{text}.substr(0, i),
                             std::string_view{text}.substr(i)),
              expected)
      << "split at " << i;
}

TEST(http_events, a_line_and_an_event_have_their_limits) {
  http::event_parser line{10};
  line.feed("data: 7890");
  EXPECT_EQ(code_from([&] { line.feed("1"); }), errc::resource_exhausted);
  http::event_parser event{10};
  event.feed("data: 123\ndata: 456\n");
  EXPECT_EQ(code_from([&] { event.feed("data:7890\n"); }),
            errc::resource_exhausted);
}

// -- retries ------------------------------------------------------------------

TEST(http_retry, the_pause_doubles_up_to_its_limit_and_varies) {
  http_options options;
  options.first_retry_after = 100ms;
  options.max_retry_after = 1s;
  options.max_retries = 6;
  const auto pause = [&](int retry, double fraction) {
    return http::pause_before(retry, 0s, fraction, options);
  };
  EXPECT_EQ(pause(0, 0), 50ms);
  EXPECT_EQ(pause(1, 0), 100ms);
  EXPECT_EQ(pause(1, 0.5), 150ms);
  EXPECT_EQ(pause(5, 0), 500ms);
  EXPECT_FALSE(pause(6, 0));
}

TEST(http_retry, the_server_is_given_the_time_it_asks_for_within_limits) {
  http_options options;
  options.first_retry_after = 100ms;
  options.max_retry_after = 10s;
  EXPECT_EQ(http::pause_before(0, 7s, 0, options), 7s);
  EXPECT_EQ(http::pause_before(0, 0s, 0, options), 50ms);
  EXPECT_FALSE(http::pause_before(0, 11s, 0, options));
}

// -- failures -----------------------------------------------------------------

TEST(http_failure, each_status_has_its_code) {
  const auto code = [](unsigned x) { return http::failure_of(x, "").code(); };
  EXPECT_EQ(code(400), errc::invalid_argument);
  EXPECT_EQ(code(401), errc::unauthenticated);
  EXPECT_EQ(code(403), errc::permission_denied);
  EXPECT_EQ(code(404), errc::not_found);
  EXPECT_EQ(code(429), errc::resource_exhausted);
  EXPECT_EQ(code(500), errc::internal);
  EXPECT_EQ(code(503), errc::unavailable);
  EXPECT_EQ(code(302), errc::failed_precondition);
}

TEST(http_failure, what_the_server_says_is_told_but_tamed) {
  const auto error
    = http::failure_of(429, R"({"error":{"message":"slow down"}})");
  EXPECT_EQ(error.message(), "the server answers with status 429: slow down");
  EXPECT_EQ(error.details(), R"({"error":"slow down","status":429})");
  EXPECT_EQ(http::failure_of(500, "<html>").message(),
            "the server answers with status 500");
  const auto odd
    = http::failure_of(500, json{{"error", std::string(100'000, 'x')}}.dump());
  EXPECT_LT(odd.message().size(), 1'000u);
  EXPECT_TRUE(json::accept(odd.details()));
}

TEST(http_failure, the_key_is_taken_out_of_errors) {
  const status_error error{errc::unauthenticated, "bad key sk-1: sk-1"};
  const auto safe = http::presentable(error, {"sk-1", "never said"});
  EXPECT_EQ(error_text(safe), "unauthenticated: bad key ***: ***");
}

TEST(http_failure, no_key_hides_behind_escapes_or_at_the_end_of_a_text) {
  const auto key = R"(sk-"\-secret)"s;
  for (const auto size : {0, 490, 495, 499}) {
    const auto error = http::failure_of(
      401, json{{"error", std::string(size, '!') + key}}.dump(), {key});
    for (const auto& text : {error.message(), error.details()})
      EXPECT_FALSE(has(text, "sk-"));
    EXPECT_TRUE(json::accept(error.details()));
  }
}

} // namespace tertulia::test::http_parts_tests
