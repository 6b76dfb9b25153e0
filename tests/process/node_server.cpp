// SPDX-License-Identifier: BSD-3-Clause

// Offers the test flows on a port, which it prints, until it is killed:
// `node_server [PORT [FOLDER]]`, over TLS with the certificate `server` of that
// folder.

#include "support/node_flows.hpp"
#include "support/node_programs.hpp"

int main(int argc, char** argv) {
  tertulia::test::offer_to_nodes(argc, argv, tertulia::test::define_node_flows);
}
