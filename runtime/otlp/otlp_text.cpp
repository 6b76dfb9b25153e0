// SPDX-License-Identifier: BSD-3-Clause

#include "otlp_text.hpp"

#include <tertulia/detail/text.hpp>
#include <tertulia/json.hpp>
#include <tertulia/span_names.hpp>
#include <tertulia/status.hpp>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <variant>

#include <fmt/format.h>

namespace tertulia::otlp {

namespace {

/// Kind of a span: of a request that is answered, of one to a model.
constexpr auto kind_internal = 1;
constexpr auto kind_server = 2;
constexpr auto kind_client = 3;

constexpr auto status_error_code = 2;

/// Numbers of 64 bits are texts, because JavaScript has no such numbers.
std::string number_text(std::int64_t x) {
  return std::to_string(x);
}

std::string time_text(caf::timestamp x) {
  return number_text(x.time_since_epoch().count());
}

/// JSON has no number for these.
json double_of(double x) {
  if (std::isnan(x))
    return "NaN";
  if (std::isinf(x))
    return x > 0 ? "Infinity" : "-Infinity";
  return x;
}

int kind_of(const span_data& x) {
  if (x.name.starts_with("/model/"))
    return kind_client;
  return x.find(span_names::http_method) != nullptr ? kind_server
                                                    : kind_internal;
}

json value_of(const attribute_value& x) {
  return std::visit(
    [](const auto& value) -> json {
      using type = std::decay_t<decltype(value)>;
      if constexpr (std::is_same_v<type, bool>)
        return {{"boolValue", value}};
      else if constexpr (std::is_same_v<type, std::int64_t>)
        return {{"intValue", number_text(value)}};
      else if constexpr (std::is_same_v<type, double>)
        return {{"doubleValue", double_of(value)}};
      else if constexpr (std::is_same_v<type, std::string>)
        return {{"stringValue", value}};
      else {
        auto values = json::array();
        for (const auto& text : value)
          values.push_back({{"stringValue", text}});
        return {{"arrayValue", {{"values", std::move(values)}}}};
      }
    },
    x);
}

json document_of(const attribute& x) {
  return {{"key", x.first}, {"value", value_of(x.second)}};
}

json attributes_of(const std::vector<attribute>& xs) {
  auto result = json::array();
  for (const auto& x : xs)
    result.push_back(document_of(x));
  return result;
}

json document_of(const span_data& x) {
  json result{{"traceId", to_string(x.context.trace)},
              {"spanId", to_string(x.context.span)},
              {"name", x.name},
              {"kind", kind_of(x)},
              {"startTimeUnixNano", time_text(x.start)},
              {"endTimeUnixNano", time_text(x.end.value_or(x.start))},
              {"attributes", attributes_of(x.attributes)}};
  if (x.parent)
    result["parentSpanId"] = to_string(*x.parent);
  if (!x.context.state.empty())
    result["traceState"] = x.context.state;
  auto events = json::array();
  for (const auto& event : x.events)
    events.push_back({{"timeUnixNano", time_text(event.time)},
                      {"name", event.name},
                      {"attributes", attributes_of(event.attributes)}});
  if (!events.empty())
    result["events"] = std::move(events);
  if (x.dropped_attributes > 0)
    result["droppedAttributesCount"] = x.dropped_attributes;
  if (x.dropped_events > 0)
    result["droppedEventsCount"] = x.dropped_events;
  if (x.status != errc::ok) {
    result["status"] = {{"code", status_error_code}, {"message", x.message}};
    result["attributes"].push_back(document_of(
      attribute{span_names::error_type, std::string{to_string(x.status)}}));
  }
  return result;
}

std::string_view trimmed(std::string_view x) {
  constexpr std::string_view blanks = " \t";
  const auto begin = std::min(x.find_first_not_of(blanks), x.size());
  return x.substr(begin, x.find_last_not_of(blanks) + 1 - begin);
}

} // namespace

std::string request_text(const otlp_options& options,
                         const span_queue::batch& spans) {
  auto resource = attributes_of({{"service.name", options.service_name},
                                 {"telemetry.sdk.name", "tertulia"},
                                 {"telemetry.sdk.version", TERTULIA_VERSION},
                                 {"telemetry.sdk.language", "cpp"}});
  for (auto& x : attributes_of(options.resource))
    resource.push_back(std::move(x));
  auto documents = json::array();
  for (const auto& x : spans)
    documents.push_back(document_of(*x));
  json scope{{"scope", {{"name", "tertulia"}, {"version", TERTULIA_VERSION}}},
             {"spans", std::move(documents)}};
  json of_resource{{"resource", {{"attributes", std::move(resource)}}},
                   {"scopeSpans", json::array({std::move(scope)})}};
  const json result{{"resourceSpans", json::array({std::move(of_resource)})}};
  // A text of a body may be cut within a character.
  return result.dump(-1, ' ', false, json::error_handler_t::replace);
}

refusal refusal_in(std::string_view answer) {
  refusal result;
  try {
    const auto all = parse_json<json>(answer);
    const auto part = all.value("partialSuccess", json::object());
    result.message = part.value("errorMessage", "");
    const auto count = part.value("rejectedSpans", json{0});
    if (count.is_number_unsigned())
      result.spans = count.get<std::size_t>();
    else if (count.is_string())
      result.spans = std::stoul(count.get<std::string>());
  } catch (const std::exception&) {
    return {};
  }
  return result;
}

http_fields fields_in(const std::string& variable, std::string_view text) {
  http_fields result;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    const auto item = trimmed(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    const auto sign = item.find('=');
    // The text may be a secret, so the error does not have it.
    if (sign == std::string_view::npos || sign == 0)
      throw status_error{errc::invalid_argument,
                         fmt::format("{}: is not a list of key=value",
                                     variable)};
    auto value = detail::percent_decoded(item.substr(sign + 1));
    if (!value)
      throw status_error{errc::invalid_argument,
                         fmt::format("{}: has a value that is not URL-encoded",
                                     variable)};
    result.emplace_back(item.substr(0, sign), std::move(*value));
  }
  return result;
}

} // namespace tertulia::otlp
