// SPDX-License-Identifier: BSD-3-Clause

#include "openapi_parts.hpp"

#include <string>
#include <utility>

namespace tertulia::web::openapi {

json content(json schema) {
  return {{"application/json", {{"schema", std::move(schema)}}}};
}

json reference(const char* name) {
  return {{"$ref", std::string{"#/components/schemas/"} + name}};
}

json answer(const char* description, json schema) {
  return {{"description", description},
          {"content", content(std::move(schema))}};
}

json events_answer() {
  return {
    {"description",
     "An event stream: `opened`, then `chunks` (an array) and `turnEnd`, then "
     "`output` or `error`. The id of an event is the position in the log of "
     "what follows it."},
    {"content", {{"text/event-stream", {{"schema", {{"type", "string"}}}}}}}};
}

json output_answer() {
  auto result = answer("The output", {{"type", "object"}});
  result["content"].update(events_answer()["content"]);
  return result;
}

json parameter(const char* place, const char* name, const char* description,
               json schema, bool is_required) {
  return {{"in", place},
          {"name", name},
          {"description", description},
          {"required", is_required},
          {"schema", std::move(schema)}};
}

json key_parameters() {
  const json text{{"type", "string"}};
  return json::array(
    {parameter("path", "kind", "Kind of the action", text, true),
     parameter("path", "name", "Name of the action", text, true)});
}

json operation(const char* id, const char* summary, json parameters,
               json responses) {
  responses["default"] = answer(
    "The status of HTTP follows from that of the error.", reference("error"));
  return {{"operationId", id},
          {"summary", summary},
          {"parameters", std::move(parameters)},
          {"responses", std::move(responses)}};
}

json with_body(json operation, json schema) {
  operation["requestBody"]
    = {{"content", content(std::move(schema))}, {"required", false}};
  return operation;
}

} // namespace tertulia::web::openapi
