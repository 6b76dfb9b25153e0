// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/part.hpp>
#include <tertulia/schema.hpp>

#include <array>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace tertulia {

namespace ai {

// -- factories ----------------------------------------------------------------

part part::text(std::string text, std::string content_type) {
  return text_part{std::move(text), std::move(content_type)};
}

part part::media(std::string url, std::string content_type) {
  return media_part{std::move(url), std::move(content_type)};
}

part part::request(std::string name, json input, std::string ref) {
  return tool_request{std::move(name), std::move(input), std::move(ref)};
}

part part::response(std::string name, json output, std::string ref) {
  return tool_response{std::move(name), std::move(output), std::move(ref)};
}

part part::data(json data) {
  return data_part(std::move(data));
}

part part::reasoning(std::string reasoning) {
  return reasoning_part{std::move(reasoning)};
}

part part::custom(json custom) {
  return custom_part(std::move(custom));
}

part part::resource(std::string uri) {
  return resource_part{std::move(uri)};
}

// -- access -------------------------------------------------------------------

const text_part* part::as_text() const noexcept {
  return std::get_if<text_part>(&value);
}

const media_part* part::as_media() const noexcept {
  return std::get_if<media_part>(&value);
}

const tool_request* part::as_request() const noexcept {
  return std::get_if<tool_request>(&value);
}

const tool_response* part::as_response() const noexcept {
  return std::get_if<tool_response>(&value);
}

const data_part* part::as_data() const noexcept {
  return std::get_if<data_part>(&value);
}

const reasoning_part* part::as_reasoning() const noexcept {
  return std::get_if<reasoning_part>(&value);
}

const custom_part* part::as_custom() const noexcept {
  return std::get_if<custom_part>(&value);
}

const resource_part* part::as_resource() const noexcept {
  return std::get_if<resource_part>(&value);
}

} // namespace ai

namespace {

/// Names of the members that determine the kind, in the order of `part::kind`.
constexpr std::array<std::string_view, 8> names{
  "text", "media",     "toolRequest", "toolResponse",
  "data", "reasoning", "custom",      "resource",
};

static_assert(names.size() == std::variant_size_v<ai::part::value_type>);

constexpr std::string_view content_type = "contentType";
constexpr std::string_view metadata = "metadata";

// -- writing ------------------------------------------------------------------

/// Writes one member of an object; its name must not need escapes.
template <class T>
void write_member(std::string& out, std::string_view name, const T& x,
                  const json_path& path) {
  if (out.back() != '{')
    out += ',';
  out.append(1, '"').append(name).append("\":");
  detail::write_value(out, x, {path, name});
}

/// Returns the value of the member that names the kind.
template <class T>
const T& content_of(const T& x) {
  return x;
}

const std::string& content_of(const ai::text_part& x) {
  return x.text;
}

const json& content_of(const ai::data_part& x) {
  return x.data;
}

const std::string& content_of(const ai::reasoning_part& x) {
  return x.reasoning;
}

const json& content_of(const ai::custom_part& x) {
  return x.custom;
}

// -- reading ------------------------------------------------------------------

/// Finds the one member that names the kind.
/// @returns its index in `names`.
std::size_t find_kind(const json& from, const json_path& path) {
  std::vector<std::string_view> found;
  std::size_t result = 0;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (from.contains(names[i])) {
      result = i;
      found.push_back(names[i]);
    }
  if (found.size() == 1)
    return result;
  raise_mismatch(path, fmt::format("exactly one of {}", fmt::join(names, ", ")),
                 found.empty() ? "none of them"
                               : fmt::format("{}", fmt::join(found, " and ")));
}

ai::part::value_type read_text(const json& from, const json& text,
                               const json_path& path) {
  ai::text_part result{detail::require_string(text, {path, names[0]})};
  if (const auto i = from.find(content_type); i != from.end())
    result.content_type = detail::require_string(*i, {path, content_type});
  return result;
}

ai::part::value_type read_kind(const json& from, const json_path& path) {
  const auto kind = find_kind(from, path);
  const auto& content = *from.find(names[kind]);
  const json_path here{path, names[kind]};
  switch (static_cast<ai::part::kind>(kind)) {
    case ai::part::kind::text: return read_text(from, content, path);
    case ai::part::kind::media:
      return detail::read_value<ai::media_part>(content, here);
    case ai::part::kind::tool_request:
      return detail::read_value<ai::tool_request>(content, here);
    case ai::part::kind::tool_response:
      return detail::read_value<ai::tool_response>(content, here);
    case ai::part::kind::data: return ai::data_part(content);
    case ai::part::kind::reasoning:
      return ai::reasoning_part{detail::require_string(content, here)};
    case ai::part::kind::custom:
      return ai::custom_part(detail::require_object(content, here));
    default: return detail::read_value<ai::resource_part>(content, here);
  }
}

// -- schema -------------------------------------------------------------------

/// Returns the schema of an object with `content` under the name of `kind`.
json schema_with(std::size_t kind, json content) {
  const std::string name{names[kind]};
  auto result = detail::schema_of_type("object");
  auto& properties = result["properties"];
  properties[name] = std::move(content);
  properties[std::string{metadata}] = detail::schema_of_type("object");
  if (name == names.front())
    properties[std::string{content_type}] = detail::schema_of_type("string");
  result["required"].push_back(name);
  return result;
}

} // namespace

void json_codec<ai::part>::write(std::string& out, const ai::part& x,
                                 const json_path& path) {
  detail::check_depth(path);
  out += '{';
  std::visit(
    [&](const auto& value) {
      const auto& content = content_of(value);
      const auto name = names[x.value.index()];
      if constexpr (std::is_same_v<decltype(value), const ai::custom_part&>)
        detail::require_object(content, {path, name});
      write_member(out, name, content, path);
      if constexpr (std::is_same_v<decltype(value), const ai::text_part&>)
        if (!value.content_type.empty())
          write_member(out, content_type, value.content_type, path);
    },
    x.value);
  if (!x.metadata.empty())
    write_member(out, metadata, x.metadata, path);
  out += '}';
}

ai::part json_codec<ai::part>::read(const json& from, const json_path& path) {
  detail::require_object(from, path);
  ai::part result;
  result.value = read_kind(from, path);
  if (const auto i = from.find(metadata); i != from.end())
    result.metadata
      = detail::read_value<ai::metadata_map>(*i, {path, metadata});
  return result;
}

json json_codec<ai::part>::schema() {
  const auto text = detail::schema_of_type("string");
  auto result = json::object();
  auto& kinds = result["oneOf"]; // a part has only one of the names
  kinds.push_back(schema_with(0, text));
  kinds.push_back(schema_with(1, detail::nested_schema_of<ai::media_part>()));
  kinds.push_back(schema_with(2, detail::nested_schema_of<ai::tool_request>()));
  kinds.push_back(
    schema_with(3, detail::nested_schema_of<ai::tool_response>()));
  kinds.push_back(schema_with(4, json::object()));
  kinds.push_back(schema_with(5, text));
  kinds.push_back(schema_with(6, detail::schema_of_type("object")));
  kinds.push_back(
    schema_with(7, detail::nested_schema_of<ai::resource_part>()));
  return result;
}

} // namespace tertulia
