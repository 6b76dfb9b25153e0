// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/descriptor.hpp>
#include <tertulia/json.hpp>
#include <tertulia/snapshot.hpp>

#include <cstddef>
#include <string>

#include "talk/frame.hpp"
#include "talk/open_body.hpp"

// Agents for Genkit's `remoteAgent`: each request is one turn in an invocation
// of its own, and the client names the snapshot or the state to continue from.
// Design: docs/genkit.md#clients-of-genkit.

namespace tertulia::web {

/// Snapshot as these clients name it, `<snapshot>@<session>`: what they send
/// has no other name of the session.
struct genkit_snapshot {
  snapshot_id id;
  session_id session; ///< may be empty

  /// Reads a name.
  [[nodiscard]] static genkit_snapshot of(const std::string& name);

  [[nodiscard]] std::string name() const;
};

/// Returns whether an action is an agent for these clients: a conversation of
/// messages.
[[nodiscard]] bool is_genkit_agent(const descriptor& x);

/// Turn that a client asks for.
struct genkit_turn {
  open_body body;
  /// Session that the client names in its own state; may be empty.
  std::string session;
  /// Whether the client leaves while the turn goes on.
  bool is_detached = false;
};

/// Reads the body of a request: `AgentInput` and `AgentInit`.
/// @param has_store whether the agent has a store.
/// @param caller    who asks; may be empty.
/// @errors throws `invalid_argument` with the path of what is wrong;
///         `failed_precondition` for what is possible only with a store, or
///         only without.
[[nodiscard]] genkit_turn read_genkit_turn(const json& call, bool has_store,
                                           const std::string& caller);

/// Returns the answer to a client that leaves while its turn goes on.
/// @param opened answer to the opening of the run.
[[nodiscard]] json genkit_detached(const frame& opened);

/// Makes the questions in a message visible to Genkit's clients, which look for
/// a value that is true in JavaScript.
/// @returns how many parts are questions.
std::size_t show_questions(json& message);

/// Returns a state as these clients read it: `SessionState`.
[[nodiscard]] json genkit_state(json state, const std::string& session);

} // namespace tertulia::web
