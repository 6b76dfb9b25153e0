// SPDX-License-Identifier: BSD-3-Clause

// An HTTP server for the callers of a login server.

#include <tertulia/config.hpp>
#include <tertulia/http_server.hpp>
#include <tertulia/jwt_verifier.hpp>
#include <tertulia/runtime.hpp>

#include <fstream>

#include "support/scratch.hpp"
#include "support/web_client.hpp"
#include <gtest/gtest.h>

namespace tertulia::test::jwt_server_tests {

namespace {

// The public key of RFC 7515, appendix A.3.
constexpr auto public_keys = R"({"keys": [{
  "kty": "EC", "crv": "P-256", "kid": "e",
  "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
  "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
}]})";

} // namespace

TEST(jwt_server, refuses_clients_without_a_token_of_the_login_server) {
  const scratch folder;
  const auto keys = (folder / "keys.json").string();
  std::ofstream{keys} << public_keys;
  config cfg;
  caf::actor_system system{cfg};
  runtime rt{system};
  // --(serve-begin)--
  tertulia::jwt_verifier login{
    {.keys = keys, .issuer = "https://login.example.org", .audience = "chat"}};
  const tertulia::http_server web{rt, {.authenticate = login}};
  // --(serve-end)--
  EXPECT_EQ(web_client{web.port()}.call("GET", "/actions").status, 401u);
  const auto guess = "Authorization: Bearer a.guess.of-the-token\r\n";
  EXPECT_EQ(web_client{web.port()}.call("GET", "/actions", {}, guess).status,
            401u);
}

} // namespace tertulia::test::jwt_server_tests
