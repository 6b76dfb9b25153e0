// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "message/response_message.hpp"
#include "server/server_stream.hpp"
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

namespace tertulia::web {

using request_message = http::request<http::string_body>;

/// Name of the protocol of the server's WebSockets.
inline constexpr const char* web_socket_protocol = "tertulia.1";

/// WebSocket of a client.
///
/// @threads those of its executor; one read and one write at a time.
class web_socket {
public:
  web_socket() = default;

  web_socket(const web_socket&) = delete;
  web_socket& operator=(const web_socket&) = delete;

  virtual ~web_socket() = default;

  /// Answers the request for the WebSocket; the first use.
  /// @returns false if the request or the connection is broken.
  virtual net::awaitable<bool> accept(const request_message& x) = 0;

  /// Reads a text message.
  /// @returns empty if the WebSocket has ended.
  /// @errors throws `unimplemented` for a message that is not text.
  virtual net::awaitable<std::optional<std::string>> read() = 0;

  /// Writes a text message.
  /// @returns false if the WebSocket has ended.
  virtual net::awaitable<bool> write(std::string_view text) = 0;

  /// Ends the WebSocket, with a code of RFC 6455 §7.4.1.
  virtual net::awaitable<void>
  close(std::uint16_t code, std::string_view reason) = 0;

  /// Returns the code with which the client has closed or, after `close`, has
  /// answered; 0 before.
  [[nodiscard]] virtual std::uint16_t closed_with() const = 0;

  /// Ends the connection at once.
  virtual void abort() = 0;
};

/// Returns the answer to a request that does not ask for a WebSocket as
/// RFC 6455 §4.2.1 says; empty if it does.
[[nodiscard]] std::optional<response_message>
web_socket_refusal(const request_message& x);

/// Returns a WebSocket on a connection that is not accepted yet.
/// @param keeps connection of the server, which lives as long.
std::unique_ptr<web_socket>
make_web_socket(server_stream stream, const http_server_options& options,
                std::shared_ptr<live_session> keeps);

} // namespace tertulia::web
