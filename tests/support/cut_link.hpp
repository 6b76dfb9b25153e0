// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tertulia::test {

/// Link between a client and a server of this host that can be cut: a port that
/// passes everything on to another port.
///
/// @threads `cut`, `refuse` and `accept` from any thread.
class cut_link {
public:
  explicit cut_link(std::uint16_t to) : to_(to), listener_(open_socket()) {
    auto here = address(0);
    socklen_t size = sizeof here;
    if (::bind(listener_, as_any(here), size) != 0
        || ::listen(listener_, 16) != 0
        || ::getsockname(listener_, as_any(here), &size) != 0)
      throw std::runtime_error{"a port cannot be opened"};
    port_ = ntohs(here.sin_port);
    acceptor_ = std::thread{[this] { accept_all(); }};
  }

  cut_link(const cut_link&) = delete;
  cut_link& operator=(const cut_link&) = delete;

  ~cut_link() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    cut();
    for (auto& x : pumps_)
      x.join();
    for (const auto socket : sockets_)
      ::close(socket);
    ::close(listener_);
  }

  [[nodiscard]] std::uint16_t port() const noexcept {
    return port_;
  }

  /// Cuts all connections.
  void cut() {
    const std::lock_guard guard{mutex_};
    for (const auto socket : sockets_)
      ::shutdown(socket, SHUT_RDWR);
  }

  /// Cuts all connections at the side of the clients: the server does not
  /// notice that.
  void cut_clients() {
    const std::lock_guard guard{mutex_};
    for (const auto& x : clients_) {
      x->is_cut = true;
      ::shutdown(x->socket, SHUT_RDWR);
    }
  }

  /// Cuts all connections, and further ones at once, until `accept`.
  void refuse() {
    {
      const std::lock_guard guard{mutex_};
      refuses_ = true;
    }
    cut();
  }

  void accept() {
    const std::lock_guard guard{mutex_};
    refuses_ = false;
  }

  /// Drops what the client of the next connection sends.
  void mute_next() {
    const std::lock_guard guard{mutex_};
    mutes_next_ = true;
  }

  /// Returns the number of connections that were refused.
  [[nodiscard]] int refusals() {
    const std::lock_guard guard{mutex_};
    return refusals_;
  }

private:
  struct client_end {
    explicit client_end(int socket) : socket(socket) {}

    const int socket;
    std::atomic<bool> is_cut = false;
  };

  static int open_socket() {
    return ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  }

  /// Otherwise, a small message waits up to 40 ms for the acknowledgement of
  /// the last one.
  static void send_at_once(int socket) {
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }

  static sockaddr_in address(std::uint16_t port) {
    sockaddr_in result{};
    result.sin_family = AF_INET;
    result.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    result.sin_port = htons(port);
    return result;
  }

  static sockaddr* as_any(sockaddr_in& x) {
    return reinterpret_cast<sockaddr*>(&x);
  }

  void accept_all() {
    for (;;) {
      const auto client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0)
        return;
      const auto server = open_socket();
      auto there = address(to_);
      const std::lock_guard guard{mutex_};
      if (refuses_ || ::connect(server, as_any(there), sizeof there) != 0) {
        ::close(client);
        ::close(server);
        ++refusals_;
        continue;
      }
      send_at_once(client);
      send_at_once(server);
      sockets_.push_back(client);
      sockets_.push_back(server);
      const auto end = std::make_shared<client_end>(client);
      clients_.push_back(end);
      pumps_.emplace_back([=, mute = std::exchange(mutes_next_, false)] {
        pump(client, server, mute);
        if (!end->is_cut)
          ::shutdown(server, SHUT_RDWR);
      });
      pumps_.emplace_back([=] {
        pump(server, client);
        ::shutdown(client, SHUT_RDWR);
      });
    }
  }

  static void pump(int from, int to, bool mute = false) {
    std::array<char, 16'384> bytes{};
    for (;;) {
      const auto size = ::recv(from, bytes.data(), bytes.size(), 0);
      if (size <= 0)
        break;
      for (ssize_t sent = mute ? size : 0; sent < size;) {
        const auto part
          = ::send(to, bytes.data() + sent,
                   static_cast<std::size_t>(size - sent), MSG_NOSIGNAL);
        if (part <= 0)
          return;
        sent += part;
      }
    }
  }

  const std::uint16_t to_;
  const int listener_;
  std::uint16_t port_ = 0;
  std::mutex mutex_;
  bool refuses_ = false;
  bool mutes_next_ = false;
  int refusals_ = 0;
  std::vector<int> sockets_; // closed with the link: their numbers stay unique
  std::vector<std::shared_ptr<client_end>> clients_;
  std::vector<std::thread> pumps_;
  std::thread acceptor_;
};

} // namespace tertulia::test
