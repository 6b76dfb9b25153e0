// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/schema.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tertulia::detail {

json schema_of_type(const char* name) {
  auto result = json::object();
  result["type"] = name;
  return result;
}

namespace {

json schema_of_any(std::vector<json> alternatives) {
  auto result = json::object();
  result["anyOf"] = std::move(alternatives);
  return result;
}

json reference_to(const std::string& name) {
  auto result = json::object();
  result["$ref"] = "#/$defs/" + name;
  return result;
}

} // namespace

struct schema_builder::stack {
  void push(json x) {
    schemas.push_back(std::move(x));
  }

  json pop() {
    auto result = std::move(schemas.back());
    schemas.pop_back();
    return result;
  }

  /// Pops several schemas; returns them in the order in which they were pushed.
  std::vector<json> pop(std::size_t count) {
    const auto begin = schemas.end() - static_cast<std::ptrdiff_t>(count);
    // braces would make one element
    std::vector<json> result(std::make_move_iterator(begin),
                             std::make_move_iterator(schemas.end()));
    schemas.erase(begin, schemas.end());
    return result;
  }

  std::vector<json> schemas;

  /// Structs that are being built or are defined; a name is empty until the
  /// first reference to its struct.
  std::map<std::type_index, std::string> names;

  json definitions = json::object();
};

schema_builder::schema_builder() : stack_(std::make_unique<stack>()) {}

schema_builder::~schema_builder() = default;

json schema_builder::finish() {
  auto result = stack_->pop();
  result["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  if (!stack_->definitions.empty())
    result["$defs"] = std::move(stack_->definitions);
  return result;
}

// -- schemas ------------------------------------------------------------------

void schema_builder::add_type(const char* name) {
  stack_->push(schema_of_type(name));
}

void schema_builder::add_integer(bool is_signed, int bits) {
  auto result = schema_of_type("integer");
  if (!is_signed)
    result["minimum"] = 0;
  else if (bits < 64)
    result["minimum"] = -(std::int64_t{1} << (bits - 1));
  if (bits < 64)
    result["maximum"] = (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  stack_->push(std::move(result));
}

void schema_builder::add_any_value() {
  stack_->push(json::object());
}

void schema_builder::add_names(const std::string_view* names,
                               std::size_t size) {
  auto result = schema_of_type("string");
  result["enum"] = std::vector<std::string>(names, names + size);
  stack_->push(std::move(result));
}

void schema_builder::add_result(schema_function* make) {
  stack_->push(make());
}

// -- schemas of other schemas -------------------------------------------------

void schema_builder::make_any(std::size_t count) {
  stack_->push(schema_of_any(stack_->pop(count)));
}

void schema_builder::make_nullable() {
  add_type("null");
  make_any(2);
}

void schema_builder::make_tuple(std::size_t count) {
  auto elements = stack_->pop(count);
  auto result = schema_of_type("array");
  result["minItems"] = result["maxItems"] = elements.size();
  if (!elements.empty()) // an empty prefixItems is not a valid schema
    result["prefixItems"] = std::move(elements);
  stack_->push(std::move(result));
}

void schema_builder::make_list() {
  auto result = schema_of_type("array");
  result["items"] = stack_->pop();
  stack_->push(std::move(result));
}

void schema_builder::make_set() {
  make_list();
  stack_->schemas.back()["uniqueItems"] = true;
}

void schema_builder::make_array(std::size_t size) {
  make_list();
  auto& result = stack_->schemas.back();
  result["minItems"] = result["maxItems"] = size;
}

void schema_builder::make_map() {
  auto result = schema_of_type("object");
  result["additionalProperties"] = stack_->pop();
  stack_->push(std::move(result));
}

void schema_builder::make_map_of_names() {
  auto names = stack_->pop();
  make_map();
  stack_->schemas.back()["propertyNames"] = std::move(names);
}

// -- structs ------------------------------------------------------------------

bool schema_builder::begin_struct(std::type_index type) {
  auto& names = stack_->names;
  const auto [i, is_new] = names.try_emplace(type);
  if (is_new) {
    add_type("object");
    stack_->schemas.back()["properties"] = json::object();
    return true;
  }
  auto& name = i->second;
  if (name.empty()) {
    const auto is_taken = [&](const std::string& wanted) {
      return std::any_of(names.begin(), names.end(),
                         [&](const auto& x) { return x.second == wanted; });
    };
    const auto base = short_type_name(type);
    auto wanted = base;
    for (auto number = 2; is_taken(wanted); ++number)
      wanted = base + std::to_string(number);
    name = wanted;
  }
  stack_->push(reference_to(name));
  return false;
}

void schema_builder::make_optional_member(std::string_view name) {
  auto member = stack_->pop();
  stack_->schemas.back()["properties"][std::string{name}] = std::move(member);
}

void schema_builder::make_required_member(std::string_view name) {
  make_optional_member(name);
  stack_->schemas.back()["required"].push_back(std::string{name});
}

void schema_builder::refuse_other_members() {
  stack_->schemas.back()["additionalProperties"] = false;
}

void schema_builder::end_struct(std::type_index type) {
  const auto i = stack_->names.find(type);
  if (i->second.empty()) { // no references: the schema is used in place
    stack_->names.erase(i);
    return;
  }
  stack_->definitions[i->second] = stack_->pop();
  stack_->push(reference_to(i->second));
}

} // namespace tertulia::detail
