// SPDX-License-Identifier: BSD-3-Clause

// Connections and name lookups of the HTTP client, without a body.

#include <cstring>

#include "runtime/http_stream/transfer.hpp"
#include "support/http_server.hpp"
#include "support/openai_client.hpp"
#include "support/valve.hpp"
#include "support/without_threads.hpp"
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <netdb.h>

using namespace std::literals;

namespace tertulia::test::http_connections_tests {

namespace {

/// Replacement of the system's resolver while a test needs one.
struct resolver {
  std::mutex mutex;
  std::shared_ptr<valve> answer; // null: the system's
  std::atomic<int> asked = 0;
};

resolver& names() {
  static resolver instance;
  return instance;
}

} // namespace

} // namespace tertulia::test::http_connections_tests

/// Resolver of this process. libcurl calls it, too.
extern "C" int getaddrinfo(const char* host, const char* port,
                           const addrinfo* hints, addrinfo** result) {
  using tertulia::test::http_connections_tests::names;
  using function
    = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto real
    = reinterpret_cast<function>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  std::shared_ptr<tertulia::test::valve> answer;
  {
    const std::lock_guard guard{names().mutex};
    answer = names().answer;
  }
  if (!answer)
    return real(host, port, hints, result);
  ++names().asked;
  answer->wait();
  if (std::strcmp(host, "example.test") != 0)
    return EAI_NONAME;
  return real("127.0.0.1", port, hints, result);
}

namespace tertulia::test::http_connections_tests {

namespace {

struct http_connections : ::testing::Test {
  http_connections() {
    forget_openai_environment();
    options.connect_within = patience;
  }

  ~http_connections() override {
    replace_resolver(nullptr);
  }

  static void replace_resolver(std::shared_ptr<valve> answer) {
    const std::lock_guard guard{names().mutex};
    names().answer = std::move(answer);
    names().asked = 0;
  }

  std::shared_ptr<http::endpoint> endpoint(caf::timespan freshness = 30s) {
    return std::make_shared<http::endpoint>(options, freshness);
  }

  using transfer = std::shared_ptr<http::transfer>;

  static transfer get(const std::shared_ptr<http::endpoint>& from) {
    auto result = std::make_shared<http::transfer>(
      from, std::make_shared<const http_request>("GET", "/"));
    result->start();
    return result;
  }

  /// Waits until the requests that were started wait for their name, too: they
  /// begin one after the other on the I/O thread.
  static void wait_for_lookup(const http::endpoint& client) {
    gate begun;
    client.io->loop().post([begun] { begun.open(); });
    begun.wait();
    EXPECT_TRUE(eventually([] { return names().asked == 1; }));
  }

  /// Waits for the head of the answer, or for the error in its place.
  static http_head head_of(const transfer& x) {
    EXPECT_TRUE(eventually([&] { return x->is_ready(http::part::head); }));
    return x->take_head();
  }

  /// Returns a handler that answers, and reports when the client has closed the
  /// connection.
  static http_server::handler waiting(std::function<void()> report) {
    return [=](http_server::peer& client, const std::string&) {
      client.answer("200 OK", "");
      client.wait_until_closed();
      report();
      client.close();
    };
  }

  http_options options;
  std::shared_ptr<valve> answer = std::make_shared<valve>();
};

} // namespace

// -- names --------------------------------------------------------------------

TEST_F(http_connections, a_name_that_is_never_found_is_no_connection_in_time) {
  replace_resolver(answer);
  options.base_url = "http://example.test";
  options.connect_within = 10ms;
  EXPECT_EQ(error_text([&] { head_of(get(endpoint())); }),
            "deadline_exceeded: no connection to example.test:80 in time");
}

TEST_F(http_connections, requests_of_a_client_share_one_lookup) {
  http_server server{answering("200 OK")};
  replace_resolver(answer);
  options.base_url = "http://example.test:" + std::to_string(server.port());
  const auto client = endpoint();
  const std::vector<transfer> all{get(client), get(client), get(client)};
  wait_for_lookup(*client);
  answer->open();
  for (const auto& x : all)
    EXPECT_EQ(head_of(x).status, 200u);
  EXPECT_EQ(names().asked, 1);
}

TEST_F(http_connections, a_name_that_is_not_found_fails_all_that_wait_for_it) {
  replace_resolver(answer);
  options.base_url = "http://models.test";
  const auto client = endpoint();
  const std::vector<transfer> all{get(client), get(client), get(client)};
  wait_for_lookup(*client);
  answer->open();
  for (const auto& x : all)
    EXPECT_EQ(code_from([&] { head_of(x); }), errc::unavailable);
  EXPECT_EQ(names().asked, 1);
}

TEST_F(http_connections, a_lookup_that_cannot_begin_is_told) {
  replace_resolver(answer);
  options.base_url = "http://example.test";
  const auto client = endpoint();
  const without_threads now;
  EXPECT_EQ(code_from([&] { head_of(get(client)); }), errc::unavailable);
  EXPECT_EQ(names().asked, 0);
}

TEST_F(http_connections, an_address_needs_no_lookup) {
  http_server server{answering("200 OK")};
  replace_resolver(answer);
  options.base_url = server.url();
  EXPECT_EQ(head_of(get(endpoint())).status, 200u);
  EXPECT_EQ(names().asked, 0);
}

// -- idle connections ---------------------------------------------------------

TEST_F(http_connections, an_idle_connection_is_closed_in_time) {
  gate closed;
  http_server server{waiting([&] { closed.open(); })};
  options.base_url = server.url();
  const auto client = endpoint(10ms);
  EXPECT_EQ(head_of(get(client)).status, 200u);
  closed.wait();
}

TEST_F(http_connections, a_client_that_has_gone_closes_its_connections) {
  gate closed;
  http_server server{waiting([&] { closed.open(); })};
  options.base_url = server.url();
  EXPECT_EQ(head_of(get(endpoint(1h))).status, 200u);
  closed.wait();
}

TEST_F(http_connections, no_more_connections_are_kept_than_allowed) {
  constexpr std::size_t count = 4;
  valve all_there;
  std::atomic<std::size_t> closed = 0;
  const auto handle = waiting([&] { ++closed; });
  http_server server{[&](http_server::peer& client, const auto& request) {
    all_there.wait();
    handle(client, request);
  }};
  options.base_url = server.url();
  options.max_idle_connections = 1;
  const auto client = endpoint(1h);
  std::vector<transfer> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back(get(client));
  EXPECT_TRUE(eventually([&] { return server.requests().size() == count; }));
  all_there.open();
  for (const auto& x : all)
    EXPECT_EQ(head_of(x).status, 200u);
  EXPECT_TRUE(eventually([&] { return closed == count - 1; }));
}

} // namespace tertulia::test::http_connections_tests
