// SPDX-License-Identifier: BSD-3-Clause

#pragma once

// Names of the attributes of spans: those of Genkit, and beside them those of
// OpenTelemetry's conventions for generative AI. The table in
// docs/engine.md#tracing says which span has which.

namespace tertulia::span_names {

// -- Genkit -------------------------------------------------------------------

inline constexpr auto name = "genkit:name";
inline constexpr auto subtype = "genkit:metadata:subtype";
inline constexpr auto input = "genkit:input";
inline constexpr auto output = "genkit:output";
inline constexpr auto session = "genkit:metadata:agent:sessionId";
inline constexpr auto snapshot = "genkit:metadata:snapshotId";

// -- OpenTelemetry ------------------------------------------------------------

inline constexpr auto operation = "gen_ai.operation.name";
inline constexpr auto provider = "gen_ai.provider.name";
inline constexpr auto agent_name = "gen_ai.agent.name";
inline constexpr auto agent_description = "gen_ai.agent.description";
inline constexpr auto conversation = "gen_ai.conversation.id";
inline constexpr auto request_model = "gen_ai.request.model";
inline constexpr auto request_max_tokens = "gen_ai.request.max_tokens";
inline constexpr auto request_temperature = "gen_ai.request.temperature";
inline constexpr auto finish_reasons = "gen_ai.response.finish_reasons";
inline constexpr auto input_tokens = "gen_ai.usage.input_tokens";
inline constexpr auto output_tokens = "gen_ai.usage.output_tokens";
inline constexpr auto tool_name = "gen_ai.tool.name";
inline constexpr auto tool_type = "gen_ai.tool.type";
inline constexpr auto tool_description = "gen_ai.tool.description";

inline constexpr auto http_method = "http.request.method";
inline constexpr auto http_route = "http.route";
inline constexpr auto http_status = "http.response.status_code";
inline constexpr auto url_scheme = "url.scheme";
inline constexpr auto error_type = "error.type";

// -- Tertulia -----------------------------------------------------------------

/// Index of a turn in its session.
inline constexpr auto turn = "tertulia.turn.index";

} // namespace tertulia::span_names
