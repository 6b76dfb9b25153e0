// SPDX-License-Identifier: BSD-3-Clause

#include "model_call.hpp"

#include <tertulia/status_error.hpp>

#include <array>
#include <string_view>
#include <utility>

namespace tertulia::web {

namespace {

constexpr std::array<std::string_view, 5> known_settings{
  "temperature", "topP", "topK", "maxOutputTokens", "stopSequences"};

json settings_of(const json& config) {
  auto result = json::object();
  for (const auto& [name, value] : config.items()) {
    auto is_known = false;
    for (const auto known : known_settings)
      is_known = is_known || name == known;
    if (is_known)
      result[name] = value;
    else
      result["custom"][name] = value;
  }
  return result;
}

json tool_of(const json& x) {
  auto result = json::object();
  for (const auto* name :
       {"name", "description", "inputSchema", "outputSchema"})
    if (x.is_object() && x.contains(name))
      result[name] = x[name];
  return result;
}

bool is_system(const json& message) {
  return message.is_object() && message.contains("role")
         && message["role"] == "system";
}

/// Appends the texts of a message.
void add_texts(std::string& to, const json& message) {
  const auto content = message.find("content");
  if (content == message.end() || !content->is_array())
    return;
  for (const auto& part : *content)
    if (part.is_object())
      if (const auto text = part.find("text");
          text != part.end() && text->is_string())
        to += text->get<std::string>();
}

} // namespace

json model_call(const json& x) {
  if (!x.is_object())
    throw status_error{errc::invalid_argument, "$.input: is not an object"};
  auto result = json::object();
  auto messages = json::array();
  std::string system;
  if (const auto all = x.find("messages"); all != x.end() && all->is_array())
    for (const auto& message : *all) {
      if (is_system(message))
        add_texts(system, message);
      else
        messages.push_back(message);
    }
  result["messages"] = std::move(messages);
  if (!system.empty())
    result["system"] = std::move(system);
  if (const auto config = x.find("config");
      config != x.end() && config->is_object())
    result["config"] = settings_of(*config);
  if (const auto tools = x.find("tools"); tools != x.end() && tools->is_array())
    for (const auto& tool : *tools)
      result["tools"].push_back(tool_of(tool));
  if (const auto output = x.find("output");
      output != x.end() && output->is_object() && output->contains("schema"))
    result["outputSchema"] = (*output)["schema"];
  return result;
}

json model_metadata(const std::string& name) {
  return {{"label", name},
          {"supports",
           {{"multiturn", true},
            {"systemRole", true},
            {"tools", true},
            {"media", true}}}};
}

} // namespace tertulia::web
