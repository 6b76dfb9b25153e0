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

/// What a model is told of a tool.
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

  /// What a request for it says; one of its kind in a request.
  std::string name;

  /// When to use it and what it does, for the model.
  std::string description;

  /// The JSON Schema of its input; null if any will do.
  json input_schema;

  /// The JSON Schema of its output; null if it is not known.
  json output_schema;

  friend bool operator==(const tool_definition&, const tool_definition&)
    = default;
};

BOOST_DESCRIBE_STRUCT(tool_definition, (),
                      (name, description, input_schema, output_schema))

/// Whether a model may ask for tools.
enum class tool_choice {
  /// As it sees fit.
  automatic,
  /// It must ask for one at least.
  required,
  /// It must not.
  none,
};

BOOST_DESCRIBE_ENUM(tool_choice, automatic, required, none)

/// How a model is to speak. What is empty is left to the model.
///
/// @threads a value.
// NOLINTNEXTLINE(bugprone-exception-escape): moving JSON asserts
struct model_config {
  // NOLINTNEXTLINE(bugprone-exception-escape): making JSON asserts
  model_config() = default;

  /// How much it leaves to chance: 0 for as little as it can.
  std::optional<double> temperature;

  /// Only the likeliest tokens that together have this probability, (0, 1].
  std::optional<double> top_p;

  /// Only so many of the likeliest tokens.
  std::optional<std::int64_t> top_k;

  /// The answer ends there, with `finish_reason::length`.
  std::optional<std::int64_t> max_output_tokens;

  /// The answer ends before any of these.
  std::vector<std::string> stop_sequences;

  /// What only this model understands; an object, or null.
  json custom;

  friend bool operator==(const model_config&, const model_config&) = default;
};

BOOST_DESCRIBE_STRUCT(model_config, (),
                      (temperature, top_p, top_k, max_output_tokens,
                       stop_sequences, custom))

/// What a model is asked: to say the next message of a conversation.
///
/// The messages are shared with the session they come from: inside a process a
/// request costs the same whatever the length of the conversation.
///
/// @threads a value.
/// @design  Genkit's `ai.ModelRequest`.
// NOLINTNEXTLINE(bugprone-exception-escape): moving JSON asserts
struct generate_request {
  // NOLINTNEXTLINE(bugprone-exception-escape): making JSON asserts
  generate_request() = default;

  explicit generate_request(message_log messages, std::string system = {})
    : messages(std::move(messages)), system(std::move(system)) {}

  /// The conversation, oldest first.
  message_log messages;

  /// Instructions that come before all messages; empty for none.
  std::string system;

  /// What the model may ask for.
  std::vector<tool_definition> tools;

  /// Whether it may, or must.
  ai::tool_choice tool_choice = ai::tool_choice::automatic;

  /// How it is to speak.
  model_config config;

  /// The JSON Schema of the answer; null for free text.
  json output_schema;

  friend bool operator==(const generate_request&, const generate_request&)
    = default;
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
