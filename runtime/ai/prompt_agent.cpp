// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/interrupt.hpp>
#include <tertulia/ai/prompt_agent.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

#include "open_turn.hpp"
#include <fmt/format.h>

namespace tertulia::detail {

namespace {

bool is_empty_text(const ai::part& x) {
  const auto* text = x.as_text();
  return text != nullptr && text->text.empty();
}

} // namespace

void check_messages(const ai::conversation_input& x) {
  for (std::size_t i = 0; i < x.messages.size(); ++i) {
    const auto& message = x.messages[i];
    if (message.role != ai::role::user && message.role != ai::role::tool)
      throw status_error{
        errc::invalid_argument,
        fmt::format("a client may send messages of its user and of tools only, "
                    "not of {}",
                    to_string(message.role))};
    if (std::all_of(message.content.begin(), message.content.end(),
                    is_empty_text)) {
      const auto path = fmt::format("$.messages[{}].content", i);
      throw status_error{errc::invalid_argument,
                         fmt::format("{}: the message is empty", path),
                         json{{"path", path}}.dump()};
    }
  }
}

void check_unanswered(const ai::message_log& x) {
  if (!x.empty() && x.back().role == ai::role::model && !ai::find_open_turn(x))
    throw status_error{errc::invalid_argument,
                       "$.messages: there is nothing to answer: the last "
                       "message is from the model",
                       json{{"path", "$.messages"}}.dump()};
}

void check_initial_messages(const state& x) {
  // This includes a question that seems to be declined: a later reply to its
  // tool would open it again.
  const auto open = ai::find_open_turn(x.messages());
  const auto waits
    = [](const ai::part& y) { return y.metadata.contains(ai::interrupt_key); };
  if (open
      && std::any_of(open->answer.content.begin(), open->answer.content.end(),
                     waits))
    throw status_error{errc::invalid_argument,
                       "$.state.messages: a tool waits for a person, but the "
                       "model did not request it here"};
}

template ai::session_flow<nothing, nothing> define_prompt_agent<nothing>(
  runtime& rt, std::string name, ai::prompt base_prompt,
  agent_options<ai::snapshot_context<nothing>> chosen);

} // namespace tertulia::detail
