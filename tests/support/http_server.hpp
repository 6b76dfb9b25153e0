// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <list>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tertulia::test {

/// Server on a loopback port that sends exactly the bytes that a test
/// specifies, even if they are invalid.
class http_server {
  static sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in result{};
    result.sin_family = AF_INET;
    result.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    result.sin_port = htons(port);
    return result;
  }

public:
  /// Server's end of the connection to a client.
  class peer {
  public:
    explicit peer(int socket) : socket_(socket) {}

    /// Sends bytes as they are.
    /// @returns false if the client has closed the connection.
    bool send(std::string_view bytes) const {
      while (!bytes.empty()) {
        const auto sent
          = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0)
          return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
      }
      return true;
    }

    /// Sends an answer of a known length.
    bool answer(std::string_view status, std::string_view body,
                std::string_view fields = {}) const {
      return send("HTTP/1.1 " + std::string{status}
                  + "\r\nContent-Length: " + std::to_string(body.size())
                  + "\r\n" + std::string{fields} + "\r\n" + std::string{body});
    }

    /// Head of a stream of events of unknown length.
    static constexpr std::string_view events_head
      = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
        "Transfer-Encoding: chunked\r\n\r\n";

    /// Begins such a stream.
    bool begin_events() const {
      return send(events_head);
    }

    /// Sends a piece of the stream.
    bool send_chunk(std::string_view bytes) const {
      return send(chunk(bytes));
    }

    /// Sends the last piece and the end of the stream at once.
    bool send_last_chunk(std::string_view bytes) const {
      return send(chunk(bytes) + "0\r\n\r\n");
    }

    /// Waits until the client closes the connection.
    void wait_until_closed() const {
      char byte = 0;
      while (::recv(socket_, &byte, 1, 0) > 0) {
      }
    }

    /// Reads a request and its body.
    /// @returns empty if the client closes the connection first.
    std::string read_request() {
      for (;;) {
        if (const auto end = buffer_.find("\r\n\r\n");
            end != std::string::npos) {
          const auto size = end + 4 + length_of(buffer_.substr(0, end));
          if (buffer_.size() >= size) {
            auto result = buffer_.substr(0, size);
            buffer_.erase(0, size);
            return result;
          }
        }
        char bytes[4096];
        const auto size = ::recv(socket_, bytes, sizeof bytes, 0);
        if (size <= 0)
          return {};
        buffer_.append(bytes, static_cast<std::size_t>(size));
      }
    }

    /// Relays all bytes, in both directions, between the client and a server on
    /// this machine, until one of them closes its connection.
    void relay_to(std::uint16_t port) {
      const auto server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      auto where = loopback(port);
      auto is_open
        = ::connect(server, reinterpret_cast<sockaddr*>(&where), sizeof where)
          == 0;
      while (is_open) {
        pollfd ends[]{{socket_, POLLIN, 0}, {server, POLLIN, 0}};
        is_open = ::poll(ends, 2, -1) > 0
                  && (ends[0].revents == 0 || hand_on(socket_, server))
                  && (ends[1].revents == 0 || hand_on(server, socket_));
      }
      ::close(server);
      close();
    }

    /// Closes the connection in both directions.
    void close() {
      closed_ = true;
      ::shutdown(socket_, SHUT_RDWR);
    }

    [[nodiscard]] bool closed() const noexcept {
      return closed_;
    }

    [[nodiscard]] int socket() const noexcept {
      return socket_;
    }

    /// Returns a piece of a stream with its size, as it is sent.
    static std::string chunk(std::string_view bytes) {
      char size[24];
      const auto length = std::snprintf(size, sizeof size, "%zx", bytes.size());
      return std::string(size, static_cast<std::size_t>(length)) + "\r\n"
             + std::string{bytes} + "\r\n";
    }

  private:
    /// Relays the bytes that are available.
    /// @returns false if either side has closed its connection.
    static bool hand_on(int from, int to) {
      char bytes[4096];
      const auto size = ::recv(from, bytes, sizeof bytes, 0);
      return size > 0 && peer{to}.send({bytes, static_cast<std::size_t>(size)});
    }

    static std::size_t length_of(const std::string& head) {
      const std::string name = "\r\nContent-Length: ";
      const auto at = head.find(name);
      return at == std::string::npos
               ? 0
               : std::strtoul(head.c_str() + at + name.size(), nullptr, 10);
    }

    int socket_;
    std::string buffer_;
    bool closed_ = false;
  };

  /// Function that answers a request, on the thread of its connection.
  using handler = std::function<void(peer&, const std::string& request)>;

  explicit http_server(handler answer) : answer_(std::move(answer)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto address = loopback(0);
    socklen_t size = sizeof address;
    auto* where = reinterpret_cast<sockaddr*>(&address);
    if (listener_ < 0 || ::bind(listener_, where, size) != 0
        || ::listen(listener_, 1024) != 0
        || ::getsockname(listener_, where, &size) != 0)
      throw std::runtime_error{"cannot listen on a loopback port"};
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread{[this] { accept(); }};
  }

  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;

  ~http_server() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    {
      const std::lock_guard guard{mutex_};
      for (const auto& x : connections_)
        ::shutdown(x.socket, SHUT_RDWR);
    }
    for (auto& x : connections_) {
      x.thread.join();
      ::close(x.socket);
    }
    ::close(listener_);
  }

  [[nodiscard]] std::uint16_t port() const noexcept {
    return port_;
  }

  [[nodiscard]] std::string url() const {
    return "http://127.0.0.1:" + std::to_string(port_) + "/v1";
  }

  /// Returns all requests so far, in order.
  [[nodiscard]] std::vector<std::string> requests() const {
    const std::lock_guard guard{mutex_};
    return requests_;
  }

  /// Returns the number of connections so far.
  [[nodiscard]] std::size_t connections() const {
    const std::lock_guard guard{mutex_};
    return connections_.size();
  }

private:
  struct connection {
    int socket;
    std::thread thread;
  };

  void accept() {
    for (;;) {
      const auto socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0)
        return;
      const int on = 1;
      ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      const std::lock_guard guard{mutex_};
      connections_.push_back(
        connection{socket, std::thread{[this, socket] { serve(socket); }}});
    }
  }

  void serve(int socket) {
    peer client{socket};
    while (!client.closed()) {
      const auto request = client.read_request();
      if (request.empty())
        return;
      {
        const std::lock_guard guard{mutex_};
        requests_.push_back(request);
      }
      answer_(client, request);
    }
  }

  handler answer_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  std::list<connection> connections_;
  std::vector<std::string> requests_;
  std::thread acceptor_;
};

/// Returns a handler that sends an answer of a known length.
inline http_server::handler answering(std::string status, std::string body = {},
                                      std::string fields = {}) {
  return [=](http_server::peer& client, const std::string&) {
    client.answer(status, body, fields);
  };
}

} // namespace tertulia::test
