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

/// One connection to another node: encrypted to the outside, in the clear on a
/// pair of local sockets whose other end is CAF's.
///
/// Bytes wait in the two buffers and in those of the system, so a node that
/// does not read slows down who sends, as without it.
///
/// @threads  only on the TLS thread.
/// @lifetime keeps itself alive until one of its two sides has ended.
class tls_line : public std::enable_shared_from_this<tls_line> {
public:
  /// @param remote has shaken hands.
  explicit tls_line(std::unique_ptr<tls_stream> remote);

  /// Waits for the first bytes of the peer. With TLS 1.3 a client hears only
  /// then whether the server has accepted its certificate.
  /// @errors throws `boost::system::system_error`.
  boost::asio::awaitable<void> hear_first();

  /// Begins to pass bytes in both directions.
  /// @returns the end for CAF, which owns it.
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
  std::size_t heard_ = 0; // bytes of `in_` that wait to be passed on
  std::array<char, 16'384> in_;
  std::array<char, 16'384> out_;
};

} // namespace tertulia::network
