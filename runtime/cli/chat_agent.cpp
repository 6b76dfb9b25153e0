// SPDX-License-Identifier: BSD-3-Clause

#include "chat_agent.hpp"

#include "chat_tools.hpp"

namespace tertulia::tool {

chat_agent::chat_agent(runtime& rt, const snapshot_store& store,
                       const std::string& model, caf::timespan pause)
  : models_(rt, model, pause), tools_(define_chat_tools(rt)),
    flow_(ai::define_prompt_agent(
      rt, "chat",
      ai::prompt{models_.chosen(),
                 ai::with_system("You talk with somebody at a terminal. Be "
                                 "friendly and brief, and write plain text."),
                 ai::with_tools(tools_)},
      with_snapshot_store(store),
      with_description("A chat that remembers, with a few little tools."))) {}

} // namespace tertulia::tool
