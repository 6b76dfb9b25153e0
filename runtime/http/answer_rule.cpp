// SPDX-License-Identifier: BSD-3-Clause

#include "answer_rule.hpp"

#include <tertulia/status_error.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

namespace tertulia::web {

namespace {

bool is_answer(const json& message) {
  if (!message.is_object())
    return false;
  const auto role = message.find("role");
  return role != message.end() && role->is_string()
         && role->get_ref<const std::string&>() == "tool";
}

} // namespace

void answer_rule::check(const json& input) const {
  const auto messages
    = input.is_object() ? input.find("messages") : input.end();
  const auto has_messages
    = messages != input.end() && messages->is_array() && !messages->empty();
  const auto answers = has_messages ? std::count_if(messages->begin(),
                                                    messages->end(), is_answer)
                                    : 0;
  if (answers > 0 && !allows_answers)
    throw status_error{errc::permission_denied,
                       "the caller may not answer questions of tools"};
  const auto is_nothing_else
    = has_messages && answers == static_cast<std::ptrdiff_t>(messages->size());
  if (allows_nothing_else && !is_nothing_else)
    throw status_error{errc::permission_denied,
                       "the caller may only answer questions of tools here"};
}

} // namespace tertulia::web
