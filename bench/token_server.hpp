// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace tertulia::bench {

/// A model's server on a loopback port that gives each request one token, and
/// another one whenever it is told to.
///
/// It takes its memory when it is made, and its time can be told apart from
/// that of the process.
///
/// @threads all members.
class token_server {
public:
  /// @param max_clients that can be connected at a time.
  /// @errors throws `std::runtime_error` if the system refuses something.
  explicit token_server(std::size_t max_clients);

  token_server(const token_server&) = delete;
  token_server& operator=(const token_server&) = delete;

  /// @pre nobody is connected any more who waits for an answer.
  ~token_server();

  [[nodiscard]] std::string url() const;

  /// Sends a token to everybody who has begun to hear an answer.
  void send_token();

  /// Ends all answers.
  void send_end();

  /// CPU time of its thread so far.
  [[nodiscard]] double cpu_microseconds() const;

private:
  enum class order : std::uint64_t { token = 1, end = 1'000, stop = 1'000'000 };

  struct client {
    int socket = -1;
    bool is_answering = false;
    std::string asked; // what has come of a request
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

/// CPU time of the process so far.
double cpu_microseconds();

} // namespace tertulia::bench
