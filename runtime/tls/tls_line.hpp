// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/tcp_stream.hpp>

namespace tertulia::network {

using tls_stream = boost::asio::ssl::stream<boost::beast::tcp_stream>;

/// Connection to another node: encrypted on the network, plain on a pair of
/// local sockets whose other end belongs to CAF.
///
/// Bytes are buffered in the two arrays and by the operating system, so a node
/// that does not read slows down the sender, as over a plain connection.
///
/// @threads  only on the TLS thread.
/// @lifetime keeps itself alive until one of its two sides has ended.
class tls_line : public std::enable_shared_from_this<tls_line> {
public:
  /// @param remote has completed its handshake.
  explicit tls_line(std::unique_ptr<tls_stream> remote);

  /// Waits for the first bytes of the peer. With TLS 1.3 a client learns only
  /// then whether the server has accepted its certificate.
  /// @errors throws `boost::system::system_error`.
  boost::asio::awaitable<void> receive_first();

  /// Starts to forward bytes in both directions.
  /// @returns the socket for CAF, which owns it.
  /// @errors throws `boost::system::system_error`.
  int start();

private:
  using line_ptr = std::shared_ptr<tls_line>;

  static boost::asio::awaitable<void> encrypt(line_ptr self);
  static boost::asio::awaitable<void> decrypt(line_ptr self);
  static boost::asio::awaitable<void> watch(line_ptr self);

  void close();

  std::unique_ptr<tls_stream> remote_;
  boost::asio::local::stream_protocol::socket local_;
  boost::asio::steady_timer linger_;
  bool closed_ = false;
  std::size_t received_ = 0; // bytes in `in_` that are not forwarded yet
  std::array<char, 16'384> in_;
  std::array<char, 16'384> out_;
};

} // namespace tertulia::network
