// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/descriptor.hpp>
#include <tertulia/json.hpp>

#include <string_view>
#include <utility>

#include "message/error_body.hpp"
#include "router.hpp"
#include "run_stream.hpp"
#include "talk/open_body.hpp"

namespace tertulia::web {

namespace {

bool wants_events(const exchange& x) {
  return field_of(x.request, http::field::accept).find("text/event-stream")
         != std::string_view::npos;
}

// Not in a coroutine: g++ 12 does not compile such lists there.
std::string action_list_of(const server_core& server,
                           const std::string& caller) {
  auto all = json::array();
  for (const auto& info : server.actions().actions())
    if (server.access().exposes(info.key)
        && server.access().allows({caller, access_verb::see, info.key, {}, {}}))
      all.push_back({{"key", info.key},
                     {"kind", info.kind},
                     {"name", info.name},
                     {"description", info.description}});
  return line_of({{"actions", std::move(all)}});
}

} // namespace

net::awaitable<void> list_actions(server_core& server, exchange& x,
                                  std::string) {
  co_await x.reply(
    json_response(http::status::ok, action_list_of(server, x.caller)));
}

net::awaitable<void> show_action(server_core& server, exchange& x,
                                 std::string key) {
  const auto action = server.find(key);
  server.authorize(x.caller, access_verb::see, key);
  co_await x.reply(
    json_response(http::status::ok, to_json_text(action.info())));
}

net::awaitable<void> run_action(server_core& server, exchange& x,
                                std::string key) {
  auto body = open_body_of(x.request.body());
  if (is_guest(body, x) && (body.run || body.attach))
    throw status_error{errc::invalid_argument,
                       "$.owner: answers for a live run go to its inputs"};
  body.close = true;
  auto terms = open_terms_of(body, server, x, key, false);
  terms->answers_once = !wants_events(x);
  run_stream run{server, x, server.find(key), std::move(terms)};
  if (!co_await run.wait_until_open())
    co_return;
  if (wants_events(x))
    co_return co_await write_events(x, run);
  std::vector<frame> frames;
  while (co_await run.take(frames) == channel_reader<frame>::outcome::items)
    for (const auto& one : frames) {
      if (one.kind == frame_kind::error || one.kind == frame_kind::refusal)
        co_return co_await x.reply(error_response(one.code, one.text));
      if (one.kind == frame_kind::output) {
        auto text = run.opened().text;
        text.insert(1, "\"output\":" + one.text + ",");
        co_return co_await x.reply(
          json_response(http::status::ok, std::move(text)));
      }
    }
  throw status_error{errc::unavailable, "the run was left"};
}

net::awaitable<void> show_metrics(server_core& server, exchange& x,
                                  std::string) {
  const auto& read = server.options().metrics;
  if (!read)
    throw status_error{errc::not_found, "the server has no metrics"};
  server.authorize(x.caller, access_verb::measure, {});
  auto text = read();
  if (!text.empty() && text.back() != '\n')
    text += '\n';
  text += "# HELP tertulia_http_connections Open connections of this server.\n"
          "# TYPE tertulia_http_connections gauge\n"
          "tertulia_http_connections "
          + std::to_string(server.connections()) + '\n';
  response_message result{http::status::ok, std::move(text)};
  result.add("Content-Type", "text/plain; version=0.0.4");
  co_await x.reply(std::move(result));
}

net::awaitable<void> show_health(server_core&, exchange& x, std::string) {
  co_await x.reply(json_response(http::status::ok, R"({"status":"ok"})"));
}

net::awaitable<void> show_readiness(server_core& server, exchange& x,
                                    std::string) {
  if (server.is_stopping())
    throw status_error{errc::unavailable, "the server is stopping"};
  co_await x.reply(json_response(http::status::ok, R"({"status":"ready"})"));
}

} // namespace tertulia::web
