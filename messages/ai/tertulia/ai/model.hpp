// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/finish_reason.hpp>
#include <tertulia/ai/message.hpp>
#include <tertulia/chunks.hpp>
#include <tertulia/describe.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tertulia::ai {

// -- streaming ----------------------------------------------------------------

/// Streamed piece of a model's answer.
///
/// @threads a value.
/// @design  docs/genkit.md 003 §1.3 and 004 §1.3: `ai.ModelResponseChunk`.
// NOLINTNEXTLINE(bugprone-exception-escape): moving parts allocates nothing
struct model_response_chunk {
  model_response_chunk();

  explicit model_response_chunk(chunks<part> content,
                                ai::role role = ai::role::model,
                                std::int64_t index = 0)
    : content(std::move(content)), role(role), index(index) {}

  /// Mostly one part, which then needs no allocation of its own.
  chunks<part> content;
  ai::role role = ai::role::model;

  /// Index of the message of the answer that it belongs to, starting at 0.
  std::int64_t index = 0;

  /// True if it repeats the content of the chunks before it.
  bool aggregated = false;

  /// Data that only this model provides.
  json custom;

  /// Returns the concatenated text of all text parts.
  [[nodiscard]] std::string text() const {
    return text_of(content);
  }
};

// Defined outside of the class: see part.
inline model_response_chunk::model_response_chunk() = default;

BOOST_DESCRIBE_STRUCT(model_response_chunk, (),
                      (content, role, index, aggregated, custom))

// -- complete answers ---------------------------------------------------------

/// Cost of an answer; zero members are left out of the JSON.
///
/// @threads a value.
struct generation_usage {
  generation_usage() = default;

  generation_usage(std::int64_t input_tokens, std::int64_t output_tokens)
    : input_tokens(input_tokens), output_tokens(output_tokens),
      total_tokens(input_tokens + output_tokens) {}

  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t total_tokens = 0;
};

BOOST_DESCRIBE_STRUCT(generation_usage, (),
                      (input_tokens, output_tokens, total_tokens))

/// Complete answer of a model. Empty members are left out of the JSON.
///
/// @threads a value.
/// @design  docs/genkit.md 003 §1.3 and 004 §1.3: `ai.ModelResponse`.
struct model_response {
  // NOLINTNEXTLINE(bugprone-exception-escape): making JSON asserts
  model_response() = default;

  explicit model_response(ai::message message,
                          std::optional<ai::finish_reason> finish_reason = {})
    : message(std::move(message)), finish_reason(finish_reason) {}

  /// Empty if the model returned no message, for example if it was blocked.
  std::optional<ai::message> message;

  std::optional<ai::finish_reason> finish_reason;

  /// Details of the reason, for people.
  std::string finish_message;

  std::optional<generation_usage> usage;

  /// Milliseconds from the request to the end of the answer.
  double latency_ms = 0;

  /// Data that only this model provides.
  json custom;

  /// Returns the text of the message; empty without a message.
  [[nodiscard]] std::string text() const {
    return message ? message->text() : std::string{};
  }
};

BOOST_DESCRIBE_STRUCT(model_response, (),
                      (message, finish_reason, finish_message, usage,
                       latency_ms, custom))

} // namespace tertulia::ai

namespace tertulia {

template <>
inline constexpr auto omitted_when_empty<ai::model_response_chunk> = std::tuple{
  &ai::model_response_chunk::aggregated, &ai::model_response_chunk::custom};

template <>
inline constexpr auto omitted_when_empty<ai::generation_usage> = std::tuple{
  &ai::generation_usage::input_tokens, &ai::generation_usage::output_tokens,
  &ai::generation_usage::total_tokens};

template <>
inline constexpr auto omitted_when_empty<ai::model_response> = std::tuple{
  &ai::model_response::finish_message, &ai::model_response::latency_ms,
  &ai::model_response::custom};

} // namespace tertulia
