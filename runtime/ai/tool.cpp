// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/tool.hpp>
#include <tertulia/detail/host.hpp>

#include <algorithm>
#include <string_view>

namespace tertulia::detail {

json check_tool_input(const payload& x, const json& schema) {
  if (!x)
    throw status_error{errc::invalid_argument, "a tool needs an input"};
  auto result = x.to_json();
  check_schema(result, schema);
  return result;
}

void note_value(context ctx, const char* attribute, const payload& x) {
  access::owner(ctx).services().values.record(ctx.trace(), attribute,
                                              [&] { return x.text(); });
}

void check_tool_name(const std::string& name) {
  constexpr std::string_view allowed
    = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  if (name.empty() || name.size() > 64
      || name.find_first_not_of(allowed) != std::string::npos)
    throw status_error{errc::invalid_argument,
                       "the name of a tool has 1 to 64 letters, digits, _ "
                       "and -"};
}

template task<json>
run_tool<json>(context ctx, std::shared_ptr<const tool_entry>, payload input,
               std::vector<json> replies, std::function<task<>(json)> hear,
               std::string call_id);

} // namespace tertulia::detail
