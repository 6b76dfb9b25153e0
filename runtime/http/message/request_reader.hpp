// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/http_server.hpp>

#include <optional>

#include "server/server_stream.hpp"
#include "server/time_limit.hpp"
#include "talk/web_socket.hpp"
#include "target.hpp"
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>

namespace tertulia::web {

using request_parser = http::request_parser<http::string_body>;

/// Reads a request.
/// @param buffer bytes that were read already, and afterwards those of the next
///        request.
/// @returns why it cannot be read.
net::awaitable<boost::system::error_code>
read_request(server_stream& from, beast::flat_buffer& buffer, time_limit& limit,
             const http_server_options& options, request_parser& parser);

/// Returns the status of the answer to a request that cannot be read; empty if
/// the client is gone, or has not sent it in time.
[[nodiscard]] std::optional<http::status>
refusal_of(const boost::system::error_code& problem);

/// Reads what a refused client still sends, up to a few MiB: a connection that
/// is closed with unread bytes is reset, and the client does not see the
/// answer.
net::awaitable<void> read_on(net::ip::tcp::socket& from);

} // namespace tertulia::web
