// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/message_log.hpp>
#include <tertulia/describe.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tertulia::ai {

/// Description of a tool for a model.
///
/// @threads a value.
// NOLINTNEXTLINE(bugprone-exception-escape): moving JSON asserts
struct tool_definition {
  // NOLINTNEXTLINE(bugprone-exception-escape): making JSON asserts
  tool_definition() = default;

  explicit tool_definition(std::string name, std::string description = {},
                           json input_schema = {}, json output_schema = {})
    : name(std::move(name)), description(std::move(description)),
      input_schema(std::move(input_schema)),
      output_schema(std::move(output_schema)) {}

  /// Name of the tool in tool requests; unique within a request to the model.
  std::string name;

  /// Description of the tool and of when to use it, for the model.
  std::string description;

  /// JSON Schema of the input; null if any input is allowed.
  json input_schema;

  /// JSON Schema of the output; null if it is not known.
  json output_schema;
};

BOOST_DESCRIBE_STRUCT(tool_definition, (),
                      (name, description, input_schema, output_schema))

/// Rule for the tool requests of a model.
enum class tool_choice {
  /// The model decides.
  automatic,
  /// The model must request at least one.
  required,
  /// The model must not.
  none,
};

BOOST_DESCRIBE_ENUM(tool_choice, automatic, required, none)

/// Settings for the answer of a model. Empty members are left to the model.
///
/// @threads a value.
// NOLINTNEXTLINE(bugprone-exception-escape): moving JSON asserts
struct model_config {
  // NOLINTNEXTLINE(bugprone-exception-escape): making JSON asserts
  model_config() = default;

  /// Randomness of the answer: 0 for as little as the model can.
  std::optional<double> temperature;

  /// Use only the likeliest tokens that together have this probability, (0, 1].
  std::optional<double> top_p;

  /// Use only this number of likeliest tokens.
  std::optional<std::int64_t> top_k;

  /// Maximum length of the answer; it ends there with `finish_reason::length`.
  std::optional<std::int64_t> max_output_tokens;

  /// Texts before which the answer ends.
  std::vector<std::string> stop_sequences;

  /// Settings that only this model understands; an object, or null.
  json custom;
};

BOOST_DESCRIBE_STRUCT(model_config, (),
                      (temperature, top_p, top_k, max_output_tokens,
                       stop_sequences, custom))

/// Request to a model for the next message of a conversation.
///
/// The messages are shared with the session they come from: inside a process
/// the cost of a request does not depend on the length of the conversation.
///
/// @threads a value.
/// @design  Genkit's `ai.ModelRequest`.
// NOLINTNEXTLINE(bugprone-exception-escape): moving JSON asserts
struct generate_request {
  // NOLINTNEXTLINE(bugprone-exception-escape): making JSON asserts
  generate_request() = default;

  explicit generate_request(message_log messages, std::string system = {})
    : messages(std::move(messages)), system(std::move(system)) {}

  /// Messages of the conversation, oldest first.
  message_log messages;

  /// Instructions before all messages; may be empty.
  std::string system;

  /// Tools that the model may request.
  std::vector<tool_definition> tools;

  /// Rule for the use of these tools.
  ai::tool_choice tool_choice = ai::tool_choice::automatic;

  /// Settings for the answer.
  model_config config;

  /// JSON Schema of the answer; null for free text.
  json output_schema;
};

BOOST_DESCRIBE_STRUCT(generate_request, (),
                      (messages, system, tools, tool_choice, config,
                       output_schema))

} // namespace tertulia::ai

namespace tertulia {

template <>
inline constexpr bool refuses_unknown_members<ai::tool_definition> = true;

template <>
inline constexpr bool refuses_unknown_members<ai::model_config> = true;

template <>
inline constexpr bool refuses_unknown_members<ai::generate_request> = true;

template <>
inline constexpr auto omitted_when_empty<ai::tool_definition> = std::tuple{
  &ai::tool_definition::description, &ai::tool_definition::input_schema,
  &ai::tool_definition::output_schema};

template <>
inline constexpr auto omitted_when_empty<ai::model_config> = std::tuple{
  &ai::model_config::stop_sequences, &ai::model_config::custom};

template <>
inline constexpr auto omitted_when_empty<ai::generate_request> = std::tuple{
  &ai::generate_request::messages, &ai::generate_request::system,
  &ai::generate_request::tools, &ai::generate_request::output_schema};

} // namespace tertulia
