// SPDX-License-Identifier: BSD-3-Clause

// Offers the test flows on a port, which it prints, until it is killed:
// `node_server [PORT [FOLDER]]`, over TLS with the certificate `server` of that
// folder.

#include "support/child_program.hpp"
#include "support/node_flows.hpp"
#include "support/node_programs.hpp"

namespace tertulia::test::node_server_process {

namespace {

void run(int argc, char** argv) {
  offer_to_nodes(argc, argv, define_node_flows);
}

const child_program program{"node_server", run};

} // namespace

} // namespace tertulia::test::node_server_process
