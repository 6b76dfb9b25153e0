// SPDX-License-Identifier: BSD-3-Clause

#include "request_reader.hpp"

#include <string_view>
#include <tuple>

#include <boost/asio/write.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/read.hpp>

namespace tertulia::web {

namespace {

bool expects_continue(const http::request<http::string_body>& x) {
  return x.version() >= 11
         && beast::iequals(x[http::field::expect], "100-continue");
}

/// Parses what was read already, which is all of most requests.
/// @returns `need_more` if that is not all of the request.
boost::system::error_code parse(beast::flat_buffer& buffer,
                                request_parser& parser) {
  boost::system::error_code problem;
  while (!parser.is_done() && !problem) {
    if (buffer.size() == 0)
      return http::error::need_more;
    buffer.consume(parser.put(buffer.data(), problem));
  }
  return problem;
}

} // namespace

net::awaitable<boost::system::error_code>
read_request(server_stream& from, beast::flat_buffer& buffer, time_limit& limit,
             const http_server_options& options, request_parser& parser) {
  parser.header_limit(options.max_header);
  parser.body_limit(options.max_body);
  auto problem = parse(buffer, parser);
  if (problem != http::error::need_more)
    co_return problem;
  limit.set(options.request_within);
  problem = {};
  std::size_t size = 0;
  if (!parser.is_header_done())
    std::tie(problem, size)
      = co_await http::async_read_header(from, buffer, parser, as_result);
  if (!problem && expects_continue(parser.get())) {
    constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    std::tie(problem, size) = co_await net::async_write(
      from, net::buffer(go_on.data(), go_on.size()), as_result);
  }
  if (!problem)
    std::tie(problem, size)
      = co_await http::async_read(from, buffer, parser, as_result);
  limit.clear();
  co_return problem;
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
