// SPDX-License-Identifier: BSD-3-Clause

#include "exchange.hpp"

#include <algorithm>

namespace tertulia::web {

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
