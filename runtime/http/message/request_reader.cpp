// SPDX-License-Identifier: BSD-3-Clause

#include "request_reader.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

#include <boost/asio/write.hpp>
#include <boost/beast/core/string.hpp>

namespace tertulia::web {

namespace {

/// Bytes that are read at once: of a head, and of a body.
constexpr std::size_t head_step = 4'096;
constexpr std::size_t body_step = std::size_t{64} * 1'024;

/// Maximum number of bytes that are read from a refused client.
constexpr std::size_t max_discarded = std::size_t{4} * 1'024 * 1'024;

/// Longest ratio of what frames the chunks of a body to the body itself.
constexpr std::size_t most_framing = 16;

bool expects_continue(const http::request<http::string_body>& x) {
  return x.version() >= 11
         && beast::iequals(x[http::field::expect], "100-continue");
}

/// Returns whether the end of a request is clear. Beast reads on for an unknown
/// coding as if there were no body, which is then the next request of somebody
/// else behind a proxy.
bool is_framed(const http::request<http::string_body>& x) {
  const auto codings = x.count(http::field::transfer_encoding);
  return codings == 0
         || (codings == 1 && x.version() >= 11
             && x.count(http::field::content_length) == 0
             && beast::iequals(x[http::field::transfer_encoding], "chunked"));
}

/// Parser of one request, with the bytes that it has used.
struct reading {
  beast::flat_buffer& buffer;
  request_parser& parser;
  std::size_t used = 0;
  bool is_head_checked = false;

  /// Parses what was read already, which is all of most requests.
  /// @returns `need_more` if that is not all of the request.
  boost::system::error_code parse(const http_server_options& options) {
    boost::system::error_code problem;
    if (!parser.got_some() && !skip_empty_lines())
      return is_too_long(options) ? http::error::header_limit
                                  : http::error::need_more;
    while (!parser.is_done() && !problem) {
      if (buffer.size() == 0)
        return http::error::need_more;
      const auto size = parser.put(buffer.data(), problem);
      buffer.consume(size);
      used += size;
      if (parser.is_header_done() && !std::exchange(is_head_checked, true)
          && !is_framed(parser.get()))
        return http::error::bad_transfer_encoding;
    }
    return problem == http::error::need_more && is_too_long(options)
             ? http::error::header_limit
             : problem;
  }

  /// Skips empty lines, which some clients send behind a body.
  /// @returns false if nothing else has arrived.
  bool skip_empty_lines() {
    while (buffer.size() > 1
           && std::memcmp(buffer.data().data(), "\r\n", 2) == 0) {
      buffer.consume(2);
      used += 2;
    }
    return buffer.size() > 1
           || (buffer.size() == 1
               && *static_cast<const char*>(buffer.data().data()) != '\r');
  }

  /// Returns whether a head, or what frames the chunks of a body, is longer
  /// than a head may be: Beast limits the body only.
  [[nodiscard]] bool is_too_long(const http_server_options& options) const {
    const auto body = parser.is_header_done() ? parser.get().body().size() : 0;
    return buffer.size() > options.max_header
           || used > std::size_t{2} * options.max_header
                       + (most_framing + 1) * body;
  }
};

} // namespace

net::awaitable<boost::system::error_code>
read_request(server_stream& from, beast::flat_buffer& buffer, time_limit& limit,
             const http_server_options& options, request_parser& parser) {
  parser.header_limit(options.max_header);
  parser.body_limit(options.max_body);
  reading it{buffer, parser};
  auto problem = it.parse(options);
  if (problem != http::error::need_more)
    co_return problem;
  limit.set(options.request_within);
  auto has_continued = false;
  while (problem == http::error::need_more) {
    if (parser.is_header_done() && !std::exchange(has_continued, true)
        && expects_continue(parser.get())) {
      constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
      co_await net::async_write(from, net::buffer(go_on.data(), go_on.size()),
                                as_result);
    }
    const auto step = parser.is_header_done() ? body_step : head_step;
    const auto [end, size]
      = co_await from.async_read_some(buffer.prepare(step), as_result);
    buffer.commit(size);
    if (size > 0)
      problem = it.parse(options);
    else if (end == net::error::eof && parser.got_some())
      problem = http::error::partial_message;
    else
      problem = end;
  }
  limit.clear();
  co_return problem;
}

net::awaitable<void> read_on(net::ip::tcp::socket& from) {
  std::array<char, 8'192> bytes; // NOLINT: is written before it is read
  for (std::size_t total = 0; total < max_discarded;) {
    const auto [problem, size]
      = co_await from.async_read_some(net::buffer(bytes), as_result);
    if (problem)
      co_return;
    total += size;
  }
}

std::optional<http::status>
refusal_of(const boost::system::error_code& problem) {
  if (problem == http::error::body_limit)
    return http::status::payload_too_large;
  if (problem == http::error::header_limit
      || problem == http::error::buffer_overflow)
    return http::status::request_header_fields_too_large;
  if (problem == http::error::end_of_stream
      || problem.category()
           != http::make_error_code(http::error::bad_method).category())
    return std::nullopt;
  return http::status::bad_request;
}

} // namespace tertulia::web
