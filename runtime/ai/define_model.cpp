// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/define_model.hpp>
#include <tertulia/detail/host.hpp>
#include <tertulia/json.hpp>
#include <tertulia/span_names.hpp>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace tertulia::detail {

void check_request(const ai::generate_request& request) {
  std::set<std::string_view> names;
  for (const auto& tool : request.tools) {
    if (tool.name.empty())
      throw status_error{errc::invalid_argument, "a tool has no name"};
    if (!names.insert(tool.name).second)
      throw status_error{errc::invalid_argument,
                         fmt::format("two tools have the name {}", tool.name)};
  }
  if (request.tools.empty() && request.tool_choice == ai::tool_choice::required)
    throw status_error{errc::invalid_argument,
                       "a tool is required, and there is none"};
  if (request.messages.empty() && request.system.empty())
    throw status_error{errc::invalid_argument, "there is nothing to answer"};
}

void note_request(context ctx, const ai::generate_request& request) {
  auto& to = ctx.trace();
  if (const auto& x = request.config.max_output_tokens)
    to.set_attribute(span_names::request_max_tokens, *x);
  if (const auto& x = request.config.temperature)
    to.set_attribute(span_names::request_temperature, *x);
}

void note_answer(context ctx, const ai::model_response& answer) {
  auto& to = ctx.trace();
  if (to.context() == nullptr)
    return;
  if (answer.usage) {
    to.set_attribute(span_names::input_tokens, answer.usage->input_tokens);
    to.set_attribute(span_names::output_tokens, answer.usage->output_tokens);
  }
  if (answer.finish_reason)
    to.set_attribute(
      span_names::finish_reasons,
      std::vector<std::string>{to_string(*answer.finish_reason)});
  if (answer.message)
    access::owner(ctx).services().values.record(to, span_names::output, [&] {
      return to_json_text(*answer.message);
    });
}

} // namespace tertulia::detail
