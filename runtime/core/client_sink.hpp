// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/open.hpp>

#include <caf/fwd.hpp>

#include <memory>

namespace tertulia::detail {

class blocking_client;
class remote_desk;

/// Spawns the actor that receives the messages of a connection for the threads
/// of a client. It opens the connection, and comes back if the link to another
/// node is lost. It lives until the connection has ended.
/// @param remote desk of another node, through which a client of a kept run
///               comes back; null for this process.
void spawn_client_sink(caf::actor_system& system,
                       std::shared_ptr<blocking_client> client,
                       const front_desk_actor& desk, open_request question,
                       std::shared_ptr<remote_desk> remote);

} // namespace tertulia::detail
