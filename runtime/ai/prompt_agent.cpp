// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/interrupt.hpp>
#include <tertulia/ai/prompt_agent.hpp>

#include <algorithm>

#include "open_turn.hpp"

namespace tertulia::detail {

void check_speakers(const ai::conversation_input& x) {
  for (const auto& said : x.messages)
    if (said.role != ai::role::user && said.role != ai::role::tool)
      throw status_error{errc::invalid_argument,
                         "a client speaks for its user only, not as "
                           + to_string(said.role)};
}

void check_first_words(const state& x) {
  // Also one that seems to be declined: who speaks of it again opens it.
  const auto open = ai::find_open_turn(x.messages());
  const auto waits
    = [](const ai::part& y) { return y.metadata.contains(ai::interrupt_key); };
  if (open
      && std::any_of(open->answer.content.begin(), open->answer.content.end(),
                     waits))
    throw status_error{errc::invalid_argument,
                       "$.state.messages: a tool waits for a person, but "
                       "nobody has asked for it here"};
}

} // namespace tertulia::detail
