// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/prompt_agent.hpp>

namespace tertulia::detail {

void check_speakers(const ai::conversation_input& x) {
  for (const auto& said : x.messages)
    if (said.role != ai::role::user && said.role != ai::role::tool)
      throw status_error{errc::invalid_argument,
                         "a client speaks for its user only, not as "
                           + to_string(said.role)};
}

} // namespace tertulia::detail
