// SPDX-License-Identifier: BSD-3-Clause

#include "request_json.hpp"

#include <tertulia/status.hpp>

#include <deque>
#include <utility>

#include <fmt/format.h>

namespace tertulia::openai {

namespace {

using ai::part;

/// A `json` with ordered members would be easier to read, but the order does
/// not matter to the server.
json text_content(std::string text) {
  return json{{"type", "text"}, {"text", std::move(text)}};
}

json media_content(const ai::media_part& x) {
  if (!x.content_type.empty() && !x.content_type.starts_with("image/"))
    throw status_error{errc::invalid_argument,
                       fmt::format("this model takes pictures, not {}",
                                   x.content_type)};
  return json{{"type", "image_url"}, {"image_url", {{"url", x.url}}}};
}

/// Writer of a sequence of messages. A tool request without an id gets one, so
/// that its response can refer to it.
class message_writer {
public:
  json take() {
    return std::move(messages_);
  }

  void write(const ai::message& x) {
    switch (x.role) {
      case ai::role::system: add("system", x.text()); break;
      case ai::role::user: add("user", user_content(x)); break;
      case ai::role::model: write_model(x); break;
      case ai::role::tool: write_tools(x); break;
    }
  }

  void add(const char* role, json content) {
    messages_.push_back(json{{"role", role}, {"content", std::move(content)}});
  }

private:
  static json user_content(const ai::message& x) {
    auto parts = json::array();
    bool only_text = true;
    for (const auto& y : x.content)
      if (const auto* text = y.as_text()) {
        parts.push_back(text_content(text->text));
      } else if (const auto* media = y.as_media()) {
        parts.push_back(media_content(*media));
        only_text = false;
      } else if (const auto* data = y.as_data()) {
        parts.push_back(text_content(to_json_text(data->data)));
        only_text = false;
      } else if (const auto* resource = y.as_resource()) {
        parts.push_back(text_content(resource->uri));
        only_text = false;
      }
    return only_text ? json(x.text()) : parts;
  }

  void write_model(const ai::message& x) {
    json result{{"role", "assistant"}};
    auto calls = json::array();
    open_.clear();
    for (const auto& y : x.content)
      if (const auto* request = y.as_request()) {
        auto id = request->ref;
        if (id.empty())
          id = "call_" + std::to_string(messages_.size()) + '_'
               + std::to_string(calls.size());
        open_.push_back(open_call{request->name, request->ref, id});
        // Every server accepts an empty object as a missing input.
        auto input = request->input.is_null() ? std::string{"{}"}
                                              : to_json_text(request->input);
        calls.push_back(
          json{{"id", std::move(id)},
               {"type", "function"},
               {"function",
                {{"name", request->name}, {"arguments", std::move(input)}}}});
      }
    auto text = x.text();
    result["content"] = text.empty() ? json{} : json(std::move(text));
    if (!calls.empty())
      result["tool_calls"] = std::move(calls);
    messages_.push_back(std::move(result));
  }

  void write_tools(const ai::message& x) {
    for (const auto& y : x.content)
      if (const auto* response = y.as_response()) {
        const auto& output = response->output;
        messages_.push_back(
          json{{"role", "tool"},
               {"tool_call_id", id_of(*response)},
               {"content", output.is_string() ? output.get<std::string>()
                                              : to_json_text(output)}});
      }
  }

  /// Returns the id under which the server knows the request.
  std::string id_of(const ai::tool_response& x) {
    for (auto i = open_.begin(); i != open_.end(); ++i)
      if (i->name == x.name && i->ref == x.ref) {
        auto result = i->id;
        open_.erase(i);
        return result;
      }
    return x.ref;
  }

  struct open_call {
    std::string name;
    std::string ref;
    std::string id;
  };

  json messages_ = json::array();
  std::deque<open_call> open_; // requests of the last message of the model
};

json tools_of(const ai::generate_request& request) {
  auto result = json::array();
  for (const auto& x : request.tools) {
    json function{{"name", x.name}};
    if (!x.description.empty())
      function["description"] = x.description;
    function["parameters"]
      = x.input_schema.is_object()
          ? x.input_schema
          : json{{"type", "object"}, {"properties", json::object()}};
    result.push_back(
      json{{"type", "function"}, {"function", std::move(function)}});
  }
  return result;
}

const char* choice_of(ai::tool_choice x) {
  switch (x) {
    case ai::tool_choice::required: return "required";
    case ai::tool_choice::none: return "none";
    default: return "auto";
  }
}

void write_config(const ai::model_config& from, json& to) {
  if (from.temperature)
    to["temperature"] = *from.temperature;
  if (from.top_p)
    to["top_p"] = *from.top_p;
  if (from.top_k)
    to["top_k"] = *from.top_k;
  if (from.max_output_tokens)
    to["max_tokens"] = *from.max_output_tokens;
  if (!from.stop_sequences.empty())
    to["stop"] = from.stop_sequences;
  if (from.custom.is_null())
    return;
  if (!from.custom.is_object())
    throw status_error{errc::invalid_argument,
                       "the custom part of a model's config is not an object"};
  for (const auto& [name, value] : from.custom.items())
    to[name] = value;
}

} // namespace

std::string request_text(const std::string& model,
                         const ai::generate_request& request) {
  json result{{"model", model},
              {"stream", true},
              {"stream_options", {{"include_usage", true}}}};
  message_writer messages;
  if (!request.system.empty())
    messages.add("system", request.system);
  for (const auto& x : request.messages)
    messages.write(x);
  result["messages"] = messages.take();
  if (!request.tools.empty()) {
    result["tools"] = tools_of(request);
    result["tool_choice"] = choice_of(request.tool_choice);
  }
  if (!request.output_schema.is_null())
    result["response_format"] = json{
      {"type", "json_schema"},
      {"json_schema", {{"name", "answer"}, {"schema", request.output_schema}}}};
  write_config(request.config, result);
  return to_json_text(result);
}

} // namespace tertulia::openai
