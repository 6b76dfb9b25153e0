// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstdint>
#include <list>
#include <memory>

#include "tls_line.hpp"
#include "tls_thread.hpp"
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <spdlog/fwd.h>

namespace tertulia::network {

/// Listening port that completes TLS handshakes and passes on the connections
/// whose certificate is valid.
///
/// Unauthenticated peers cost little: a handshake takes at most five seconds,
/// and at most 64 run at a time for one address and 256 in all. If there are
/// more, the oldest one is dropped: an honest handshake takes milliseconds.
///
/// @threads only on the TLS thread, unless stated otherwise.
class tls_port : public std::enable_shared_from_this<tls_port> {
public:
  /// Listens at once, but does not accept connections before `start`.
  /// @threads any.
  /// @errors throws `boost::system::system_error`.
  tls_port(tls_thread& at, std::shared_ptr<boost::asio::ssl::context> tls,
           const boost::asio::ip::tcp::endpoint& endpoint,
           std::shared_ptr<spdlog::logger> log);
  tls_port(const tls_port&) = delete;
  tls_port& operator=(const tls_port&) = delete;
  ~tls_port();

  /// @threads any.
  void start();

  /// Stops accepting connections and closes those whose handshake is in
  /// progress. Established connections continue.
  /// @threads any.
  void stop();

  /// @threads any.
  [[nodiscard]] std::uint16_t port() const noexcept {
    return port_;
  }

  /// Returns the socket that delivers the descriptors of established
  /// connections, one `int` per message, and gives up its ownership.
  /// @threads any, once.
  [[nodiscard]] int take_arrivals() noexcept;

private:
  using port_ptr = std::shared_ptr<tls_port>;

  struct guest {
    boost::asio::ip::address address;
    tls_stream* stream;
  };

  static boost::asio::awaitable<void> accept(port_ptr self);
  static boost::asio::awaitable<void>
  shake_hands(port_ptr self, boost::asio::ip::address address,
              boost::asio::ip::tcp::socket socket);

  void make_room(const boost::asio::ip::address& address);
  void hand_on(std::unique_ptr<tls_stream> stream);

  boost::asio::ip::tcp::acceptor acceptor_;
  std::shared_ptr<boost::asio::ssl::context> tls_;
  std::shared_ptr<spdlog::logger> log_;
  std::uint16_t port_;
  int arrivals_ = -1;
  int to_arrivals_ = -1;
  std::list<guest> guests_; // handshakes in progress, oldest first
};

} // namespace tertulia::network
