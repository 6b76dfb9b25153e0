// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include "server_core.hpp"
#include <boost/beast/core/role.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <boost/beast/websocket/teardown.hpp>

namespace tertulia::web {

namespace beast = boost::beast;

/// Bytes from and to a client: a socket, with TLS or without. A stream of Asio,
/// so that HTTP and WebSockets are compiled once for both.
///
/// @threads those of its executor; one read and one write at a time.
class server_stream {
public:
  using executor_type = beast::tcp_stream::executor_type;
  using next_layer_type = beast::tcp_stream;

  /// @param tls null: without TLS.
  server_stream(tcp::socket socket, net::ssl::context* tls) {
    if (tls != nullptr)
      stream_.emplace<tls_stream>(std::move(socket), *tls);
    else
      stream_.emplace<beast::tcp_stream>(std::move(socket));
  }

  /// Frees what a stream holds that was moved from.
  /// @post nothing else is called.
  void reset() noexcept {
    stream_.emplace<std::monostate>();
  }

  executor_type get_executor() noexcept {
    return next_layer().get_executor();
  }

  beast::tcp_stream& next_layer() noexcept {
    auto* tls = std::get_if<tls_stream>(&stream_);
    return tls != nullptr ? tls->next_layer()
                          : std::get<beast::tcp_stream>(stream_);
  }

  [[nodiscard]] bool has_tls() const noexcept {
    return std::holds_alternative<tls_stream>(stream_);
  }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& to, Token&& token) {
    return visit([&](auto& x) {
      return x.async_read_some(to, std::forward<Token>(token));
    });
  }

  template <class Buffers, class Token>
  auto async_write_some(const Buffers& from, Token&& token) {
    return visit([&](auto& x) {
      return x.async_write_some(from, std::forward<Token>(token));
    });
  }

  /// Begins TLS; the first use.
  /// @returns false if the client cannot.
  net::awaitable<bool> handshake();

  /// Tells the client that nothing follows. With TLS it waits for the same word
  /// of the client.
  net::awaitable<void> finish();

  template <class Handler>
  friend void
  async_teardown(beast::role_type role, server_stream& x, Handler&& handler) {
    using beast::websocket::async_teardown;
    x.visit([&](auto& y) {
      async_teardown(role, y, std::forward<Handler>(handler));
    });
  }

private:
  using tls_stream = beast::ssl_stream<beast::tcp_stream>;

  // Not `std::visit`, whose tables are larger than these two calls.
  template <class Fn>
  auto visit(Fn fn) {
    if (auto* tls = std::get_if<tls_stream>(&stream_))
      return fn(*tls);
    return fn(std::get<beast::tcp_stream>(stream_));
  }

  std::variant<std::monostate, beast::tcp_stream, tls_stream> stream_;
};

/// Returns a context with a certificate and its key, from PEM files.
/// @errors throws `failed_precondition` with the name of the file.
[[nodiscard]] std::shared_ptr<net::ssl::context>
load_tls(const std::string& certificate, const std::string& key);

} // namespace tertulia::web
