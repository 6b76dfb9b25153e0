// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "message/channel.hpp"
#include <boost/beast/http/verb.hpp>

namespace tertulia::web {

class exchange;
class server_core;

/// Answers the requests of one route.
/// @param rest of the path behind that of the route: mostly the key of an
///             action.
/// @errors throws an error that becomes the answer, before it begins one.
using handler = net::awaitable<void> (*)(server_core& server, exchange& x,
                                         std::string rest);

/// Kinds of callers that a route serves.
enum class audience : std::uint8_t {
  callers,   ///< need a token, if there are any; their requests have a span
  operators, ///< need a token as well
  everyone,
};

/// Method and path with a handler.
struct route {
  boost::beast::http::verb method;
  std::string_view path;
  bool has_rest; ///< whether the key of an action follows
  audience who;
  handler answer;
};

/// Routes of a server.
/// @lifetime that of the server or the program that has them.
using route_table = std::span<const route>;

/// Protocol that a server can speak beside its own.
struct protocol {
  route_table routes;

  /// Names of the header fields, beside those of the server, that a page of
  /// another origin may send; empty, or separated by commas.
  std::string_view request_fields;

  /// Names of the header fields, beside those of the server, that such a page
  /// may read of an answer; empty, or separated by commas.
  std::string_view answer_fields;

  /// Adds the routes to the paths of the OpenAPI document.
  void (*describe)(json& paths);
};

} // namespace tertulia::web
