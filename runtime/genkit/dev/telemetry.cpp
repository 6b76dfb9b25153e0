// SPDX-License-Identifier: BSD-3-Clause

#include "telemetry.hpp"

#include <tertulia/span_names.hpp>
#include <tertulia/status_error.hpp>

#include <chrono>
#include <map>
#include <string_view>
#include <utility>
#include <variant>

#include "web_address.hpp"
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

namespace tertulia::web {

namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using net::ip::tcp;

constexpr std::size_t max_waiting = 10'000;
constexpr auto post_within = std::chrono::seconds{1};

/// Pause before a look whether other batches were sent.
constexpr auto look_again = std::chrono::milliseconds{5};

double milliseconds_of(caf::timestamp x) {
  using milliseconds = std::chrono::duration<double, std::milli>;
  return std::chrono::duration_cast<milliseconds>(x.time_since_epoch()).count();
}

json value_of(const attribute_value& x) {
  return std::visit([](const auto& value) { return json(value); }, x);
}

json attributes_of(const std::vector<attribute>& xs) {
  auto result = json::object();
  for (const auto& [name, value] : xs)
    result[name] = value_of(value);
  return result;
}

/// Adds what Genkit's tools read from every span: `/model/eliza` is an action
/// of the type `model`, and another name is a step.
void add_kind(json& to, const span_data& x) {
  const auto is_action = x.name.starts_with('/');
  const auto put = [&](const char* name, std::string value) {
    if (!to.contains(name))
      to[name] = std::move(value);
  };
  put("genkit:type", is_action ? "action" : "flowStep");
  if (is_action) {
    const auto second = x.name.find('/', 1);
    put(span_names::subtype, x.name.substr(1, second - 1));
    put(span_names::name,
        second == std::string::npos ? x.name : x.name.substr(second + 1));
  } else {
    put(span_names::name, x.name);
  }
  if (x.end)
    put("genkit:state", x.status == errc::ok ? "success" : "error");
}

json document_of(const span_data& x) {
  constexpr int failed = 2;
  auto attributes = attributes_of(x.attributes);
  add_kind(attributes, x);
  json result{{"spanId", to_string(x.context.span)},
              {"traceId", to_string(x.context.trace)},
              {"startTime", milliseconds_of(x.start)},
              {"endTime", x.end ? milliseconds_of(*x.end) : 0.0},
              {"attributes", std::move(attributes)},
              {"displayName", x.name},
              {"instrumentationLibrary", {{"name", "tertulia"}}},
              {"spanKind", "INTERNAL"}};
  if (x.parent)
    result["parentSpanId"] = to_string(*x.parent);
  auto events = json::array();
  for (const auto& event : x.events)
    events.push_back({{"time", milliseconds_of(event.time)},
                      {"annotation",
                       {{"description", event.name},
                        {"attributes", attributes_of(event.attributes)}}}});
  if (x.status != errc::ok) {
    result["status"] = {{"code", failed}, {"message", x.message}};
    events.push_back({{"time", milliseconds_of(x.end.value_or(x.start))},
                      {"annotation",
                       {{"description", "exception"},
                        {"attributes",
                         {{"exception.type", to_string(x.status)},
                          {"exception.message", x.message}}}}}});
  }
  if (!events.empty())
    result["timeEvents"]["timeEvent"] = std::move(events);
  return result;
}

/// Sends a document, and does not care whether it arrives.
net::awaitable<void> post_trace(const web_address& to, std::string body) {
  const auto executor = co_await net::this_coro::executor;
  tcp::resolver resolver{executor};
  beast::tcp_stream stream{executor};
  stream.expires_after(post_within);
  const auto [unknown, places]
    = co_await resolver.async_resolve(to.host, to.port, as_result);
  if (unknown)
    co_return;
  const auto [refused, place]
    = co_await stream.async_connect(places, as_result);
  if (refused)
    co_return;
  http::request<http::string_body> request{http::verb::post, "/api/traces", 11};
  request.set(http::field::host, to.host + ':' + to.port);
  request.set(http::field::content_type, "application/json");
  request.set(http::field::connection, "close");
  request.body() = std::move(body);
  request.prepare_payload();
  stream.expires_after(post_within);
  const auto [unsent, written]
    = co_await http::async_write(stream, request, as_result);
  if (unsent)
    co_return;
  beast::flat_buffer buffer;
  http::response<http::string_body> answer;
  static_cast<void>(
    co_await http::async_read(stream, buffer, answer, as_result));
}

} // namespace

json genkit_trace(const std::vector<std::shared_ptr<const span_data>>& spans) {
  json result{{"traceId", to_string(spans.front()->context.trace)}};
  for (const auto& x : spans) {
    const auto id = to_string(x->context.span);
    result["spans"][id] = document_of(*x);
    if (x->parent)
      continue;
    result["displayName"] = x->name;
    result["startTime"] = milliseconds_of(x->start);
    if (x->end)
      result["endTime"] = milliseconds_of(*x->end);
  }
  return result;
}

void genkit_telemetry::suggest(const std::string& url) {
  const std::lock_guard guard{mutex_};
  if (!is_fixed_)
    url_ = url;
}

void genkit_telemetry::on_start(const span_data& x) noexcept {
  if (!sends_starts_)
    return;
  try {
    add(std::make_shared<const span_data>(x));
  } catch (...) {
    return; // its end follows
  }
}

void genkit_telemetry::on_end(std::shared_ptr<const span_data> x) noexcept {
  add(std::move(x));
}

void genkit_telemetry::add(std::shared_ptr<const span_data> x) noexcept {
  try {
    const std::lock_guard guard{mutex_};
    if (waiting_.size() < max_waiting)
      waiting_.push_back(std::move(x));
  } catch (...) {
    return; // the span is lost
  }
}

net::awaitable<void> genkit_telemetry::flush() {
  std::map<trace_id, std::vector<std::shared_ptr<const span_data>>> traces;
  std::optional<web_address> to;
  {
    const std::lock_guard guard{mutex_};
    to = web_address::of(url_);
    for (auto& x : std::exchange(waiting_, {}))
      traces[x->context.trace].push_back(std::move(x));
    ++under_way_;
  }
  if (to)
    for (const auto& [id, spans] : traces) {
      auto text = genkit_trace(spans).dump(-1, ' ', false,
                                           json::error_handler_t::replace);
      co_await post_trace(*to, std::move(text));
    }
  {
    const std::lock_guard guard{mutex_};
    --under_way_;
  }
  // Others may have taken spans of this trace.
  net::steady_timer pause{co_await net::this_coro::executor};
  for (const auto until = clock::now() + post_within; clock::now() < until;) {
    {
      const std::lock_guard guard{mutex_};
      if (under_way_ == 0)
        break;
    }
    pause.expires_after(look_again);
    co_await pause.async_wait(as_result);
  }
}

} // namespace tertulia::web
