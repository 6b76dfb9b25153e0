// SPDX-License-Identifier: BSD-3-Clause

#include "action_span.hpp"

#include <tertulia/descriptor.hpp>
#include <tertulia/span_names.hpp>

namespace tertulia::detail {

namespace {

/// Provider of what runs in this process.
constexpr auto own_provider = "tertulia";

} // namespace

void describe_action(span& to, const descriptor& of) {
  using namespace span_names;
  if (to.context() == nullptr)
    return;
  to.set_attribute(name, of.name);
  to.set_attribute(subtype, of.kind);
  if (of.kind == "model") {
    to.set_attribute(operation, "chat");
    to.set_attribute(provider, own_provider); // a model elsewhere changes it
    to.set_attribute(request_model, of.name);
  } else if (of.kind == "tool") {
    to.set_attribute(operation, "execute_tool");
    to.set_attribute(tool_name, of.name);
    to.set_attribute(tool_type, "function");
    if (!of.description.empty())
      to.set_attribute(tool_description, of.description);
  } else if (of.kind == "agent" || of.kind == "session-flow") {
    to.set_attribute(operation, "invoke_agent");
    to.set_attribute(provider, own_provider);
    to.set_attribute(agent_name, of.name);
    if (!of.description.empty())
      to.set_attribute(agent_description, of.description);
  }
}

} // namespace tertulia::detail
