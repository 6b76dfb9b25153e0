// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/conversation.hpp>
#include <tertulia/detail/environment.hpp>
#include <tertulia/detail/leases.hpp>

#include <caf/typed_event_based_actor.hpp>

#include <memory>

namespace tertulia::detail {

/// Spawns the session of a connection. It holds the state of one conversation,
/// asks for snapshots and has them stored; told to exit, it leaves everything
/// as it is.
///
/// @param owner the connection: who is told when another invocation takes over.
///              Null for a session that nobody else can know, for it has no
///              store and its id is new: it needs no lease and no `open_atom`.
session_actor spawn_session(caf::local_actor& parent,
                            std::shared_ptr<environment> env,
                            std::shared_ptr<const conversation_action> what,
                            session_opening opening, lease_holder owner);

/// Spawns the responder of a connection: stands between it and its client,
/// under the connection's name.
responder_actor
spawn_responder(caf::local_actor& parent,
                const std::shared_ptr<const conversation_action>& what,
                caf::strong_actor_ptr connection, chunk_sink client,
                session_actor session);

} // namespace tertulia::detail
