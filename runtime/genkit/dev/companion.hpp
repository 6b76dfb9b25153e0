// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json.hpp>
#include <tertulia/runtime.hpp>

#include <string>
#include <string_view>

#include "message/channel.hpp"

// Companions of an agent for Genkit's tools: two actions that read a snapshot
// and end a turn, `/agent-snapshot/<name>` and `/agent-abort/<name>`.

namespace tertulia::web {

/// Returns the key of the agent of a companion; empty for another action.
[[nodiscard]] std::string agent_of_companion(std::string_view key);

/// Adds the companions of an agent to a list of actions.
void add_companions(json& to, const std::string& name);

/// Runs a companion.
/// @param data `snapshotId`, or `sessionId`.
/// @errors throws `failed_precondition` for an agent without a store.
net::awaitable<json> run_companion(runtime& rt, const std::string& key,
                                   const json_action& agent, const json& data);

} // namespace tertulia::web
