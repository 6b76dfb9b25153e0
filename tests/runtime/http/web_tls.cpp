// SPDX-License-Identifier: BSD-3-Clause

// Clients that speak TLS to the server.

#include <fstream>
#include <memory>

#include "support/scratch.hpp"
#include "support/tls_server.hpp"
#include "support/web_fixture.hpp"
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/websocket/ssl.hpp>

using namespace std::literals;

namespace tertulia::test::web_tls_tests {

namespace {

namespace ssl = boost::asio::ssl;
namespace beast = boost::beast;
using tcp = boost::asio::ip::tcp;

/// Client that trusts one certificate.
class tls_client {
public:
  tls_client(std::uint16_t port, const certificate& trusted)
    : stream_(io_, context_) {
    context_.add_certificate_authority(
      boost::asio::buffer(trusted.public_text));
    stream_.set_verify_mode(ssl::verify_peer);
    stream_.next_layer().connect(
      {boost::asio::ip::address_v4::loopback(), port});
    stream_.handshake(ssl::stream_base::client);
  }

  void ask(const std::string& method, const std::string& target,
           const std::string& body = {}, const std::string& fields = {}) {
    boost::asio::write(
      stream_, boost::asio::buffer(
                 method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n"
                 + fields + "Content-Length: " + std::to_string(body.size())
                 + "\r\n\r\n" + body));
  }

  beast::http::response<beast::http::string_body>
  call(const std::string& method, const std::string& target,
       const std::string& body = {}, const std::string& fields = {}) {
    ask(method, target, body, fields);
    beast::http::response<beast::http::string_body> result;
    beast::http::read(stream_, buffer_, result);
    return result;
  }

  ssl::stream<tcp::socket>& stream() noexcept {
    return stream_;
  }

  /// Returns whether the server has ended the connection as TLS wants it.
  bool has_ended() {
    char byte = 0;
    boost::system::error_code problem;
    boost::asio::read(stream_, boost::asio::buffer(&byte, 1), problem);
    return problem == boost::asio::error::eof;
  }

private:
  boost::asio::io_context io_;
  ssl::context context_{ssl::context::tls_client};
  ssl::stream<tcp::socket> stream_;
  beast::flat_buffer buffer_;
};

struct web_tls : web {
  /// Writes a certificate and its key to the files of the server.
  void write(const certificate& x) const {
    std::ofstream{folder / "web.crt"} << x.public_text;
    std::ofstream{folder / "web.key"} << x.private_text;
  }

  void serve_with_tls(http_server_options options = {}) {
    options.certificate = folder / "web.crt";
    options.key = folder / "web.key";
    server.emplace(rt, std::move(options));
  }

  tls_client client(const certificate& trusted) const {
    return {server->port(), trusted};
  }

  scratch folder;
  const certificate first{"DNS:localhost"};
};

} // namespace

TEST_F(web_tls, serves_requests_one_after_another) {
  write(first);
  serve_with_tls();
  EXPECT_TRUE(server->url().starts_with("https://127.0.0.1:"));
  auto at = client(first);
  EXPECT_EQ(at.call("GET", "/healthz").result_int(), 200u);
  EXPECT_EQ(
    json::parse(at.call("POST", "/actions" + counter, R"({"inputs":[2,3]})")
                  .body())["output"],
    5);
  const auto events
    = at.call("POST", "/actions" + counter, R"({"inputs":[40000]})",
              "Accept: text/event-stream\r\n");
  EXPECT_TRUE(events.body().ends_with("data: 40000\n\n"));
  const auto last
    = at.call("GET", "/healthz", {}, "Connection: close\r\n").result_int();
  EXPECT_EQ(last, 200u);
  EXPECT_TRUE(at.has_ended());
}

TEST_F(web_tls, serves_web_sockets) {
  write(first);
  serve_with_tls();
  auto at = client(first);
  beast::websocket::stream<ssl::stream<tcp::socket>&> socket{at.stream()};
  socket.handshake("localhost", "/talk" + counter);
  socket.write(boost::asio::buffer(R"({"open":{"inputs":[3],"close":true}})"s));
  std::string last;
  boost::system::error_code problem;
  for (beast::flat_buffer buffer; !problem; buffer.clear()) {
    socket.read(buffer, problem);
    if (!problem)
      last = beast::buffers_to_string(buffer.data());
  }
  EXPECT_EQ(json::parse(last)["output"], 3);
  EXPECT_EQ(socket.reason().code, 4000);
}

TEST_F(web_tls, cancels_the_run_of_a_client_that_goes) {
  write(first);
  serve_with_tls();
  define_sleeper();
  for (const auto says_goodbye : {true, false}) {
    auto at = client(first);
    at.ask("POST", "/actions" + sleeper, "{}");
    EXPECT_TRUE(eventually([] { return witness::alive() == 1; }));
    boost::system::error_code ignored;
    if (says_goodbye)
      at.stream().shutdown(ignored);
    else
      at.stream().next_layer().close(ignored);
    EXPECT_TRUE(eventually([] { return witness::alive() == 0; }));
  }
}

TEST_F(web_tls, does_not_wait_for_the_goodbye_of_a_client) {
  write(first);
  serve_with_tls({.idle_within = 50ms});
  auto at = client(first);
  EXPECT_EQ(
    at.call("POST", "/actions" + counter, R"({"inputs":[2]})").result_int(),
    200u);
  EXPECT_TRUE(at.has_ended());
  char byte = 0;
  boost::system::error_code problem;
  boost::asio::read(at.stream().next_layer(), boost::asio::buffer(&byte, 1),
                    problem);
  EXPECT_EQ(problem, boost::asio::error::eof);
}

TEST_F(web_tls, stops_without_clients_that_say_nothing) {
  write(first);
  serve_with_tls({.request_within = 1h, .drain_within = 24h});
  auto silent = web::client();
  auto idle = client(first);
  EXPECT_EQ(idle.call("GET", "/healthz").result_int(), 200u);
  server->stop();
  EXPECT_TRUE(silent.has_ended());
  EXPECT_TRUE(idle.has_ended()) << "as TLS wants it";
}

TEST_F(web_tls, tells_why_a_request_is_too_large) {
  write(first);
  serve_with_tls({.max_body = 1'000});
  EXPECT_EQ(client(first)
              .call("POST", "/actions" + counter, std::string(1'000'000, ' '))
              .result_int(),
            413u);
}

TEST_F(web_tls, refuses_clients_without_it) {
  write(first);
  serve_with_tls({.request_within = 100ms});
  auto plain = web::client();
  plain.ask("GET", "/healthz");
  EXPECT_FALSE(plain.read_until("HTTP/1.1").ends_with("HTTP/1.1"));
  auto silent = web::client();
  EXPECT_TRUE(silent.has_ended());
}

TEST_F(web_tls, renews_its_certificate) {
  write(first);
  serve_with_tls();
  auto before = client(first);
  const certificate second{"DNS:localhost"};
  std::ofstream{folder / "web.crt"} << second.public_text;
  EXPECT_EQ(code_from([&] { server->renew_certificate(); }),
            errc::failed_precondition)
    << "the key is another one";
  EXPECT_EQ(client(first).call("GET", "/healthz").result_int(), 200u);
  write(second);
  server->renew_certificate();
  EXPECT_EQ(client(second).call("GET", "/healthz").result_int(), 200u);
  EXPECT_THROW(client(first), boost::system::system_error);
  EXPECT_EQ(before.call("GET", "/healthz").result_int(), 200u);
}

TEST_F(web_tls, needs_files_that_can_be_used) {
  EXPECT_EQ(code_from([&] { serve_with_tls(); }), errc::failed_precondition);
  write(first);
  EXPECT_EQ(code_from([&] {
              serve_with_tls({.address = "0.0.0.0",
                              .tokens = {{"ana", "0123456789abcdef"}}});
            }),
            errc::ok)
    << "TLS is enough beyond the loopback interface";
}

} // namespace tertulia::test::web_tls_tests
