// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "io_handler.hpp"
#include "server_core.hpp"
#include <boost/beast/core/role.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>

namespace tertulia::web {

namespace beast = boost::beast;

/// Bytes from and to a client: a socket, with TLS or without. A stream of Asio
/// whose handlers all have one type inside, so that its transfers are compiled
/// once and not for each operation of HTTP and of WebSockets.
///
/// @threads those of its executor; one read and one write at a time.
class server_stream {
public:
  using executor_type = tcp::socket::executor_type;
  using next_layer_type = tcp::socket;

  /// @param tls null: without TLS.
  server_stream(tcp::socket socket, net::ssl::context* tls);

  /// Frees what a stream holds that was moved from.
  /// @post only the destructor may be called.
  void reset() noexcept {
    stream_.emplace<std::monostate>();
  }

  executor_type get_executor() noexcept {
    return next_layer().get_executor();
  }

  tcp::socket& next_layer() noexcept {
    auto* tls = std::get_if<tls_stream>(&stream_);
    return tls != nullptr ? tls->next_layer() : std::get<tcp::socket>(stream_);
  }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& to, Token&& token) {
    return net::async_initiate<Token, io_signature>(
      [this](auto handler, const auto& to) {
        read(to, io_handler{std::move(handler)});
      },
      token, buffer_list<net::mutable_buffer>{to});
  }

  template <class Buffers, class Token>
  auto async_write_some(const Buffers& from, Token&& token) {
    return net::async_initiate<Token, io_signature>(
      [this](auto handler, const auto& from) {
        write(from, io_handler{std::move(handler)});
      },
      token, buffer_list<net::const_buffer>{from});
  }

  /// Begins TLS; the first use.
  /// @returns false if the client cannot.
  net::awaitable<bool> handshake();

  /// Tells the client that nothing follows. With TLS nothing can be read then,
  /// but bytes of `next_layer`. Idempotent.
  net::awaitable<void> finish();

  template <class Handler>
  friend void
  async_teardown(beast::role_type role, server_stream& x, Handler&& handler) {
    x.tear_down(role, io_handler{[last = std::forward<Handler>(handler)](
                                   boost::system::error_code problem,
                                   std::size_t) mutable { last(problem); }});
  }

private:
  using tls_stream = beast::ssl_stream<tcp::socket>;

  void read(const buffer_list<net::mutable_buffer>& to, io_handler handler);
  void write(const buffer_list<net::const_buffer>& from, io_handler handler);

  /// Ends a WebSocket's connection.
  void tear_down(beast::role_type role, io_handler handler);

  template <class Fn>
  void visit(Fn fn);

  std::variant<std::monostate, tcp::socket, tls_stream> stream_;
};

/// Returns a context with a certificate and its key, from PEM files.
/// @errors throws `failed_precondition` with the name of the file.
[[nodiscard]] std::shared_ptr<net::ssl::context>
load_tls(const std::string& certificate, const std::string& key);

} // namespace tertulia::web
