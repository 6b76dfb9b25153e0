// SPDX-License-Identifier: BSD-3-Clause

#include "chat_partner.hpp"

#include <tertulia/descriptor.hpp>
#include <tertulia/status.hpp>

#include "chat_tools.hpp"
#include "output/shown_text.hpp"
#include "tool_failure.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

namespace {

/// Returns the key of the only session flow of a program.
std::string only_agent(const remote_runtime& there) {
  std::vector<std::string> keys;
  for (const auto& x : there.actions())
    if (x.key.starts_with("/session-flow/"))
      keys.push_back(shown(x.key));
  if (keys.empty())
    throw failure{
      status_error{errc::not_found, "the program has no agent to talk to"}};
  if (keys.size() > 1)
    reject_usage(fmt::format("the program has several agents: {}",
                             joined(keys)),
                 "Add the key of one: --connect HOST:PORT/KEY.");
  return keys.front();
}

} // namespace

chat_partner::chat_partner(runtime& rt, const snapshot_store& store,
                           const std::string& model, caf::timespan pause)
  : models_(std::in_place, rt, model, pause), tools_(define_chat_tools(rt)),
    flow_(ai::define_prompt_agent(
      rt, "chat",
      ai::prompt{models_->chosen(),
                 ai::with_system("You talk with somebody at a terminal. Be "
                                 "friendly and brief, and write plain text."),
                 ai::with_tools(tools_)},
      with_snapshot_store(store),
      with_description("A chat that remembers, with a few little tools."))) {
  key_ = flow_.info().key;
}

chat_partner::chat_partner(const remote_runtime& there, const std::string& key)
  : key_(key.empty() ? only_agent(there) : key),
    flow_(there.action<chat_flow>(key_)) {}

} // namespace tertulia::tool
