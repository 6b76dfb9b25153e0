// SPDX-License-Identifier: BSD-3-Clause

// Two programs that offer the test flows and the test conversations on a port,
// which they print, until they are killed: `node_server [PORT [FOLDER]]` and
// `conversation_server [PORT [FOLDER]]`, over TLS with the certificate `server`
// of that folder.

#include "support/child_program.hpp"
#include "support/node_conversations.hpp"
#include "support/node_flows.hpp"
#include "support/node_programs.hpp"

namespace tertulia::test::node_servers_process {

namespace {

template <auto Define>
void offer(int argc, char** argv) {
  offer_to_nodes(argc, argv, Define);
}

const child_program flows{"node_server", offer<define_node_flows>};
const child_program conversations{"conversation_server",
                                  offer<define_node_conversations>};

} // namespace

} // namespace tertulia::test::node_servers_process
