// SPDX-License-Identifier: BSD-3-Clause

#include <string>
#include <utility>

#include "genkit_events.hpp"
#include "genkit_routes.hpp"
#include "routes/openapi_parts.hpp"

namespace tertulia::web {

namespace {

using namespace openapi;

/// Returns the answer to a call, whose stream may be durable.
json output_of_call() {
  auto result = output_answer();
  result["headers"][genkit_stream_field]
    = {{"description", "Id of a durable stream, which a later request reads "
                       "on by the same field"},
       {"schema", {{"type", "string"}}}};
  return result;
}

/// Returns the parameters of a call.
json call_parameters() {
  auto result = key_parameters();
  const json yes_or_no{{"type", "boolean"}};
  result.push_back(parameter("query", "session", "Session of an agent"));
  result.push_back(
    parameter("query", "stream", "Whether the answer is streamed", yes_or_no));
  result.push_back(parameter(
    "query", "durable", "Whether the stream outlives the request", yes_or_no));
  result.push_back(
    parameter("header", genkit_stream_field, "Id of a durable stream to read"));
  return result;
}

} // namespace

void describe_genkit(json& paths) {
  const json any{{"type", "object"}};
  const auto add = [&](const char* path, const char* id, const char* summary,
                       json parameters, json result) {
    paths[std::string{"/genkit/{kind}/{name}"} + path]["post"]
      = with_body(operation(id, summary, std::move(parameters),
                            {{"200", std::move(result)}}),
                  any);
  };
  add("", "callFlow", "Runs an action for a client of Genkit",
      call_parameters(), output_of_call());
  add("/getSnapshot", "getGenkitSnapshot",
      "Returns a snapshot of an agent for a client of Genkit", key_parameters(),
      answer("The snapshot", any));
  add("/abort", "abortGenkitTurn",
      "Ends a turn that a client of Genkit has left", key_parameters(),
      answer("Its status before", any));
}

} // namespace tertulia::web
