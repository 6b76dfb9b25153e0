// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/json.hpp>
#include <tertulia/schema.hpp>

#include <initializer_list>
#include <utility>

#include "message/error_body.hpp"
#include "openapi_parts.hpp"
#include "router.hpp"
#include "run_list.hpp"
#include "talk/open_body.hpp"

// Description of the server for programs, as OpenAPI 3.1.

namespace tertulia::web {

namespace {

using namespace openapi;

/// Returns the schema of an object whose members are texts.
json object_of(std::initializer_list<const char*> members) {
  json result{{"type", "object"}};
  for (const auto* x : members)
    result["properties"][x] = {{"type", "string"}};
  return result;
}

/// Adds the routes of sessions and snapshots.
void add_sessions(json& paths, const json& kind, const json& name) {
  const json any{{"type", "object"}};
  const json number{{"type", "integer"}};
  const auto session
    = parameter("query", "session", "Session", {{"type", "string"}}, true);
  const auto snapshot
    = parameter("query", "snapshot",
                "Snapshot: its id, or its number in the session",
                {{"type", "string"}}, true);
  const auto limit = parameter("query", "limit", "Length of the page", number);
  const auto optional = [](json x, const char* description) {
    x["required"] = false;
    x["description"] = description;
    return x;
  };
  auto& sessions = paths["/sessions/{kind}/{name}"];
  sessions["get"] = operation(
    "showSessions", "Lists the sessions of an agent, or shows one of them",
    json::array({kind, name, optional(session, "Session to show"), limit,
                 parameter("query", "after", "Last session of the page before"),
                 parameter("query", "label",
                           "Only sessions with a snapshot of this label")}),
    {{"200", answer("A page of sessions, or a session with its state", any)}});
  sessions["post"] = with_body(operation("copySession", "Copies a session",
                                         json::array({kind, name}),
                                         {{"201", answer("The copy", any)}}),
                               object_of({"session", "from", "at"}));
  sessions["patch"] = with_body(
    operation("changeSession", "Gives a session a title or another head",
              json::array({kind, name, session}),
              {{"200", answer("The session", any)}}),
    object_of({"title", "head"}));
  sessions["delete"]
    = operation("deleteSession", "Erases a session with its snapshots",
                json::array({kind, name, session}),
                {{"200", answer("How much was erased", any)}});
  auto& snapshots = paths["/snapshots/{kind}/{name}"];
  snapshots["get"] = operation(
    "showSnapshots", "Lists the snapshots of a session, or shows one of them",
    json::array(
      {kind, name, session, optional(snapshot, "Snapshot to show"), limit,
       parameter("query", "after", "Last number of the page before", number),
       parameter("query", "orphans", "Whether orphans are listed",
                 {{"type", "boolean"}})}),
    {{"200", answer("A page of records, or a snapshot with its state", any)}});
  json labels{{"type", "array"}, {"items", {{"type", "string"}}}};
  auto notes = object_of({"note"});
  notes["properties"]["add"] = labels;
  notes["properties"]["remove"] = std::move(labels);
  snapshots["patch"] = with_body(
    operation("changeSnapshot", "Changes labels and note of a snapshot",
              json::array({kind, name, session, snapshot}),
              {{"200", answer("The record", any)}}),
    std::move(notes));
  const auto side = [&](const char* which) {
    return parameter("query", which, "Snapshot: its id or its number",
                     {{"type", "string"}}, true);
  };
  paths["/diffs/{kind}/{name}"]["get"] = operation(
    "compareSnapshots", "Compares the states of two snapshots",
    json::array({kind, name, session, side("before"), side("after")}),
    {{"200", answer("Both records, and a JSON Patch (RFC 6902)", any)}});
  paths["/exports/{kind}/{name}"]["get"] = operation(
    "exportSession", "Writes a session as JSON lines",
    json::array({kind, name, session}),
    {{"200",
      {{"description", "The session; its last line proves that it is whole."},
       {"content",
        {{"application/jsonl", {{"schema", {{"type", "string"}}}}}}}}}});
}

/// Adds the messages of a WebSocket.
void add_messages(json& schemas) {
  const json any{{"type", "object"}};
  const json anything = json::object();
  const json yes{{"const", true}};
  const auto one_of = [](json members) {
    return json{{"type", "object"},
                {"properties", std::move(members)},
                {"minProperties", 1}};
  };
  schemas["clientMessage"] = one_of({{"open", reference("open")},
                                     {"input", anything},
                                     {"close", yes},
                                     {"cancel", yes},
                                     {"detach", yes}});
  schemas["serverMessage"]
    = one_of({{"opened", reference("opened")},
              {"chunks", {{"type", "array"}}},
              {"turnEnd", any},
              {"refused", reference("error")},
              {"output", anything},
              {"error", reference("error")},
              {"next",
               {{"type", "integer"},
                {"description", "Position in the log of what follows"}}}});
}

json document(const server_core& server) {
  const auto key = key_parameters();
  const auto& kind = key.at(0);
  const auto& name = key.at(1);
  const auto run = parameter("query", "run", "Id of a run");
  const auto session
    = parameter("query", "session", "Session, instead of its live run");
  const auto of_run = json::array({kind, name, run, session});
  auto of_inputs = of_run;
  of_inputs.push_back(
    parameter("query", "owner",
              "Caller for whom an approver answers questions of tools"));
  of_inputs.push_back(parameter("query", "after",
                                "Position that is confirmed with the end",
                                {{"type", "integer"}}));
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
  action["post"]
    = with_body(operation("runAction",
                          "Runs an action and waits for its output, or streams "
                          "it if events are accepted",
                          key, {{"200", output_answer()}}),
                reference("open"));
  paths["/talk/{kind}/{name}"]["get"] = operation(
    "talk",
    "Opens a WebSocket of the protocol `tertulia.1`: each message is JSON, "
    "`clientMessage` and `serverMessage` of the schemas",
    key, {{"101", {{"description", "The protocol is changed."}}}});
  auto& runs = paths["/runs/{kind}/{name}"];
  runs["post"] = with_body(
    operation("openRun", "Opens a run that outlives the request", key,
              {{"201", answer("Its position", reference("opened"))}}),
    reference("open"));
  auto of_list = of_run;
  of_list.push_back(parameter("query", "status",
                              "Only runs of a list with this status",
                              schema_of<run_status>()));
  of_list.push_back(parameter("query", "after", "Last run of the page before"));
  of_list.push_back(
    parameter("query", "limit", "Length of the page", {{"type", "integer"}}));
  runs["get"] = operation(
    "showRuns", "Lists the kept runs of the caller, or shows one of them",
    std::move(of_list),
    {{"200", answer("A page of runs, or the run",
                    {{"oneOf", json::array({reference("run"),
                                            reference("runList")})}})}});
  runs["delete"]
    = operation("abortRun", "Ends a run for all of its clients", of_run,
                {{"200", answer("The run as it was", reference("run"))}});
  paths["/inputs/{kind}/{name}"]["post"]
    = with_body(operation("sendInputs", "Sends inputs to a run", of_inputs,
                          {{"202", answer("How many of them were new", any)}}),
                reference("inputs"));
  paths["/events/{kind}/{name}"]["get"] = operation(
    "streamEvents", "Streams a run", of_events, {{"200", events_answer()}});
  add_sessions(paths, kind, name);
  for (const protocol& one : server.options().protocols)
    one.describe(paths);
  for (const auto* path : {"/healthz", "/readyz", "/openapi.json"}) {
    auto& open = paths[path]["get"];
    open = operation(path + 1, "For operators", json::array(),
                     {{"200", answer("The server works.", any)}});
    open["security"] = json::array(); // no token is needed
  }
  paths["/metrics"]["get"] = operation(
    "metrics", "For Prometheus", json::array(),
    {{"200",
      {{"description", "Metrics in the text format of Prometheus"},
       {"content", {{"text/plain", {{"schema", {{"type", "string"}}}}}}}}}});
  json schemas;
  schemas["open"] = schema_of<open_body>();
  schemas["run"] = schema_of<run_info>();
  schemas["runList"] = schema_of<run_list>();
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
                         {"inTurn", {{"type", "boolean"}}},
                         {"turnFound", schema_of<turn_progress>()}}}};
  schemas["inputs"] = {{"type", "object"},
                       {"properties",
                        {{"inputs", {{"type", "array"}}},
                         {"number", {{"type", "integer"}}},
                         {"close", {{"type", "boolean"}}},
                         {"cancel", {{"type", "boolean"}}},
                         {"confirm", {{"type", "boolean"}}}}}};
  add_messages(schemas);
  return {{"openapi", "3.1.0"},
          {"info", {{"title", "Tertulia"}, {"version", "1"}}},
          {"servers", json::array({{{"url", server.url()}}})},
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
  co_await x.reply(json_response(http::status::ok, line_of(document(server))));
}

} // namespace tertulia::web
