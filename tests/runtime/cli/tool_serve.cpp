// SPDX-License-Identifier: BSD-3-Clause

// `tertulia serve`: the agent of the chat behind a server.

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/threaded.hpp"
#include "support/tool_store.hpp"
#include "support/web_client.hpp"

namespace tertulia::test::tool_serve_tests {

namespace {

const std::string chat = "/actions/session-flow/chat";
const std::string hello
  = R"({"session":"s7","inputs":[{"messages":)"
    R"([{"role":"user","content":[{"text":"Hello"}]}]}]})";

struct tool_serve : a_tool {
  /// Returns the command of a server on a free port.
  strings serving(const strings& options = {}) const {
    return on_store(joined({"serve", "--port", "0"}, options));
  }

  /// Returns a client of a server that has started.
  static web_client client_of(tool_process& server) {
    const auto url = server.read_line();
    EXPECT_TRUE(has(url, "http://127.0.0.1:"));
    return web_client{
      static_cast<std::uint16_t>(std::stoul(url.substr(url.rfind(':') + 1)))};
  }

  /// Writes a file of tokens that only its owner may read.
  std::string tokens_file(const std::string& text) const {
    const auto path = file.string() + ".tokens";
    std::ofstream{path} << text;
    std::filesystem::permissions(path, std::filesystem::perms::owner_read
                                         | std::filesystem::perms::owner_write);
    return path;
  }
};

} // namespace

TEST_F(tool_serve, lets_clients_talk_to_the_agent) {
  tool_process server{on_pipes, serving()};
  auto client = client_of(server);
  const auto result = client.call("POST", chat, hello);
  EXPECT_EQ(result.status, 200u) << result.body;
  EXPECT_EQ(result.document()["output"]["sessionId"], "s7");
  EXPECT_EQ(client.call("GET", "/actions/tool/dice").status, 404u);
  server.send(SIGTERM);
  const auto ended = server.wait();
  EXPECT_EQ(ended.code, 0);
  EXPECT_TRUE(has(ended.err, "method=POST path=" + chat + " status=200 "));
  EXPECT_TRUE(has(output({"sessions", "show", "s7"}), "Hello"));
}

TEST_F(tool_serve, ends_when_it_is_interrupted) {
  tool_process server{on_pipes, serving({"--quiet", "--json"})};
  const auto place = json::parse(server.read_line());
  EXPECT_EQ(place["agent"], "/session-flow/chat");
  server.send(SIGINT);
  const auto ended = server.wait();
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.err, "");
}

TEST_F(tool_serve, tells_load_balancers_before_it_ends) {
  tool_process server{on_pipes, serving({"--stop-delay", "1h"})};
  auto client = client_of(server);
  EXPECT_EQ(client.call("GET", "/readyz").status, 200u);
  server.send(SIGTERM);
  EXPECT_TRUE(
    eventually([&] { return client.call("GET", "/readyz").status == 503; }));
  server.send(SIGTERM);
  EXPECT_NE(server.wait().code, 0) << "the second signal waits for nothing";
  EXPECT_EQ(run_process(serving({"--stop-delay", "soon"})).code, 2);
}

TEST_F(tool_serve, knows_callers_by_their_tokens) {
  const auto tokens = tokens_file("# callers\n\nana  0123456789abcdef \n"
                                  "rui fedcba9876543210\n");
  tool_process server{on_pipes, serving({"--tokens", tokens})};
  auto client = client_of(server);
  EXPECT_EQ(client.call("GET", "/actions").status, 401u);
  EXPECT_EQ(client
              .call("GET", "/actions", "",
                    "Authorization: Bearer fedcba9876543210\r\n")
              .status,
            200u);
  server.send(SIGTERM);
  const auto ended = server.wait();
  EXPECT_TRUE(has(ended.err, " caller=rui"));
  EXPECT_FALSE(has(ended.err, "fedcba"));
}

TEST_F(tool_serve, knows_what_belongs_to_tokens_of_a_login_server) {
  for (const auto* one : {"--jwt-keys", "--jwt-issuer", "--jwt-audience"})
    EXPECT_EQ(run_process(serving({one, "x"})).code, 2) << one;
  EXPECT_EQ(run_process(serving({"--metrics-for", "ana"})).code, 2);
  EXPECT_TRUE(run_process(serving({"--jwt-keys", "/nowhere", "--jwt-issuer",
                                   "x", "--jwt-audience", "y"}))
                .failed(3, "/nowhere"));
}

TEST_F(tool_serve, refuses_tokens_that_are_no_secrets) {
  const auto tokens = tokens_file("ana 0123456789abcdef\n");
  std::filesystem::permissions(tokens, std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  EXPECT_TRUE(run_process(serving({"--tokens", tokens}))
                .failed(1, "other users", "chmod 600"));
  for (const auto* text : {"ana\n", "ana 2short\n", "# nobody\n"}) {
    const auto result = run_process(serving({"--tokens", tokens_file(text)}));
    EXPECT_NE(result.code, 0) << text;
    EXPECT_FALSE(has(result.err, "2short")) << result.err;
  }
  EXPECT_TRUE(
    run_process(serving({"--tokens", "/nowhere"})).failed(3, "/nowhere"));
}

TEST_F(tool_serve, speaks_tls) {
  const auto folder = file.string() + ".ca";
  for (const auto& x :
       {strings{"pki", "init", folder}, strings{"pki", "issue", folder, "web"}})
    ASSERT_EQ(run_bare(x).code, 0);
  const strings with_tls{"--tls-certificate", folder + "/web.crt", "--tls-key",
                         folder + "/web.key"};
  tool_process server{on_pipes, serving(with_tls)};
  EXPECT_TRUE(has(server.read_line(), "https://127.0.0.1:"));
  std::filesystem::remove(folder + "/web.crt");
  server.send(SIGHUP); // is not able to read it again, and goes on
  server.send(SIGTERM);
  const auto ended = server.wait();
  EXPECT_EQ(ended.code, 0);
  EXPECT_TRUE(
    run_process(serving({"--tls-key", "x"})).failed(2, "need each other"));
  EXPECT_TRUE(run_process(serving(with_tls)).failed(1, "web.crt"));
}

TEST_F(tool_serve, refuses_an_address_that_it_cannot_use) {
  EXPECT_TRUE(
    run_process(serving({"--address", "0.0.0.0"})).failed(1, "needs tokens"));
  EXPECT_TRUE(run_process(serving({"--address", "here"})).failed(2, "here"));
  tool_process server{on_pipes, serving()};
  const auto url = server.read_line();
  EXPECT_TRUE(run_process(command({"serve", "--store", file.string() + "2",
                                   "--port", url.substr(url.rfind(':') + 1)}))
                .failed(1, "in use"));
}

} // namespace tertulia::test::tool_serve_tests
