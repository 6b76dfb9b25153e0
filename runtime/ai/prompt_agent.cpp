// SPDX-License-Identifier: BSD-3-Clause

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
  const auto open = ai::find_open_turn(x.messages());
  if (open
      && std::any_of(open->calls.begin(), open->calls.end(),
                     [](const auto& y) { return y.question || y.due; }))
    throw status_error{errc::invalid_argument,
                       "$.state.messages: a tool waits for a person, but "
                       "nobody has asked for it here"};
}

} // namespace tertulia::detail
