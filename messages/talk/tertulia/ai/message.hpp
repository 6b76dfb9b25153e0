// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/part.hpp>
#include <tertulia/describe.hpp>

#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tertulia::ai {

/// Author of a message.
enum class role {
  /// The program: instructions before all other messages.
  system,
  user,
  model,
  /// The tools that the model requested.
  tool,
};

BOOST_DESCRIBE_ENUM(role, system, user, model, tool)

/// One message of a conversation.
///
/// `{"content":[…],"metadata":{…},"role":"user"}` in JSON, in the order of
/// Genkit's struct in Go; empty metadata is left out.
///
/// @threads a value.
/// @design  docs/genkit.md 003 §1.1 and 004 §1.1: `ai.Message`.
struct message {
  message() = default;

  message(ai::role role, std::vector<part> content, metadata_map metadata = {})
    : content(std::move(content)), metadata(std::move(metadata)), role(role) {}

  std::vector<part> content;
  metadata_map metadata;
  ai::role role = ai::role::user;

  /// Returns the concatenated text of all text parts.
  [[nodiscard]] std::string text() const;
};

BOOST_DESCRIBE_STRUCT(message, (), (content, metadata, role))

/// Returns the concatenated text of all text parts.
[[nodiscard]] std::string text_of(std::span<const part> parts);

// -- messages of one kind -----------------------------------------------------

/// Each returns a message with one text part.
[[nodiscard]] message system_text(std::string text);
[[nodiscard]] message user_text(std::string text);
[[nodiscard]] message model_text(std::string text);

/// Returns the message that answers the tool requests of a model's message.
[[nodiscard]] message tool_responses(std::vector<tool_response> responses);

} // namespace tertulia::ai

namespace tertulia {

template <>
inline constexpr auto omitted_when_empty<ai::message> = std::tuple{
  &ai::message::metadata};

} // namespace tertulia
