// SPDX-License-Identifier: BSD-3-Clause

#include "answer_rule.hpp"

#include <tertulia/status_error.hpp>

#include <algorithm>
#include <string>

namespace tertulia::web {

namespace {

/// Returns the parts of a message; null if it has none.
const json* parts_of(const json& message) {
  if (!message.is_object())
    return nullptr;
  const auto content = message.find("content");
  return content != message.end() && content->is_array() && !content->empty()
           ? &*content
           : nullptr;
}

/// Returns whether a part answers a question: it is the output of a tool, or
/// its request again.
bool is_answer(const json& part) {
  return part.is_object()
         && (part.contains("toolResponse") || part.contains("toolRequest"));
}

/// Returns whether a message has an answer. Its role does not matter to an
/// agent.
bool has_answer(const json& message) {
  const auto* parts = parts_of(message);
  return parts != nullptr
         && std::any_of(parts->begin(), parts->end(), is_answer);
}

/// Returns whether a message has answers only. A message of the model does not
/// count, because it would contain the question as well.
bool has_only_answers(const json& message) {
  const auto* parts = parts_of(message);
  if (parts == nullptr || !std::all_of(parts->begin(), parts->end(), is_answer))
    return false;
  const auto found = message.find("role");
  if (found == message.end() || !found->is_string())
    return false;
  const auto& role = found->get_ref<const std::string&>();
  return role == "tool" || role == "user";
}

} // namespace

void answer_rule::check(const json& input) const {
  const auto list = input.is_object() ? input.find("messages") : input.end();
  const auto* messages
    = list != input.end() && list->is_array() ? &*list : nullptr;
  if (!allows_answers && messages != nullptr
      && std::any_of(messages->begin(), messages->end(), has_answer))
    throw status_error{errc::permission_denied,
                       "the caller may not answer questions of tools"};
  if (allows_only_answers
      && (messages == nullptr || messages->empty()
          || !std::all_of(messages->begin(), messages->end(),
                          has_only_answers)))
    throw status_error{errc::permission_denied,
                       "the caller may only answer questions of tools here"};
}

} // namespace tertulia::web
