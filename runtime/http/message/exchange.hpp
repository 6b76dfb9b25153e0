// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/open.hpp>
#include <tertulia/trace.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "response_message.hpp"
#include "talk/web_socket.hpp"
#include "target.hpp"
#include <boost/asio/ip/address.hpp>

namespace tertulia::web {

/// Request of a client, and the way of the answer to it.
///
/// @threads  those of its executor.
/// @lifetime a handler uses it until its coroutine ends.
class exchange {
public:
  exchange() = default;

  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;

  virtual ~exchange() = default;

  [[nodiscard]] virtual net::any_io_executor executor() const = 0;

  /// Answers the request.
  virtual net::awaitable<void> reply(response_message x) = 0;

  /// Begins an answer in parts.
  /// @returns false if the client is gone.
  virtual net::awaitable<bool> begin(response_message head) = 0;

  /// Writes a part.
  /// @returns false if the client is gone.
  virtual net::awaitable<bool> write(std::string_view part) = 0;

  /// Ends an answer in parts.
  virtual net::awaitable<void> end() = 0;

  /// Ends the connection without the rest of the answer.
  virtual void reset() = 0;

  /// Calls a function when the client ends the connection before the answer is
  /// complete.
  virtual void when_gone(std::function<void()> call) = 0;

  /// Returns whether the server stops.
  [[nodiscard]] virtual bool is_draining() const noexcept = 0;

  /// Turns the connection into a WebSocket. After a refusal the request is
  /// answered.
  /// @returns null if it was refused.
  virtual net::awaitable<std::unique_ptr<web_socket>> upgrade() = 0;

  /// Tells that the WebSocket is gone.
  virtual void forget_web_socket() = 0;

  /// Returns whether an answer was begun.
  [[nodiscard]] bool is_answered() const noexcept {
    return status != 0;
  }

  request_message request;
  target place;
  std::string caller;        ///< name of the caller; empty without tokens
  std::string origin;        ///< allowed origin of the page; empty without one
  unsigned status = 0;       ///< of the answer
  std::uint64_t written = 0; ///< bytes of the answer that were written
  bool is_left = false;  ///< whether the client ended the connection before it
  net::ip::address peer; ///< of the client, or of a proxy before it
  span work;             ///< of the request; empty if nobody listens to spans
  /// Set by a handler that takes long: called when the server stops.
  std::function<void()> when_draining;
};

/// Returns a header field.
[[nodiscard]] std::string_view field_of(const request_message& x,
                                        http::field name);
[[nodiscard]] std::string_view field_of(const request_message& x,
                                        const char* name);

/// Returns the items of a header field that is a list, such as the protocols
/// that a WebSocket offers.
[[nodiscard]] std::vector<std::string_view> items_of(const request_message& x,
                                                     http::field name);

/// Returns the span of the client of a request, as its header fields say.
[[nodiscard]] std::optional<span_context> parent_of(const request_message& x);

/// Gives the run of a request its parent: the span of the request, or that of
/// the client.
void pass_trace(const exchange& from, open_options& to);

} // namespace tertulia::web
