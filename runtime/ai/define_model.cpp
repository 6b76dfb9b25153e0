// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/define_model.hpp>

#include <set>
#include <string_view>

namespace tertulia::detail {

void check_request(const ai::generate_request& request) {
  std::set<std::string_view> names;
  for (const auto& tool : request.tools) {
    if (tool.name.empty())
      throw status_error{errc::invalid_argument, "a tool has no name"};
    if (!names.insert(tool.name).second)
      throw status_error{errc::invalid_argument,
                         "two tools have the name " + tool.name};
  }
  if (request.tools.empty() && request.tool_choice == ai::tool_choice::required)
    throw status_error{errc::invalid_argument,
                       "a tool is required, and there is none"};
  if (request.messages.empty() && request.system.empty())
    throw status_error{errc::invalid_argument, "there is nothing to answer"};
}

} // namespace tertulia::detail
