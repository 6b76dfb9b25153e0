// SPDX-License-Identifier: BSD-3-Clause

#include "reflection_server.hpp"

#include <tertulia/status_error.hpp>
#include <tertulia/timestamp.hpp>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <utility>

#include "message/error_body.hpp"
#include "project_folder.hpp"
#include "talk/open_body.hpp"
#include <fmt/format.h>
#include <unistd.h>

namespace tertulia::web {

namespace {

constexpr std::uint16_t first_port = 3'100;
constexpr std::uint16_t last_port = 3'200;

/// Maximum size of a request, as in Genkit's runtimes.
constexpr std::size_t max_request = std::size_t{30} * 1'024 * 1'024;

reflection_server& server_of(server_core& x) noexcept {
  return static_cast<reflection_server&>(x);
}

void add_version(response_message& to) {
  to.add("X-Genkit-Version", reflection_program);
}

response_message text_response(http::status status, std::string text) {
  response_message result{status, std::move(text)};
  result.add("Content-Type", "text/plain");
  add_version(result);
  return result;
}

response_message document_response(const json& x,
                                   http::status status = http::status::ok) {
  auto result = json_response(status, line_of(x));
  add_version(result);
  return result;
}

// Not in coroutines: g++ 12 does not compile such lists there.

json message_of(const char* text) {
  return {{"message", text}};
}

/// Returns the trace that a request names; empty without one.
std::string trace_in(const json& body) {
  if (!body.is_object() || !body.contains("traceId")
      || !body["traceId"].is_string())
    return {};
  return body["traceId"].get<std::string>();
}

json cancel_error(const char* text) {
  return {{"error", text}};
}

json environments() {
  return json::array({"dev"});
}

/// Listener that writes what it hears as lines of text.
class line_sink final : public reflection_sink {
public:
  line_sink(exchange& x, bool is_stream)
    : exchange_(x), is_stream_(is_stream) {}

  net::awaitable<void> started(const span_context& root) override {
    response_message head{http::status::ok};
    head.add("Content-Type", is_stream_ ? "text/plain" : "application/json");
    head.add("X-Genkit-Trace-Id", to_string(root.trace));
    head.add("X-Genkit-Span-Id", to_string(root.span));
    add_version(head);
    static_cast<void>(co_await exchange_.begin(std::move(head)));
  }

  net::awaitable<bool> chunk(const json& x) override {
    const auto text = line_of(x) + '\n';
    co_return co_await exchange_.write(text);
  }

private:
  exchange& exchange_;
  const bool is_stream_;
};

// -- routes -------------------------------------------------------------------

net::awaitable<void> show_program(server_core& server, exchange& x,
                                  std::string) {
  const auto id = x.place.get("id");
  const auto is_other = !id.empty() && id != server_of(server).id();
  auto answer = is_other
                  ? text_response(http::status::service_unavailable, "another")
                  : text_response(http::status::ok, "OK");
  co_await x.reply(std::move(answer));
}

net::awaitable<void> show_actions(server_core& server, exchange& x,
                                  std::string) {
  const auto all = server_of(server).actions_of_tools().actions();
  co_await x.reply(document_response(all));
}

net::awaitable<void> show_values(server_core&, exchange& x, std::string) {
  const auto type = x.place.get("type");
  const auto is_known = type == "defaultModel" || type == "middleware";
  auto answer = is_known ? document_response(json::object())
                         : text_response(http::status::bad_request,
                                         "there are no values of this type");
  co_await x.reply(std::move(answer));
}

net::awaitable<void> show_environments(server_core&, exchange& x, std::string) {
  co_await x.reply(document_response(environments()));
}

net::awaitable<void> take_notice(server_core& server, exchange& x,
                                 std::string) {
  const auto notice = read_document(x.request.body());
  if (notice.is_object())
    if (const auto url = notice.find("telemetryServerUrl");
        url != notice.end() && url->is_string())
      server_of(server).actions_of_tools().telemetry().suggest(
        url->get<std::string>());
  co_await x.reply(text_response(http::status::ok, "OK"));
}

net::awaitable<void> run_reflected(server_core& server, exchange& x,
                                   std::string) {
  auto& actions = server_of(server).actions_of_tools();
  auto call = reflection_call::of(read_document(x.request.body()));
  call.is_stream = x.place.get("stream") == "true";
  call.has_more_inputs = false;
  if (!actions.has(call.key)) {
    auto text = fmt::format("action {} not found", call.key);
    co_return co_await x.reply(
      text_response(http::status::not_found, std::move(text)));
  }
  line_sink to{x, call.is_stream};
  auto inputs = std::make_shared<reflected_run>();
  x.when_gone([inputs] { inputs->cancel(); });
  const auto last = co_await actions.run(std::move(call), to, inputs);
  x.when_gone(nullptr);
  // Without an end of the line: what follows the last one is the result.
  const auto text = line_of(last);
  const auto is_there = co_await x.write(text);
  if (is_there)
    co_await x.end();
}

net::awaitable<void> cancel_reflected(server_core& server, exchange& x,
                                      std::string) {
  const auto body = read_document(x.request.body());
  const auto trace = trace_in(body);
  if (trace.empty())
    co_return co_await x.reply(document_response(
      cancel_error("traceId is required"), http::status::bad_request));
  const auto is_found = server_of(server).actions_of_tools().cancel(trace);
  auto answer
    = is_found
        ? document_response(message_of("Action cancelled"))
        : document_response(message_of("Action not found or already completed"),
                            http::status::not_found);
  co_await x.reply(std::move(answer));
}

// The program ends as if somebody had ended it from a terminal.
net::awaitable<void> end_program(server_core& server, exchange& x,
                                 std::string) {
  // A page of another site can have a browser send this, without reading the
  // answer.
  const auto site = field_of(x.request, "Sec-Fetch-Site");
  if (!site.empty() && site != "none" && site != "same-origin")
    throw status_error{errc::permission_denied,
                       "pages of other sites are not served"};
  co_await x.reply(text_response(http::status::ok, "OK"));
  server_of(server).withdraw();
  static_cast<void>(::kill(::getpid(), SIGTERM));
}

constexpr std::array reflection_routes{
  route{http::verb::get, "/api/__health", false, audience::everyone,
        show_program},
  route{http::verb::get, "/api/actions", false, audience::everyone,
        show_actions},
  route{http::verb::get, "/api/values", false, audience::everyone, show_values},
  route{http::verb::get, "/api/envs", false, audience::everyone,
        show_environments},
  route{http::verb::post, "/api/notify", false, audience::everyone,
        take_notice},
  route{http::verb::post, "/api/runAction", false, audience::everyone,
        run_reflected},
  route{http::verb::post, "/api/cancelAction", false, audience::everyone,
        cancel_reflected},
  route{http::verb::get, "/api/__quitquitquit", false, audience::everyone,
        end_program},
};

} // namespace

std::unique_ptr<reflection_server>
reflection_server::make(reflection& of, runtime& rt, const std::string& address,
                        const std::string& folder, const std::string& name) {
  for (auto port = first_port;; ++port) {
    http_server_options options;
    options.address = address;
    options.port = port;
    options.max_body = max_request;
    options.drain_within = std::chrono::seconds{1};
    try {
      auto result
        = std::make_unique<reflection_server>(of, rt, std::move(options));
      result->start();
      result->announce(folder, name);
      return result;
    } catch (const status_error& x) {
      if (x.code() != errc::unavailable || port == last_port)
        throw;
    }
  }
}

reflection_server::reflection_server(reflection& of, runtime& rt,
                                     http_server_options options)
  : server_core(rt, std::move(options), reflection_routes), reflection_(of),
    id_(std::to_string(::getpid()) + '-' + std::to_string(port())) {}

reflection_server::~reflection_server() {
  withdraw();
  try {
    stop(); // its handlers use the members of this class
  } catch (...) {
    return;
  }
}

void reflection_server::withdraw() noexcept {
  const std::lock_guard guard{mutex_};
  std::error_code ignored;
  if (!file_.empty())
    std::filesystem::remove(file_, ignored);
}

void reflection_server::announce(const std::string& folder,
                                 const std::string& name) {
  namespace fs = std::filesystem;
  const auto now = std::chrono::system_clock::now();
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(
    now.time_since_epoch());
  json notice{{"id", id_},
              {"pid", ::getpid()},
              {"reflectionServerUrl", url()},
              {"timestamp", to_rfc3339(timestamp{now.time_since_epoch()})},
              {"genkitVersion", reflection_program},
              {"reflectionApiSpecVersion", 1}};
  if (!name.empty())
    notice["name"] = name;
  const auto place = fs::path{folder.empty() ? project_folder() : folder}
                     / ".genkit" / "runtimes";
  const auto file
    = place / (id_ + '-' + std::to_string(since.count()) + ".json");
  std::error_code problem;
  fs::create_directories(place, problem);
  std::ofstream out{file};
  out << line_of(notice);
  out.close();
  if (!out)
    throw status_error{errc::permission_denied,
                       fmt::format("{}: cannot be written", file.string())};
  const std::lock_guard guard{mutex_};
  file_ = file.string();
}

} // namespace tertulia::web
