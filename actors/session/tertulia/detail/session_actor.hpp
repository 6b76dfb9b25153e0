// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/conversation_action.hpp>
#include <tertulia/detail/environment.hpp>
#include <tertulia/protocol.hpp>

#include <caf/typed_event_based_actor.hpp>

#include <memory>

namespace tertulia::detail {

/// Spawns the session of a connection. The session holds the state of one
/// conversation, decides on snapshots and saves them. On an exit message it
/// ends and leaves everything as it is.
///
/// @param owner the connection, which is cancelled when another invocation
///              takes over. Null for a session without a store: its id is new,
///              so no other client can know it, and it needs neither a lease
///              nor `open_atom`.
session_actor
spawn_session(caf::local_actor& parent, std::shared_ptr<environment> env,
              std::shared_ptr<const conversation_action> conversation,
              session_start start_request, lease_holder owner);

/// Spawns the responder of a connection. It decides what an event entails. A
/// snapshot that is due goes through it to the session, which answers the
/// connection.
responder_actor
spawn_responder(caf::local_actor& parent,
                const std::shared_ptr<const conversation_action>& conversation,
                session_actor session);

} // namespace tertulia::detail
