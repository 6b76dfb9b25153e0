// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace example {

/// HTTP server on a loopback port that answers each request with a stream of
/// events from a script, and then closes the connection.
///
/// @threads the script runs on the thread of the server.
class scripted_server {
public:
  /// Function that returns the events for a request.
  using script = std::function<std::string(std::string_view request)>;

  explicit scripted_server(script answer) : answer_(std::move(answer)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* where = reinterpret_cast<sockaddr*>(&address);
    if (listener_ < 0 || ::bind(listener_, where, size) != 0
        || ::listen(listener_, 8) != 0
        || ::getsockname(listener_, where, &size) != 0)
      throw std::runtime_error{"cannot listen on a loopback port"};
    port_ = ntohs(address.sin_port);
    thread_ = std::thread{[this] { run(); }};
  }

  scripted_server(const scripted_server&) = delete;
  scripted_server& operator=(const scripted_server&) = delete;

  ~scripted_server() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }

  [[nodiscard]] std::string url() const {
    return "http://127.0.0.1:" + std::to_string(port_) + "/v1";
  }

private:
  void run() {
    for (;;) {
      const auto client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0)
        return;
      const auto request = read_request(client);
      send(client, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                   "Connection: close\r\n\r\n"
                     + answer_(request));
      ::close(client);
    }
  }

  /// Reads a request, whose body is one JSON object.
  static std::string read_request(int client) {
    std::string result;
    char bytes[4096];
    while (!result.ends_with('}')) {
      const auto size = ::recv(client, bytes, sizeof bytes, 0);
      if (size <= 0)
        break;
      result.append(bytes, static_cast<std::size_t>(size));
    }
    return result;
  }

  static void send(int client, std::string_view bytes) {
    while (!bytes.empty()) {
      const auto sent
        = ::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0)
        return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  script answer_;
  int listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::uint16_t port_ = 0;
  std::thread thread_;
};

} // namespace example
