// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/interrupt.hpp>

#include <utility>

namespace tertulia::ai {

namespace {

const tool_request& request_in(const part& x) {
  if (const auto* request = x.as_request())
    return *request;
  throw status_error{errc::invalid_argument,
                     "only a tool request can be answered"};
}

message to_tools(part only) {
  message result;
  result.role = role::tool;
  result.content.push_back(std::move(only));
  return result;
}

} // namespace

std::vector<part> interrupts_in(std::span<const part> parts) {
  std::vector<part> result;
  for (const auto& x : parts)
    if (x.as_request() != nullptr && x.metadata.contains(interrupt_key))
      result.push_back(x);
  return result;
}

std::string question_text(const part& interrupt) {
  const auto question = interrupt.metadata.find(interrupt_key);
  if (question == interrupt.metadata.end())
    throw status_error{errc::invalid_argument, "the part has no question"};
  if (const auto* text = question->second.get_ptr<const std::string*>())
    return *text;
  return to_json_text(question->second);
}

message answer_to(const part& interrupt, json output) {
  const auto& request = request_in(interrupt);
  return to_tools(part::response(request.name, std::move(output), request.ref));
}

message reply_to(const part& interrupt, json reply) {
  part again{request_in(interrupt)};
  again.metadata.emplace(resumed_key, std::move(reply));
  return to_tools(std::move(again));
}

message approval(const part& interrupt) {
  return reply_to(interrupt, true);
}

message refusal(const part& interrupt) {
  return reply_to(interrupt, false);
}

status_error interrupt_error(const json& question) {
  json details;
  details[interrupt_key] = question;
  return {errc::failed_precondition, "the tool waits for a person",
          to_json_text(details)};
}

std::optional<json> question_of(const status_error& x) {
  if (x.code() != errc::failed_precondition)
    return std::nullopt;
  // Details that are not JSON come from another source.
  auto details = tertulia::detail::document_or_null(x.details());
  if (!details.is_object() || details.size() != 1)
    return std::nullopt;
  const auto question = details.find(interrupt_key);
  if (question == details.end())
    return std::nullopt;
  return std::move(*question);
}

} // namespace tertulia::ai
