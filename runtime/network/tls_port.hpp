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

/// A port that shakes hands with everybody who comes, and hands those on whose
/// certificate is good.
///
/// Strangers cost little: a handshake takes five seconds at most, and there are
/// at most 64 at a time from one address and 256 in all. If there are more, the
/// oldest is dropped: honest ones take milliseconds.
///
/// @threads only on the TLS thread, if nothing else is said.
class tls_port : public std::enable_shared_from_this<tls_port> {
public:
  /// Listens at once, but takes nobody before `start`.
  /// @threads any.
  /// @errors throws `boost::system::system_error`.
  tls_port(tls_thread& at, std::shared_ptr<boost::asio::ssl::context> tls,
           const boost::asio::ip::tcp::endpoint& where,
           std::shared_ptr<spdlog::logger> log);
  tls_port(const tls_port&) = delete;
  tls_port& operator=(const tls_port&) = delete;
  ~tls_port();

  /// @threads any.
  void start();

  /// Takes nobody any more. The connections that there are go on.
  /// @threads any.
  void stop();

  /// @threads any.
  [[nodiscard]] std::uint16_t port() const noexcept {
    return port_;
  }

  /// Returns the socket from which the descriptors of those that were handed
  /// on can be read, as one `int` a message, and gives it away.
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
  std::list<guest> guests_; // who shake hands, the oldest first
};

} // namespace tertulia::network
