// SPDX-License-Identifier: BSD-3-Clause

#pragma once

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

// -- while the model speaks ---------------------------------------------------

/// A piece of a model's answer, as it is streamed.
///
/// @threads a value.
/// @design  seeds 003 §1.3 and 004 §1.3: `ai.ModelResponseChunk`.
// NOLINTNEXTLINE(bugprone-exception-escape): moving parts allocates nothing
struct model_response_chunk {
  model_response_chunk();

  explicit model_response_chunk(chunks<part> content,
                                ai::role role = ai::role::model,
                                std::int64_t index = 0)
    : content(std::move(content)), role(role), index(index) {}

  /// Mostly one, which then needs no memory of its own.
  chunks<part> content;
  ai::role role = ai::role::model;

  /// Which message of the answer it belongs to; the first one is 0.
  std::int64_t index = 0;

  /// Whether it repeats what the chunks before it said.
  bool aggregated = false;

  /// What only this model says.
  json custom;

  /// Returns the text of all text parts, one after the other.
  [[nodiscard]] std::string text() const {
    return text_of(content);
  }

  friend bool
  operator==(const model_response_chunk&, const model_response_chunk&)
    = default;
};

// Not where it is declared: see part.
inline model_response_chunk::model_response_chunk() = default;

BOOST_DESCRIBE_STRUCT(model_response_chunk, (),
                      (content, role, index, aggregated, custom))

// -- when it has spoken -------------------------------------------------------

/// Why a model ended.
enum class finish_reason {
  /// It had nothing more to say.
  stop,
  /// The answer was as long as it may be.
  length,
  /// The answer was withheld.
  blocked,
  /// It waits for somebody, such as a tool that asks a person.
  interrupted,
  other,
  unknown,
};

BOOST_DESCRIBE_ENUM(finish_reason, stop, length, blocked, interrupted, other,
                    unknown)

/// What an answer cost; what is zero is left out of the JSON.
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

  friend bool operator==(const generation_usage&, const generation_usage&)
    = default;
};

BOOST_DESCRIBE_STRUCT(generation_usage, (),
                      (input_tokens, output_tokens, total_tokens))

/// A model's whole answer. What is empty is left out of the JSON.
///
/// @threads a value.
/// @design  seeds 003 §1.3 and 004 §1.3: `ai.ModelResponse`.
struct model_response {
  // NOLINTNEXTLINE(bugprone-exception-escape): making JSON asserts
  model_response() = default;

  explicit model_response(ai::message message,
                          std::optional<ai::finish_reason> finish_reason = {})
    : message(std::move(message)), finish_reason(finish_reason) {}

  /// Empty if the model said nothing, such as when it was blocked.
  std::optional<ai::message> message;

  std::optional<ai::finish_reason> finish_reason;

  /// More about the reason, for people.
  std::string finish_message;

  std::optional<generation_usage> usage;

  /// Milliseconds from the request to the end of the answer.
  double latency_ms = 0;

  /// What only this model says.
  json custom;

  /// Returns the text of the message, empty without one.
  [[nodiscard]] std::string text() const {
    return message ? message->text() : std::string{};
  }

  friend bool operator==(const model_response&, const model_response&)
    = default;
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
