// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json.hpp>

#include <string>

#include "message/exchange.hpp"
#include "server/server_core.hpp"

namespace tertulia::web {

/// Runs an action for a client of Genkit.
/// @param rest of the path: the key of the action, or of an agent with
///             `/getSnapshot` or `/abort` behind it.
net::awaitable<void> run_for_genkit(server_core& server, exchange& x,
                                    std::string rest);

/// Adds the routes of Genkit's clients to the paths of an OpenAPI document.
void describe_genkit(json& paths);

} // namespace tertulia::web
