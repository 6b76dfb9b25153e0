// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <string>

#include "exchange.hpp"
#include "server_core.hpp"

// The two requests of `remoteAgent` beside its turns: each answers one JSON
// document.

namespace tertulia::web {

/// Answers with a snapshot, or with the state of a turn whose client has left:
/// `SessionSnapshot`.
/// @param key of an agent that clients may open.
net::awaitable<void> show_genkit_snapshot(server_core& server, exchange& x,
                                          std::string key);

/// Ends a turn whose client has left, and answers with its status before.
net::awaitable<void> abort_genkit_turn(server_core& server, exchange& x,
                                       std::string key);

} // namespace tertulia::web
