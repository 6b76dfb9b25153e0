// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include "server/server_core.hpp"

namespace tertulia::web {

/// Serves the client of a socket until one of them ends the connection. Without
/// memory it ends the connection.
/// @param from address of the client, which was counted by the server.
void spawn_session(server_core& server, tcp::socket socket,
                   const net::ip::address& from);

} // namespace tertulia::web
