// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/conversation_handle.hpp>
#include <tertulia/detail/compiled_json.hpp>
#include <tertulia/detail/registry.hpp>

TERTULIA_COMPILED_CONVERSATIONS(template)

namespace tertulia::detail {

std::string store_action_key(const std::string& conversation,
                             const std::string& verb) {
  const auto name = conversation.find('/', 1);
  if (name == std::string::npos)
    throw status_error{errc::not_found, no_action(conversation)};
  return "/snapshot-store" + conversation.substr(name) + '/' + verb;
}

void recall_answer(const ai::message_log& from, std::string& text,
                   std::vector<ai::part>& questions) {
  if (from.empty() || from.back().role != ai::role::model)
    return;
  text = from.back().text();
  questions = ai::interrupts_in(from.back().content);
}

} // namespace tertulia::detail
