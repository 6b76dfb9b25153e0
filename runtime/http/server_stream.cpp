// SPDX-License-Identifier: BSD-3-Clause

#include "server_stream.hpp"

#include <tertulia/status_error.hpp>

#include <string>

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
                       file + ": " + problem.message()};
}

} // namespace

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
    co_await tls->async_shutdown(as_result);
  } else {
    boost::system::error_code ignored;
    next_layer().socket().shutdown(tcp::socket::shutdown_send, ignored);
  }
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
                       key + " is not the key of " + certificate};
  return result;
}

} // namespace tertulia::web
