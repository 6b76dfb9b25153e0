// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/schema.hpp>

#include <algorithm>

namespace tertulia::detail {

// -- pieces of a schema -------------------------------------------------------

json schema_of_type(const char* name) {
  auto result = json::object();
  result["type"] = name;
  return result;
}

json schema_of_integer(bool is_signed, int bits) {
  auto result = schema_of_type("integer");
  if (!is_signed)
    result["minimum"] = 0;
  else if (bits < 64)
    result["minimum"] = -(std::int64_t{1} << (bits - 1));
  if (bits < 64)
    result["maximum"] = (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  return result;
}

json schema_of_any(std::vector<json> alternatives) {
  auto result = json::object();
  result["anyOf"] = std::move(alternatives);
  return result;
}

json schema_or_null(json schema) {
  std::vector<json> alternatives;
  alternatives.push_back(std::move(schema));
  alternatives.push_back(schema_of_type("null"));
  return schema_of_any(std::move(alternatives));
}

json schema_of_tuple(std::vector<json> elements) {
  auto result = schema_of_type("array");
  result["minItems"] = result["maxItems"] = elements.size();
  if (!elements.empty()) // an empty prefixItems is not a valid schema
    result["prefixItems"] = std::move(elements);
  return result;
}

json schema_of_names(std::vector<std::string> names) {
  auto result = schema_of_type("string");
  result["enum"] = std::move(names);
  return result;
}

// -- structs ------------------------------------------------------------------

std::optional<json> schema_builder::begin(std::type_index type) {
  const auto [i, is_new] = names_.try_emplace(type);
  if (is_new)
    return std::nullopt;
  auto& name = i->second;
  if (name.empty()) {
    const auto is_taken = [&](const std::string& wanted) {
      return std::any_of(names_.begin(), names_.end(),
                         [&](const auto& x) { return x.second == wanted; });
    };
    const auto base = short_type_name(type);
    auto wanted = base;
    for (auto number = 2; is_taken(wanted); ++number)
      wanted = base + std::to_string(number);
    name = wanted;
  }
  auto result = json::object();
  result["$ref"] = "#/$defs/" + name;
  return result;
}

json schema_builder::end(std::type_index type, json schema) {
  const auto i = names_.find(type);
  if (i->second.empty()) { // no references: the schema is used in place
    names_.erase(i);
    return schema;
  }
  definitions_[i->second] = std::move(schema);
  auto result = json::object();
  result["$ref"] = "#/$defs/" + i->second;
  return result;
}

json schema_builder::finish(json root) {
  root["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  if (!definitions_.empty())
    root["$defs"] = std::move(definitions_);
  return root;
}

} // namespace tertulia::detail
