// SPDX-License-Identifier: BSD-3-Clause

#include "reflection_entry.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "genkit_agent.hpp"
#include "model_call.hpp"

namespace tertulia::web {

namespace {

/// Names of a kind of action here and for Genkit's tools.
struct kind_name {
  std::string_view own;
  std::string_view theirs;
};

// Of two actions that would have the same key there, the later one keeps its
// own.
constexpr std::array kinds{
  kind_name{"/bidi-flow/", "/flow/"},
  kind_name{"/agent/", "/agent/"},
  kind_name{"/session-flow/", "/agent/"},
};

json text_schema(const char* type) {
  return {{"type", type}};
}

json agent_input_schema() {
  json result = text_schema("object");
  auto& members = result["properties"];
  members["message"] = text_schema("object");
  members["resume"] = text_schema("object");
  members["detach"] = text_schema("boolean");
  return result;
}

json evaluator_metadata(const descriptor& x) {
  return {{"type", "evaluator"},
          {"evaluator",
           {{"evaluatorDisplayName", x.name},
            {"evaluatorDefinition", x.description},
            {"evaluatorIsBilled", false}}}};
}

/// Returns the schema of the custom value in the state of an agent; null if
/// its output has no state, or the state has no custom value.
json custom_schema(const descriptor& x) {
  const auto* at = &x.output_schema;
  for (const auto* name : {"state", "custom"}) {
    const auto members = at->find("properties");
    if (members == at->end() || !members->contains(name))
      return nullptr;
    at = &members->at(name);
  }
  if (!at->contains("properties"))
    return nullptr;
  auto result = *at;
  if (x.output_schema.contains("$defs")) // to which it may refer
    result["$defs"] = x.output_schema["$defs"];
  return result;
}

} // namespace

std::string their_key(const std::string& own) {
  for (const auto& kind : kinds)
    if (own.starts_with(kind.own))
      return std::string{kind.theirs} + own.substr(kind.own.size());
  return own;
}

std::vector<std::string> own_keys(const std::string& theirs) {
  std::vector<std::string> result;
  for (const auto& kind : kinds)
    if (theirs.starts_with(kind.theirs))
      result.push_back(std::string{kind.own}
                       + theirs.substr(kind.theirs.size()));
  return result;
}

json entry_of(const descriptor& x, const std::string& key, bool is_stored) {
  json result{{"key", key}, {"name", x.name}};
  if (!x.description.empty())
    result["description"] = x.description;
  const auto add = [&](const char* name, const json& schema) {
    if (schema.is_object())
      result[name] = schema;
  };
  if (is_genkit_agent(x)) {
    result["inputSchema"] = agent_input_schema();
    json agent{{"stateManagement", is_stored ? "server" : "client"},
               {"abortable", is_stored}};
    if (auto custom = custom_schema(x); !custom.is_null())
      agent["stateSchema"] = std::move(custom);
    result["metadata"] = {{"bidi", true}, {"agent", std::move(agent)}};
    return result;
  }
  // A tool is opened with its input.
  add("inputSchema", x.kind == "tool" ? x.init_schema : x.input_schema);
  add("outputSchema", x.output_schema);
  if (x.kind == "model")
    result["metadata"]["model"] = model_metadata(x.name);
  else if (x.kind == "tool")
    result["metadata"]["type"] = "tool";
  else if (x.kind == "evaluator")
    result["metadata"] = evaluator_metadata(x);
  else
    result["metadata"] = json::object();
  return result;
}

} // namespace tertulia::web
