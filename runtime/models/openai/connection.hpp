// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <caf/timespan.hpp>

#include <chrono>
#include <memory>
#include <optional>

#include "../../core/network/name_search.hpp"
#include "url.hpp"
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>

namespace tertulia::openai {

/// Target and parameters of connections.
struct destination {
  url server;
  std::optional<url> proxy;
  /// Name search for the proxy, or for the server without one.
  std::shared_ptr<network::name_search> names;
  /// TLS context; null for plain connections.
  std::shared_ptr<boost::asio::ssl::context> tls;
  caf::timespan connect_within;
};

/// Connection to a server, with or without TLS.
///
/// @threads only on the I/O thread.
class connection {
public:
  using tls_stream = boost::asio::ssl::stream<boost::beast::tcp_stream&>;

  explicit connection(const boost::asio::any_io_executor& at) : socket(at) {}

  /// Connects to the destination, through its proxy and over TLS if these are
  /// set.
  /// @errors throws `unavailable`, `deadline_exceeded`; `permission_denied` if
  ///         the certificate is not trusted or belongs to another host, or if
  ///         the proxy denies access; `data_loss` if the proxy sends more than
  ///         its reply.
  boost::asio::awaitable<void> connect(const destination& to);

  /// Closes the connection; pending operations end with an error.
  void close();

  boost::beast::tcp_stream socket;
  std::unique_ptr<tls_stream> tls; // null without TLS
  boost::beast::flat_buffer read_ahead;
  std::chrono::steady_clock::time_point idle_since;

private:
  void check_open(const url& to) const;
  boost::asio::awaitable<void>
  connect_to(const url& where, network::name_search& names,
             std::chrono::steady_clock::time_point deadline);
  boost::asio::awaitable<void> tunnel(const url& proxy, const url& to);
  boost::asio::awaitable<void> shake_hands(const destination& to);

  bool closed_ = false;
};

} // namespace tertulia::openai
