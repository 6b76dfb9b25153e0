// SPDX-License-Identifier: BSD-3-Clause

#include "server_stream.hpp"

#include <tertulia/status_error.hpp>

#include <array>

#include <boost/beast/websocket/ssl.hpp>
#include <boost/beast/websocket/teardown.hpp>
#include <fmt/format.h>
#include <openssl/ssl.h>

namespace tertulia::web {

namespace {

/// Chooses the protocol that the server speaks, if the client offers any.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size,
                    const unsigned char* offers, unsigned offers_size, void*) {
  static constexpr std::array<unsigned char, 9> known{8,   'h', 't', 't', 'p',
                                                      '/', '1', '.', '1'};
  unsigned char* found = nullptr;
  if (SSL_select_next_proto(&found, size, known.data(), known.size(), offers,
                            offers_size)
      != OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

void expect(const boost::system::error_code& problem, const std::string& file) {
  if (problem)
    throw status_error{errc::failed_precondition,
                       fmt::format("{}: {}", file, problem.message())};
}

} // namespace

server_stream::server_stream(tcp::socket socket, net::ssl::context* tls) {
  if (tls != nullptr)
    stream_.emplace<tls_stream>(std::move(socket), *tls);
  else
    stream_.emplace<tcp::socket>(std::move(socket));
}

// Not `std::visit`, whose tables are larger than these two calls.
template <class Fn>
void server_stream::visit(Fn fn) {
  if (auto* tls = std::get_if<tls_stream>(&stream_))
    fn(*tls);
  else
    fn(std::get<tcp::socket>(stream_));
}

void server_stream::read(const buffer_list<net::mutable_buffer>& to,
                         io_handler handler) {
  visit([&](auto& x) { x.async_read_some(to, std::move(handler)); });
}

void server_stream::write(const buffer_list<net::const_buffer>& from,
                          io_handler handler) {
  visit([&](auto& x) { x.async_write_some(from, std::move(handler)); });
}

void server_stream::tear_down(beast::role_type role, io_handler handler) {
  using beast::websocket::async_teardown;
  visit([&](auto& x) {
    async_teardown(
      role, x,
      [last = std::move(handler)](boost::system::error_code problem) mutable {
        last(problem, 0);
      });
  });
}

net::awaitable<bool> server_stream::handshake() {
  auto* tls = std::get_if<tls_stream>(&stream_);
  if (tls == nullptr)
    co_return true;
  const auto [problem]
    = co_await tls->async_handshake(net::ssl::stream_base::server, as_result);
  co_return !problem;
}

net::awaitable<void> server_stream::finish() {
  if (auto* tls = std::get_if<tls_stream>(&stream_)) {
    // OpenSSL would wait for the word of the client, which a client that has
    // gone does not send. To send its own is all that a server must do.
    auto* native = tls->native_handle();
    SSL_set_shutdown(native, SSL_get_shutdown(native) | SSL_RECEIVED_SHUTDOWN);
    co_await tls->async_shutdown(as_result);
  }
  boost::system::error_code ignored;
  next_layer().shutdown(tcp::socket::shutdown_send, ignored);
}

std::shared_ptr<net::ssl::context> load_tls(const std::string& certificate,
                                            const std::string& key) {
  auto result
    = std::make_shared<net::ssl::context>(net::ssl::context::tls_server);
  auto* native = result->native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_options(native, SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_alpn_select_cb(native, choose_protocol, nullptr);
  boost::system::error_code problem;
  result->use_certificate_chain_file(certificate, problem);
  expect(problem, certificate);
  result->use_private_key_file(key, net::ssl::context::pem, problem);
  expect(problem, key);
  if (SSL_CTX_check_private_key(native) != 1)
    throw status_error{errc::failed_precondition,
                       fmt::format("{} is not the key of {}", key,
                                   certificate)};
  return result;
}

} // namespace tertulia::web
