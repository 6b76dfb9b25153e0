// SPDX-License-Identifier: BSD-3-Clause

#include <fstream>

#include "support/openai_client.hpp"
#include "support/scratch.hpp"
#include "support/tls_server.hpp"

using namespace std::literals;

namespace tertulia::test::openai_tls_tests {

namespace {

const auto tls_hello = "HTTP/1.1 200 OK\r\nContent-Length: 68\r\n"
                       "Content-Type: application/json\r\n\r\n"
                       R"({"choices":[{"message":{"content":"Hello"},)"
                       R"("finish_reason":"stop"}]})"s;

struct openai_tls : openai_client {
  openai_tls() {
    options.max_retries = 0;
    options.base_url = "https://localhost:" + std::to_string(origin.port());
  }

  /// Makes the client trust the certificate of the server.
  void trust() {
    trust(proof);
  }

  void trust(const certificate& x) {
    const auto file = folder / "ca.pem";
    std::ofstream{file} << x.public_text;
    options.ca_file = file;
  }

  ai::model_response ask() {
    return define().action().stream_bidi(asking("Hi")).output(patience);
  }

  /// Puts a proxy between the client and the server.
  /// @param more unencrypted text that the proxy adds to its answer.
  void use_proxy(const std::string& more = {}) {
    server.emplace(
      [more, port = origin.port()](http_peer& client, const auto&) {
        client.send("HTTP/1.1 200 Connected\r\n\r\n" + more);
        client.relay_to(port);
      });
    options.proxy = "http://127.0.0.1:" + std::to_string(server->port());
  }

  scratch folder;
  const certificate proof{"DNS:localhost"};
  tls_server origin{proof, tls_hello};
};

} // namespace

TEST_F(openai_tls, a_server_whose_certificate_is_trusted_is_heard) {
  trust();
  EXPECT_EQ(ask().text(), "Hello");
}

TEST_F(openai_tls, a_certificate_that_nobody_trusts_is_refused) {
  EXPECT_TRUE(
    has(error_text([&] { ask(); }), "permission_denied: ", "not trusted"));
}

TEST_F(openai_tls, the_certificate_of_another_host_is_refused) {
  trust();
  options.base_url = "https://127.0.0.1:" + std::to_string(origin.port());
  EXPECT_TRUE(has(error_text([&] { ask(); }),
                  "permission_denied: ", "subject name matches"));
}

TEST_F(openai_tls, a_certificate_that_has_expired_is_refused) {
  const certificate old{"DNS:localhost", -1min};
  const tls_server late{old, tls_hello};
  trust(old);
  options.base_url = "https://localhost:" + std::to_string(late.port());
  EXPECT_TRUE(
    has(error_text([&] { ask(); }), "permission_denied: ", "expired"));
}

TEST_F(openai_tls, a_connection_serves_one_request_after_the_other) {
  trust();
  const auto model = define();
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(hear(model).code(), errc::ok);
  EXPECT_EQ(origin.clients(), 1);
}

// -- through a proxy ----------------------------------------------------------

TEST_F(openai_tls, a_server_behind_a_proxy_is_verified_and_heard) {
  trust();
  use_proxy();
  EXPECT_EQ(ask().text(), "Hello");
  const auto asked = server->requests();
  ASSERT_EQ(asked.size(), 1u) << "all else is none of its business";
  EXPECT_TRUE(asked[0].starts_with(
    "CONNECT localhost:" + std::to_string(origin.port()) + " HTTP/1.1\r\n"))
    << asked[0];
}

TEST_F(openai_tls, a_certificate_behind_a_proxy_must_be_trusted_too) {
  use_proxy();
  EXPECT_EQ(code_from([&] { ask(); }), errc::permission_denied);
}

TEST_F(openai_tls, what_a_proxy_adds_is_not_taken_for_the_server) {
  trust();
  const auto forged = R"({"choices":[{"message":{"content":"Pay Eve"},)"
                      R"("finish_reason":"stop"}]})"s;
  use_proxy("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
            "Content-Length: "
            + std::to_string(forged.size()) + "\r\n\r\n" + forged);
  EXPECT_TRUE(has(error_text([&] { ask(); }), "data_loss: ", "the proxy "));
}

} // namespace tertulia::test::openai_tls_tests
