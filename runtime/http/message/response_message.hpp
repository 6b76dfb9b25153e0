// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/status_error.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include <boost/beast/http/status.hpp>

namespace tertulia::web {

namespace http = boost::beast::http;

/// How a client finds the end of a body.
enum class body_end : std::uint8_t {
  length,     ///< by its length, which the head has
  last_chunk, ///< it is sent in chunks
  connection, ///< it ends with the connection
};

/// Answer to a request. A field becomes text when it is added: an object for
/// each costs as much as the rest of the answer.
///
/// @threads one at a time.
class response_message {
public:
  explicit response_message(http::status status, std::string body = {});

  /// Adds a header field.
  /// @param value without line breaks.
  void add(std::string_view name, std::string_view value);

  /// Returns the head as it is sent.
  /// @param version of the request: 10 or 11.
  /// @param is_last whether the connection ends behind the answer.
  [[nodiscard]] std::string head(unsigned version, bool is_last,
                                 body_end end) const;

  http::status status;
  std::string body;

private:
  std::string fields_; ///< each with its line break
};

/// Returns an answer with a JSON document.
[[nodiscard]] response_message json_response(http::status status,
                                             std::string text);

/// Returns the answer for an error.
/// @param text the error as a document.
[[nodiscard]] response_message error_response(errc code, std::string text);
[[nodiscard]] response_message error_response(const status_error& x);

/// Returns the head of an event stream.
[[nodiscard]] response_message event_stream_head();

} // namespace tertulia::web
