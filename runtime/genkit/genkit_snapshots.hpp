// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json.hpp>

#include <string>

#include "message/exchange.hpp"
#include "server/server_core.hpp"

// The two requests of `remoteAgent` beside its turns: each answers one JSON
// document.

namespace tertulia::web {

class stored_conversation;

/// Returns a snapshot, or the state of a turn whose client has left:
/// `SessionSnapshot`.
/// @param data object with `snapshotId` or `sessionId`.
/// @errors throws `invalid_argument`; `not_found`.
net::awaitable<json> find_genkit_snapshot(const stored_conversation& of,
                                          const json& data);

/// Ends a turn whose client has left.
/// @param data object with `snapshotId` or `sessionId`.
/// @returns its name, and its status before if there is such a turn.
net::awaitable<json> abort_genkit_snapshot(const stored_conversation& of,
                                           const json& data);

/// Answers with a snapshot.
/// @param key of an agent that clients may open.
net::awaitable<void> show_genkit_snapshot(server_core& server, exchange& x,
                                          std::string key);

/// Ends a turn whose client has left, and answers with its status before.
net::awaitable<void> abort_genkit_turn(server_core& server, exchange& x,
                                       std::string key);

} // namespace tertulia::web
