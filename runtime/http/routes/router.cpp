// SPDX-License-Identifier: BSD-3-Clause

#include "router.hpp"

#include <array>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>

#include "message/error_body.hpp"
#include "message/redaction.hpp"
#include "message/request_record.hpp"

namespace tertulia::web {

namespace {

using enum http::verb;
using enum audience;

constexpr std::array own_routes{
  route{get, "/actions", false, callers, list_actions},
  route{get, "/actions", true, callers, show_action},
  route{post, "/actions", true, callers, run_action},
  route{get, "/talk", true, callers, talk_by_web_socket},
  route{post, "/runs", true, callers, open_run},
  route{get, "/runs", true, callers, show_runs},
  route{delete_, "/runs", true, callers, abort_run},
  route{post, "/inputs", true, callers, send_inputs},
  route{get, "/events", true, callers, stream_events},
  route{get, "/sessions", true, callers, show_sessions},
  route{post, "/sessions", true, callers, copy_session},
  route{patch, "/sessions", true, callers, change_session},
  route{delete_, "/sessions", true, callers, delete_session},
  route{get, "/snapshots", true, callers, show_snapshots},
  route{patch, "/snapshots", true, callers, change_snapshot},
  route{get, "/diffs", true, callers, compare_snapshots},
  route{get, "/exports", true, callers, write_session},
  route{get, "/openapi.json", false, everyone, show_openapi},
  route{get, "/metrics", false, operators, show_metrics},
  route{get, "/healthz", false, everyone, show_health},
  route{get, "/readyz", false, everyone, show_readiness},
};

/// Returns whether a route has a path.
/// @param rest of the path behind it.
bool matches(const route& x, std::string_view path, std::string_view& rest) {
  if (!path.starts_with(x.path))
    return false;
  rest = path.substr(x.path.size());
  return x.has_rest ? rest.size() > 1 && rest.front() == '/' : rest.empty();
}

/// Returns the methods of a path, for `Allow`.
std::string methods_of(route_table routes, std::string_view path) {
  std::string result;
  std::string_view rest;
  for (const auto& x : routes) {
    if (!matches(x, path, rest))
      continue;
    const auto name = http::to_string(x.method);
    result.append(name.data(), name.size());
    result += ", ";
  }
  if (!result.empty())
    result += "OPTIONS";
  return result;
}

/// Answers the question of a browser whether a page may send a request.
response_message answer_preflight(const server_core& server,
                                  const std::string& methods) {
  response_message result{http::status::no_content};
  result.add("Allow", methods);
  result.add("Access-Control-Allow-Methods", methods);
  result.add("Access-Control-Allow-Headers", server.request_fields());
  result.add("Access-Control-Max-Age", "600");
  return result;
}

/// Returns the token of a request. A browser cannot give a WebSocket a header
/// field, so it may be a protocol: `bearer.<token>`.
std::string authorization_of(const request_message& x) {
  const auto field = field_of(x, http::field::authorization);
  if (!field.empty())
    return std::string{field};
  constexpr std::string_view prefix = "bearer.";
  for (const auto offer : items_of(x, http::field::sec_websocket_protocol))
    if (offer.starts_with(prefix))
      return "Bearer " + std::string{offer.substr(prefix.size())};
  return {};
}

/// Notes the origin of a request, whose page may then read the answer.
/// @param host as the client names the server.
/// @errors throws `permission_denied` for a page that is not served, and
///         `invalid_argument` for several origins.
void check_origin(const server_core& server, exchange& x,
                  std::string_view host) {
  if (x.request.count(http::field::origin) > 1)
    throw status_error{errc::invalid_argument, "Origin: is not one origin"};
  const auto origin = field_of(x.request, http::field::origin);
  if (!origin.empty() && !server.access().allows_origin(origin, host))
    throw status_error{errc::permission_denied,
                       "pages of this origin are not served"};
  x.origin = std::string{origin};
}

/// Checks what is the same for all routes.
/// @errors throws the error that becomes the answer.
void check_client(const server_core& server, exchange& x) {
  std::string_view place{x.request.target().data(), x.request.target().size()};
  const auto hosts = x.request.count(http::field::host);
  auto host = field_of(x.request, http::field::host);
  if (hosts > 1 || (hosts == 0 && x.request.version() >= 11)
      || (hosts == 1 && !is_host(host)))
    throw status_error{errc::invalid_argument, "Host: is not one host"};
  if (const auto named = take_host(place); !named.empty())
    host = named; // which counts, as RFC 9112 says
  if (!host.empty() && !server.access().is_host(host))
    throw status_error{errc::permission_denied,
                       "this server is not the host of the request"};
  check_origin(server, x, host);
  auto found = read_target(place);
  if (!found)
    throw status_error{errc::invalid_argument, "the target cannot be read"};
  x.place = std::move(*found);
}

/// Returns the answer of the route, which begins when it is awaited.
/// @errors throws what becomes the answer.
net::awaitable<void> dispatch(server_core& server, exchange& x) {
  check_client(server, x);
  const auto& path = x.place.path;
  auto method = x.request.method();
  if (method == options) {
    const auto methods = methods_of(server.routes(), path);
    if (methods.empty())
      throw status_error{errc::not_found, "there is no such path"};
    return x.reply(answer_preflight(server, methods));
  }
  if (method == head)
    method = get;
  std::string_view rest;
  for (const auto& candidate : server.routes()) {
    if (candidate.method != method || !matches(candidate, path, rest))
      continue;
    if (candidate.who != everyone) {
      auto caller = server.access().caller_of(authorization_of(x.request));
      if (!caller)
        throw status_error{errc::unauthenticated, "a bearer token is needed"};
      x.caller = std::move(*caller);
    }
    if (candidate.who == callers)
      begin_span(server, x, candidate);
    return candidate.answer(server, x, std::string{rest});
  }
  const auto methods = methods_of(server.routes(), path);
  if (methods.empty())
    throw status_error{errc::not_found, "there is no such path"};
  auto refusal = json_response(
    http::status::method_not_allowed,
    error_text({errc::unimplemented, "the path does not have this method"}));
  refusal.add("Allow", methods);
  return x.reply(std::move(refusal));
}

} // namespace

void note_origin(const server_core& server, exchange& x) {
  try {
    check_origin(server, x, field_of(x.request, http::field::host));
  } catch (const status_error&) {
    x.origin.clear();
  }
}

route_table http_routes() noexcept {
  return own_routes;
}

net::awaitable<void> serve(server_core& server, exchange& x) {
  const auto begin = clock::now();
  std::optional<status_error> failure;
  try {
    co_await dispatch(server, x);
  } catch (const status_error& error) {
    failure = error;
  } catch (const std::exception& error) {
    failure = status_error::unexpected(error.what());
  }
  if (failure && x.is_left)
    failure = status_error{errc::cancelled, "the client has left"};
  if (failure && !x.is_answered()) {
    const redaction by{server.options(), x.caller, {}};
    auto error = by.error(*failure);
    co_await x.reply(error_response(error.code, std::move(error.text)));
  } else if (failure && x.status == static_cast<unsigned>(http::status::ok)) {
    x.reset(); // an answer that has begun cannot become another one
  }
  end_record(server, x, begin);
}

} // namespace tertulia::web
