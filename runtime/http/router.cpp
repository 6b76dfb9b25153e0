// SPDX-License-Identifier: BSD-3-Clause

#include "router.hpp"

#include <array>
#include <chrono>
#include <exception>
#include <string_view>
#include <utility>

#include "error_body.hpp"
#include <spdlog/logger.h>

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
  route{get, "/runs", true, callers, show_run},
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
  route{post, "/genkit", true, callers, run_for_genkit},
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

/// Begins the span of a request, with the names of OpenTelemetry's conventions.
/// The path is that of the route: it has nothing that a client chooses.
void begin_span(const server_core& server, exchange& x, const route& to) {
  const auto& traces = server.actions().traces();
  if (!traces.enabled())
    return;
  const auto parent = parse_traceparent(field_of(x.request, "traceparent"));
  const auto known = http::to_string(to.method);
  const std::string_view method{known.data(), known.size()};
  auto path = std::string{to.path};
  if (to.has_rest)
    path += "/{key}";
  x.work = traces.start(std::string{method} + ' ' + path,
                        parent ? &*parent : nullptr);
  x.work.set_attribute("http.request.method", method);
  x.work.set_attribute("http.route", path);
}

void end_span(exchange& x) {
  if (x.is_answered())
    x.work.set_attribute("http.response.status_code", x.status);
  if (x.status >= 500)
    x.work.set_error(errc::internal, "the request has failed");
  x.work.end();
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
response_message answer_preflight(const std::string& methods) {
  response_message result{http::status::no_content, 11};
  result.set(http::field::allow, methods);
  result.set(http::field::access_control_allow_methods, methods);
  result.set(http::field::access_control_allow_headers,
             "Authorization, Content-Type, Last-Event-ID, traceparent, "
             "x-genkit-stream-id");
  result.set(http::field::access_control_max_age, "600");
  return result;
}

/// Returns the token of a request. A browser cannot give a WebSocket a header
/// field, so it may be a protocol: `bearer.<token>`.
std::string authorization_of(const request_message& x) {
  const auto field = field_of(x, http::field::authorization);
  if (!field.empty())
    return std::string{field};
  constexpr std::string_view prefix = "bearer.";
  const auto offers = field_of(x, http::field::sec_websocket_protocol);
  const auto begin = offers.find(prefix);
  if (begin == std::string_view::npos)
    return {};
  const auto token = offers.substr(begin + prefix.size());
  return "Bearer " + std::string{token.substr(0, token.find_first_of(", "))};
}

/// Checks what is the same for all routes.
/// @errors throws the error that becomes the answer.
void check_client(const server_core& server, exchange& x) {
  const auto host = field_of(x.request, http::field::host);
  if (host.empty() ? x.request.version() >= 11 : !server.access().is_host(host))
    throw status_error{errc::permission_denied,
                       "this server is not the host of the request"};
  const auto origin = field_of(x.request, http::field::origin);
  if (!origin.empty() && !server.access().allows_origin(origin, host))
    throw status_error{errc::permission_denied,
                       "pages of this origin are not served"};
  x.origin = std::string{origin};
  auto place
    = read_target({x.request.target().data(), x.request.target().size()});
  if (!place)
    throw status_error{errc::invalid_argument, "the target cannot be read"};
  x.place = std::move(*place);
}

net::awaitable<void> dispatch(server_core& server, exchange& x) {
  check_client(server, x);
  const auto& path = x.place.path;
  auto method = x.request.method();
  if (method == options) {
    const auto methods = methods_of(server.routes(), path);
    if (methods.empty())
      throw status_error{errc::not_found, "there is no such path"};
    co_return co_await x.reply(answer_preflight(methods));
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
    co_return co_await candidate.answer(server, x, std::string{rest});
  }
  const auto methods = methods_of(server.routes(), path);
  if (methods.empty())
    throw status_error{errc::not_found, "there is no such path"};
  auto refusal = json_response(
    http::status::method_not_allowed,
    error_text({errc::unimplemented, "the path does not have this method"}));
  refusal.set(http::field::allow, methods);
  co_await x.reply(std::move(refusal));
}

} // namespace

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
  if (failure && !x.is_answered())
    co_await x.reply(error_response(*failure));
  else if (failure && x.status == static_cast<unsigned>(http::status::ok))
    x.reset(); // an answer that has begun cannot become another one
  end_span(x);
  if (const auto& log = server.options().log) {
    const auto method = x.request.method_string();
    const auto target = x.request.target(); // encoded: one line of ASCII
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
      clock::now() - begin);
    log->info("{} {} {} {} ms{}{}",
              std::string_view{method.data(), method.size()},
              std::string_view{target.data(), target.size()}.substr(
                0, target.find('?')),
              x.status, took.count(), x.caller.empty() ? "" : " ", x.caller);
  }
}

} // namespace tertulia::web
