// SPDX-License-Identifier: BSD-3-Clause

#include "exchange.hpp"

#include <algorithm>
#include <utility>

#include "error_body.hpp"

namespace tertulia::web {

response_message json_response(http::status status, std::string text) {
  response_message result{status, 11};
  result.set(http::field::content_type, "application/json");
  result.body() = std::move(text);
  return result;
}

response_message error_response(errc code, std::string text) {
  auto result = json_response(static_cast<http::status>(http_status(code)),
                              std::move(text));
  if (code == errc::unauthenticated)
    result.set(http::field::www_authenticate, "Bearer");
  if (code == errc::unavailable || code == errc::resource_exhausted)
    result.set(http::field::retry_after, "1");
  return result;
}

response_message error_response(const status_error& x) {
  return error_response(x.code(), error_text(x));
}

std::string head_text(const response_message& x) {
  const auto code = x.result_int();
  const auto reason = http::obsolete_reason(x.result());
  std::string result;
  result.reserve(256);
  result.append(x.version() < 11 ? "HTTP/1.0 " : "HTTP/1.1 ");
  result.append(std::to_string(code)).append(" ");
  result.append(reason.data(), reason.size()).append("\r\n");
  for (const auto& field : x) {
    const auto name = field.name_string();
    const auto value = field.value();
    result.append(name.data(), name.size()).append(": ");
    result.append(value.data(), value.size()).append("\r\n");
  }
  return result.append("\r\n");
}

response_message event_stream_head() {
  response_message result{http::status::ok, 11};
  result.set(http::field::content_type, "text/event-stream");
  result.set(http::field::cache_control, "no-cache");
  result.set("X-Accel-Buffering", "no"); // nginx passes events on at once
  return result;
}

std::string_view field_of(const request_message& x, http::field name) {
  const auto value = x[name];
  return {value.data(), value.size()};
}

std::string_view field_of(const request_message& x, const char* name) {
  const auto value = x[name];
  return {value.data(), value.size()};
}

std::vector<std::string_view> items_of(const request_message& x,
                                       http::field name) {
  constexpr std::string_view blanks = " \t";
  std::vector<std::string_view> result;
  for (auto rest = field_of(x, name); !rest.empty();) {
    const auto comma = std::min(rest.find(','), rest.size());
    auto item = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    item.remove_prefix(std::min(item.find_first_not_of(blanks), item.size()));
    item = item.substr(0, item.find_last_not_of(blanks) + 1);
    if (!item.empty())
      result.push_back(item);
  }
  return result;
}

std::optional<span_context> parent_of(const request_message& x) {
  std::string state; // fields of the same name are one list
  const auto [first, last] = x.equal_range("tracestate");
  for (auto i = first; i != last; ++i)
    state.append(state.empty() ? "" : ",")
      .append(i->value().data(), i->value().size());
  return parse_traceparent(field_of(x, "traceparent"), state);
}

void pass_trace(const exchange& from, open_options& to) {
  const auto parent
    = from.work.context() != nullptr ? std::nullopt : parent_of(from.request);
  const auto* chosen = parent ? &*parent : from.work.context();
  if (chosen == nullptr)
    return;
  to.trace_parent = chosen->to_traceparent();
  to.trace_state = chosen->state;
}

} // namespace tertulia::web
