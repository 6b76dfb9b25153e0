// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/conversation_handle.hpp>
#include <tertulia/detail/compiled_json.hpp>

TERTULIA_COMPILED_CONVERSATIONS(template)

namespace tertulia::detail {

std::string store_action_key(const std::string& conversation,
                             const std::string& verb) {
  const auto name = conversation.substr(conversation.find('/', 1));
  return "/snapshot-store" + name + '/' + verb;
}

} // namespace tertulia::detail
