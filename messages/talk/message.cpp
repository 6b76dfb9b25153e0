// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/message.hpp>

namespace tertulia::ai {

namespace {

message with_text(role role, std::string text) {
  std::vector<part> content;
  content.push_back(part::text(std::move(text)));
  return message{role, std::move(content)};
}

} // namespace

std::string text_of(std::span<const part> parts) {
  std::string result;
  for (const auto& x : parts)
    if (const auto text = x.as_text())
      result += text->text;
  return result;
}

std::string message::text() const {
  return text_of(content);
}

message system_text(std::string text) {
  return with_text(role::system, std::move(text));
}

message user_text(std::string text) {
  return with_text(role::user, std::move(text));
}

message model_text(std::string text) {
  return with_text(role::model, std::move(text));
}

message tool_responses(std::vector<tool_response> responses) {
  std::vector<part> content;
  content.reserve(responses.size());
  for (auto& x : responses)
    content.emplace_back(std::move(x));
  return message{role::tool, std::move(content)};
}

} // namespace tertulia::ai
