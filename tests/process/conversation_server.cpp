// SPDX-License-Identifier: BSD-3-Clause

// Offers the test conversations on a port, which it prints, until it is killed:
// `conversation_server [PORT [FOLDER]]`, over TLS with the certificate `server`
// of that folder.

#include "support/child_program.hpp"
#include "support/node_conversations.hpp"
#include "support/node_programs.hpp"

namespace tertulia::test::conversation_server_process {

namespace {

void run(int argc, char** argv) {
  offer_to_nodes(argc, argv, define_node_conversations);
}

const child_program program{"conversation_server", run};

} // namespace

} // namespace tertulia::test::conversation_server_process
