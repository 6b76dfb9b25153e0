// SPDX-License-Identifier: BSD-3-Clause

#include "connection.hpp"

#include <tertulia/status.hpp>

#include <string>
#include <utility>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http.hpp>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace tertulia::openai {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

namespace {

[[noreturn]] void fail_to_connect(const url& to, beast::error_code reason) {
  if (reason == beast::error::timeout || reason == asio::error::timed_out)
    throw status_error{errc::deadline_exceeded,
                       "no connection to " + to.endpoint() + " in time"};
  throw status_error{errc::unavailable, "no connection to " + to.endpoint()
                                          + ": " + reason.message()};
}

std::string base64(const std::string& text) {
  std::string result(4 * ((text.size() + 2) / 3) + 1, '\0');
  const auto size
    = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(result.data()),
                      reinterpret_cast<const unsigned char*>(text.data()),
                      static_cast<int>(text.size()));
  result.resize(static_cast<std::size_t>(size));
  return result;
}

bool is_address(const std::string& host) {
  beast::error_code error;
  asio::ip::make_address(host, error);
  return !error;
}

} // namespace

asio::awaitable<void> connection::connect(const destination& to) {
  const auto deadline = std::chrono::steady_clock::now() + to.connect_within;
  socket.expires_at(deadline);
  if (to.proxy) {
    co_await connect_to(*to.proxy, *to.names, deadline);
    co_await tunnel(*to.proxy, to.server);
  } else {
    co_await connect_to(to.server, *to.names, deadline);
  }
  if (to.tls)
    co_await shake_hands(to);
  socket.expires_never();
}

void connection::close() {
  closed_ = true;
  beast::error_code ignored;
  socket.socket().close(ignored);
}

void connection::check_open(const url& to) const {
  if (closed_)
    fail_to_connect(to, asio::error::operation_aborted);
}

asio::awaitable<void>
connection::connect_to(const url& where, network::name_search& names,
                       std::chrono::steady_clock::time_point deadline) {
  beast::error_code error;
  network::name_search::addresses found;
  if (const auto address = asio::ip::make_address(where.host, error); !error) {
    found.emplace_back(address, where.port_number());
  } else {
    try {
      found = co_await names.find(deadline);
    } catch (const beast::system_error& x) {
      fail_to_connect(where, x.code());
    }
    check_open(where); // a name search cannot be stopped
  }
  co_await socket.async_connect(found, asio::redirect_error(asio::use_awaitable,
                                                            error));
  if (error)
    fail_to_connect(where, error);
  check_open(where);
  socket.socket().set_option(asio::ip::tcp::no_delay{true}, error);
}

asio::awaitable<void> connection::tunnel(const url& proxy, const url& to) {
  beast::error_code error;
  http::request<http::empty_body> question{http::verb::connect, to.endpoint(),
                                           11};
  question.set(http::field::host, to.endpoint());
  if (!proxy.user.empty())
    question.set(http::field::proxy_authorization,
                 "Basic " + base64(proxy.user));
  co_await http::async_write(socket, question,
                             asio::redirect_error(asio::use_awaitable, error));
  if (error)
    fail_to_connect(proxy, error);
  http::response_parser<http::empty_body> answer;
  answer.skip(true); // the tunnel begins in place of a body
  co_await http::async_read_header(socket, read_ahead, answer,
                                   asio::redirect_error(asio::use_awaitable,
                                                        error));
  if (error)
    fail_to_connect(proxy, error);
  const auto status = answer.get().result_int();
  if (status / 100 == 2) {
    // These bytes came unencrypted, but would be read before the TLS data, as
    // if the verified server had sent them.
    if (read_ahead.size() > 0)
      throw status_error{errc::data_loss, "the proxy " + proxy.endpoint()
                                            + " speaks for the server"};
    co_return;
  }
  const auto code = status == 407 || status == 403 ? errc::permission_denied
                                                   : errc::unavailable;
  throw status_error{code,
                     "the proxy " + proxy.endpoint()
                       + " does not connect us: " + std::to_string(status)};
}

asio::awaitable<void> connection::shake_hands(const destination& to) {
  beast::error_code error;
  tls = std::make_unique<tls_stream>(socket, *to.tls);
  const auto& host = to.server.host;
  tls->set_verify_mode(asio::ssl::verify_peer);
  auto* session = tls->native_handle();
  auto is_set = false;
  if (is_address(host)) {
    is_set
      = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host.c_str())
        == 1;
  } else {
    // The name also tells the server which certificate to present.
    SSL_set_hostflags(session, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    is_set = SSL_set1_host(session, host.c_str()) == 1
             && SSL_set_tlsext_host_name(session, host.c_str()) == 1;
  }
  if (!is_set) // never continue without the check
    throw status_error{errc::internal, "the host cannot be verified"};
  co_await tls->async_handshake(asio::ssl::stream_base::client,
                                asio::redirect_error(asio::use_awaitable,
                                                     error));
  if (!error)
    co_return;
  const auto verified = SSL_get_verify_result(session);
  if (verified != X509_V_OK)
    throw status_error{errc::permission_denied,
                       "the certificate of " + to.server.endpoint()
                         + " is not trusted: "
                         + X509_verify_cert_error_string(verified)};
  fail_to_connect(to.server, error);
}

} // namespace tertulia::openai
