// SPDX-License-Identifier: BSD-3-Clause

#include "response_message.hpp"

#include <utility>

#include "error_body.hpp"

namespace tertulia::web {

namespace {

void append_field(std::string& to, std::string_view name,
                  std::string_view value) {
  to.append(name).append(": ").append(value).append("\r\n");
}

} // namespace

response_message::response_message(http::status status, std::string body)
  : status(status), body(std::move(body)) {}

void response_message::add(std::string_view name, std::string_view value) {
  append_field(fields_, name, value);
}

std::string response_message::head(unsigned version, bool is_last,
                                   body_end end) const {
  constexpr std::size_t rest = 128; // for the other lines
  const auto reason = http::obsolete_reason(status);
  std::string result;
  result.reserve(fields_.size() + rest);
  result.append(version < 11 ? "HTTP/1.0 " : "HTTP/1.1 ")
    .append(std::to_string(static_cast<unsigned>(status)))
    .append(" ")
    .append(reason.data(), reason.size())
    .append("\r\n")
    .append(fields_);
  if (is_last && version >= 11)
    append_field(result, "Connection", "close");
  if (!is_last && version < 11)
    append_field(result, "Connection", "keep-alive");
  // RFC 9110 §8.6: an answer with this status has no length.
  if (end == body_end::length && status != http::status::no_content)
    append_field(result, "Content-Length", std::to_string(body.size()));
  if (end == body_end::last_chunk)
    append_field(result, "Transfer-Encoding", "chunked");
  return result.append("\r\n");
}

response_message json_response(http::status status, std::string text) {
  response_message result{status, std::move(text)};
  result.add("Content-Type", "application/json");
  return result;
}

response_message error_response(errc code, std::string text) {
  auto result = json_response(static_cast<http::status>(http_status(code)),
                              std::move(text));
  if (code == errc::unauthenticated)
    result.add("WWW-Authenticate", "Bearer");
  if (code == errc::unavailable || code == errc::resource_exhausted)
    result.add("Retry-After", "1");
  return result;
}

response_message error_response(const status_error& x) {
  return error_response(x.code(), error_text(x));
}

response_message event_stream_head() {
  response_message result{http::status::ok};
  result.add("Content-Type", "text/event-stream");
  result.add("Cache-Control", "no-cache");
  result.add("X-Accel-Buffering", "no"); // nginx passes events on at once
  return result;
}

} // namespace tertulia::web
