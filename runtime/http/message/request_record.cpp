// SPDX-License-Identifier: BSD-3-Clause

#include "request_record.hpp"

#include <tertulia/span_names.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "target.hpp"
#include <spdlog/logger.h>

namespace tertulia::web {

namespace {

/// Name of an unknown method, as the conventions of OpenTelemetry say.
constexpr std::string_view other_method = "_OTHER";

std::string_view method_of(const exchange& x) {
  if (x.request.method() == http::verb::unknown)
    return other_method;
  const auto name = http::to_string(x.request.method());
  return {name.data(), name.size()};
}

/// @param path of the route; empty without one.
span span_of(const server_core& server, std::string_view method,
             const std::string& path,
             const std::optional<span_context>& parent) {
  auto name = std::string{method};
  if (!path.empty())
    name += ' ' + path;
  auto result
    = server.actions().traces().start(name, parent ? &*parent : nullptr);
  result.set_attribute(span_names::http_method, method);
  if (!path.empty())
    result.set_attribute(span_names::http_route, path);
  result.set_attribute(span_names::url_scheme,
                       server.options().certificate.empty() ? "http" : "https");
  return result;
}

void end_span(span& x, unsigned status) {
  if (status != 0)
    x.set_attribute(span_names::http_status, status);
  if (status >= 500)
    x.set_error(errc::internal, "the request has failed");
  x.end();
}

/// Line of the log: names and values, as `logfmt` writes them.
class log_line {
public:
  /// @param value is written as ASCII without blanks; nothing if it is empty.
  void add(std::string_view name, std::string_view value) {
    if (value.empty())
      return;
    if (!text_.empty())
      text_ += ' ';
    text_.append(name) += '=';
    text_ += log_text(value);
  }

  void write_to(spdlog::logger& log) const {
    log.info("{}", text_);
  }

private:
  std::string text_;
};

/// Returns a time in milliseconds, with three digits behind the point.
std::string milliseconds(clock::duration x) {
  const auto micros
    = std::chrono::duration_cast<std::chrono::microseconds>(x).count();
  auto rest = std::to_string(1'000 + micros % 1'000);
  rest.front() = '.';
  return std::to_string(micros / 1'000) + rest;
}

} // namespace

void begin_span(const server_core& server, exchange& x, const route& to) {
  if (!server.actions().traces().enabled())
    return;
  auto path = std::string{to.path};
  if (to.has_rest)
    path += "/{key}";
  x.work = span_of(server, method_of(x), path, parent_of(x.request));
}

void end_record(const server_core& server, exchange& x,
                clock::time_point begin) {
  // What is refused before it has a route counts as well.
  if (!x.work.context() && x.status >= 400
      && server.actions().traces().enabled())
    x.work = span_of(server, method_of(x), {}, parent_of(x.request));
  if (const auto& log = server.options().log) {
    const auto method = x.request.method_string();
    const auto target = x.request.target();
    const auto end = std::min(target.find('?'), target.size());
    const auto* traced = x.work.context();
    log_line line;
    line.add("method", {method.data(), method.size()});
    line.add("path", {target.data(), end});
    line.add("status", std::to_string(x.status));
    line.add("ms", milliseconds(clock::now() - begin));
    if (x.status != 101) // a WebSocket has its own frames
      line.add("bytes", std::to_string(x.written));
    line.add("peer", x.peer.to_string());
    line.add("caller", x.caller);
    line.add("trace",
             traced != nullptr ? to_string(traced->trace) : std::string{});
    line.write_to(*log);
  }
  end_span(x.work, x.status);
}

void record_unread(const server_core& server, exchange& x) {
  end_record(server, x, clock::now());
}

void trace_refused(const server_core& server, unsigned status) {
  if (!server.actions().traces().enabled())
    return;
  auto work = span_of(server, other_method, {}, {});
  end_span(work, status);
}

void log_refused(const server_core& server, const refused_connections& x) {
  const auto& log = server.options().log;
  if (!log || x.count == 0)
    return;
  log_line line;
  line.add("status", std::to_string(x.status));
  line.add("peer", x.peer.to_string());
  line.add("refused", std::to_string(x.count));
  line.write_to(*log);
}

} // namespace tertulia::web
