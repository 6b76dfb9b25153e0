// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace tertulia::bench {

/// A model server on a loopback port. It answers each request with one token,
/// and sends another token on each call of `send_token`.
///
/// It allocates its memory in the constructor, and its CPU time can be
/// separated from that of the process.
///
/// @threads all members are thread-safe.
class token_server {
public:
  /// @param max_clients maximum number of concurrent clients.
  /// @errors throws `std::runtime_error` if a system call fails.
  explicit token_server(std::size_t max_clients);

  token_server(const token_server&) = delete;
  token_server& operator=(const token_server&) = delete;

  /// @pre no connected client waits for an answer.
  ~token_server();

  [[nodiscard]] std::string url() const;

  /// Sends a token to all clients whose answer has begun.
  void send_token();

  /// Ends all answers.
  void send_end();

  /// Returns the CPU time of the server's thread so far.
  [[nodiscard]] double cpu_microseconds() const;

private:
  enum class order : std::uint64_t { token = 1, end = 1'000, stop = 1'000'000 };

  struct client {
    int socket = -1;
    bool is_answering = false;
    std::string asked; // request received so far
  };

  void give(order x) const;
  void run();
  void take_orders();
  void accept_all();
  void hear(std::size_t index);
  void tell_all(const std::string& text, bool is_last);

  int listener_ = -1;
  int orders_ = -1;
  int events_ = -1;
  std::uint16_t port_ = 0;
  bool stopping_ = false;
  std::vector<client> clients_;
  std::thread thread_;
};

/// Returns the CPU time of the process so far.
double cpu_microseconds();

} // namespace tertulia::bench
