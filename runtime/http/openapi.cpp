// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/json.hpp>
#include <tertulia/schema.hpp>

#include <initializer_list>
#include <string>
#include <utility>

#include "error_body.hpp"
#include "open_body.hpp"
#include "router.hpp"

// Description of the server for programs, as OpenAPI 3.1.

namespace tertulia::web {

namespace {

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

json events() {
  return {
    {"description",
     "An event stream: `opened`, then `chunks` (an array) and `turnEnd`, then "
     "`output` or `error`. The id of an event is the position in the log of "
     "what follows it."},
    {"content", {{"text/event-stream", {{"schema", {{"type", "string"}}}}}}}};
}

json parameter(const char* place, const char* name, const char* description,
               json schema = {{"type", "string"}}, bool is_required = false) {
  return {{"in", place},
          {"name", name},
          {"description", description},
          {"required", is_required},
          {"schema", std::move(schema)}};
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

json document(const std::string& url) {
  const auto kind = parameter("path", "kind", "Kind of the action",
                              {{"type", "string"}}, true);
  const auto name = parameter("path", "name", "Name of the action",
                              {{"type", "string"}}, true);
  const auto key = json::array({kind, name});
  const auto run = parameter("query", "run", "Id of a run");
  const auto session
    = parameter("query", "session", "Session, instead of its live run");
  const auto of_run = json::array({kind, name, run, session});
  auto of_events = of_run;
  of_events.push_back(parameter("query", "after", "Position to begin from",
                                {{"type", "integer"}}));
  of_events.push_back(parameter("header", "Last-Event-ID",
                                "Id of the last event that was heard",
                                {{"type", "integer"}}));
  const json any{{"type", "object"}};
  json paths;
  paths["/actions"]["get"]
    = operation("listActions", "Lists the actions", json::array(),
                {{"200", answer("All actions that clients may open", any)}});
  auto& action = paths["/actions/{kind}/{name}"];
  action["get"] = operation("showAction", "Describes an action", key,
                            {{"200", answer("Its schemas", any)}});
  auto once = answer("The output", any);
  once["content"].update(events()["content"]);
  action["post"]
    = with_body(operation("runAction",
                          "Runs an action and waits for its output, or streams "
                          "it if events are accepted",
                          key, {{"200", once}}),
                reference("open"));
  paths["/talk/{kind}/{name}"]["get"]
    = operation("talk", "Opens a WebSocket", key,
                {{"101", {{"description", "The protocol is changed."}}}});
  auto& runs = paths["/runs/{kind}/{name}"];
  runs["post"] = with_body(
    operation("openRun", "Opens a run that outlives the request", key,
              {{"201", answer("Its position", reference("opened"))}}),
    reference("open"));
  runs["get"] = operation("showRun", "Returns what is known of a run", of_run,
                          {{"200", answer("The run", reference("run"))}});
  runs["delete"]
    = operation("abortRun", "Ends a run for all of its clients", of_run,
                {{"200", answer("The run as it was", reference("run"))}});
  paths["/inputs/{kind}/{name}"]["post"]
    = with_body(operation("sendInputs", "Sends inputs to a run", of_run,
                          {{"202", answer("How many of them were new", any)}}),
                reference("inputs"));
  paths["/events/{kind}/{name}"]["get"] = operation(
    "streamEvents", "Streams a run", of_events, {{"200", events()}});
  paths["/genkit/{kind}/{name}"]["post"]
    = with_body(operation("callFlow", "Runs an action for a client of Genkit",
                          key, {{"200", once}}),
                any);
  for (const auto* path : {"/metrics", "/healthz", "/readyz", "/openapi.json"})
    paths[path]["get"] = operation(path + 1, "For operators", json::array(),
                                   {{"200", answer("The server works.", any)}});
  json schemas;
  schemas["open"] = schema_of<open_body>();
  schemas["run"] = schema_of<run_info>();
  schemas["error"] = {{"type", "object"},
                      {"required", json::array({"status", "message"})},
                      {"properties",
                       {{"status", {{"type", "string"}}},
                        {"message", {{"type", "string"}}},
                        {"details", any}}}};
  schemas["opened"] = {{"type", "object"},
                       {"properties",
                        {{"run", {{"type", "string"}}},
                         {"session", {{"type", "string"}}},
                         {"snapshot", {{"type", "string"}}},
                         {"trace", {{"type", "string"}}},
                         {"next", {{"type", "integer"}}},
                         {"turn", {{"type", "integer"}}},
                         {"inputs", {{"type", "integer"}}},
                         {"inTurn", {{"type", "boolean"}}}}}};
  schemas["inputs"] = {{"type", "object"},
                       {"properties",
                        {{"inputs", {{"type", "array"}}},
                         {"number", {{"type", "integer"}}},
                         {"close", {{"type", "boolean"}}},
                         {"cancel", {{"type", "boolean"}}},
                         {"confirm", {{"type", "boolean"}}}}}};
  return {{"openapi", "3.1.0"},
          {"info", {{"title", "Tertulia"}, {"version", "1"}}},
          {"servers", json::array({{{"url", url}}})},
          {"paths", std::move(paths)},
          {"components",
           {{"schemas", std::move(schemas)},
            {"securitySchemes",
             {{"token", {{"type", "http"}, {"scheme", "bearer"}}}}}}},
          {"security", json::array({{{"token", json::array()}}})}};
}

} // namespace

net::awaitable<void> show_openapi(server_core& server, exchange& x,
                                  std::string) {
  co_await x.reply(
    json_response(http::status::ok, line_of(document(server.url()))));
}

} // namespace tertulia::web
