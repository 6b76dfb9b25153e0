// SPDX-License-Identifier: BSD-3-Clause

// Options of a model on a server, and their defaults in the environment.

#include "support/openai_client.hpp"

using namespace std::literals;

namespace tertulia::test::openai_options_tests {

namespace {

struct openai_options : openai_client {};

} // namespace

TEST_F(openai_options, options_that_make_no_sense_are_refused) {
  options.base_url = "http://127.0.0.1:1";
  using options_type = ai::openai_options;
  const std::vector<void (*)(options_type&)> changes{
    [](options_type& x) { x.model.clear(); },
    [](options_type& x) { x.base_url = "nowhere"; },
    [](options_type& x) { x.base_url = "http://key@a"; },
    [](options_type& x) { x.api_key = "a\r\nb"; },
    [](options_type& x) {
      x.headers = {{"X-A", "a\nb"}};
    },
    [](options_type& x) {
      x.headers = {{"X A", "b"}};
    },
    [](options_type& x) { x.total_within = 0s; },
    [](options_type& x) { x.max_retries = -1; },
    [](options_type& x) { x.max_line_size = 0; },
    [](options_type& x) { x.proxy = "https://a"; }};
  const auto good = options;
  for (const auto& change : changes) {
    options = good;
    change(options);
    EXPECT_EQ(code_from([&] { (void)define(); }), errc::invalid_argument)
      << &change - changes.data();
  }
  options = good;
  options.base_url = "https://a";
  options.ca_file = "/nonexistent/ca.pem";
  EXPECT_EQ(code_from([&] { (void)define(); }), errc::not_found);
  options.ca_file = "/"; // a folder
  EXPECT_EQ(code_from([&] { (void)define(); }), errc::failed_precondition);
  options.ca_file = "/dev/null"; // without a certificate
  EXPECT_EQ(code_from([&] { (void)define(); }), errc::invalid_argument);
}

TEST_F(openai_options, address_and_key_may_be_in_the_environment) {
  serve(say_hello);
  ::setenv("OPENAI_BASE_URL", options.base_url.c_str(), 1);
  ::setenv("OPENAI_API_KEY", "sk-1", 1);
  ::setenv("TERTULIA_TEST_KEY", "sk-2", 1);
  options.base_url.clear();
  options.api_key.clear();
  const auto first = define();
  options.api_key_variable = "TERTULIA_TEST_KEY";
  const auto second = define();
  forget_openai_environment();
  EXPECT_EQ(hear(first).code(), errc::ok);
  EXPECT_EQ(hear(second).code(), errc::ok);
  const auto requests = server->requests();
  EXPECT_TRUE(has(requests.at(0), ": Bearer sk-1\r\n"));
  EXPECT_TRUE(has(requests.at(1), ": Bearer sk-2\r\n"));
}

TEST_F(openai_options, who_needs_no_key_sends_none) {
  options.api_key.clear();
  EXPECT_EQ(ask(say_hello).code(), errc::ok);
  EXPECT_FALSE(has(server->requests().at(0), "Authorization"));
}

TEST_F(openai_options, a_proxy_may_be_in_the_environment) {
  serve(answering("407 Who are you"));
  options.base_url = "https://models.invalid/v1";
  const auto where = "127.0.0.1:" + std::to_string(server->port());
  for (const auto& proxy : {where, "http://" + where}) {
    ::setenv("HTTPS_PROXY", proxy.c_str(), 1);
    const auto model = define();
    forget_openai_environment();
    EXPECT_EQ(hear(model).code(), errc::permission_denied);
    EXPECT_TRUE(server->requests().back().starts_with(
      "CONNECT models.invalid:443 HTTP/1.1\r\n"));
  }
  EXPECT_EQ(server->requests().size(), 2u);
}

TEST_F(openai_options, a_server_may_be_excepted_from_the_proxy) {
  options.max_retries = 0;
  serve([](http_peer& client, const auto&) { client.wait_until_closed(); });
  const auto port = std::to_string(server->port());
  options.base_url = "https://127.0.0.1:" + port;
  ::setenv("HTTPS_PROXY", "127.0.0.1:1", 1);
  for (const auto& list : {"127.0.0.1:1"s, "127.0.0.1:" + port}) {
    ::setenv("NO_PROXY", list.c_str(), 1);
    // Either a server that accepts and sends nothing, or no server.
    options.connect_within = list.ends_with(port) ? 50ms : patience;
    const auto model = define();
    EXPECT_EQ(hear(model).code(), list.ends_with(port) ? errc::deadline_exceeded
                                                       : errc::unavailable);
  }
  forget_openai_environment();
}

TEST_F(openai_options, a_variable_that_is_no_url_is_named) {
  options.base_url = "https://models.invalid";
  for (const auto* name : {"HTTPS_PROXY", "https_proxy", "OPENAI_BASE_URL"}) {
    if (name == "OPENAI_BASE_URL"s)
      options.base_url.clear();
    ::setenv(name, "ftp://proxy", 1);
    const auto said = refusal([&] { (void)define(); });
    forget_openai_environment();
    EXPECT_TRUE(said.starts_with(name + ": a URL "s)) << said;
  }
}

TEST_F(openai_options, its_description_does_not_have_the_key) {
  options.base_url = "http://127.0.0.1:1";
  const auto text = to_json_text(define().info());
  EXPECT_TRUE(has(text, "m at 127.0.0.1:1"));
  EXPECT_FALSE(has(text, "sk-secret"));
}

} // namespace tertulia::test::openai_options_tests
