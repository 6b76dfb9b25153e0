// SPDX-License-Identifier: BSD-3-Clause

// Offers the test conversations on a port, which it prints, until it is killed.

#include "../support/node_conversations.hpp"
#include "../support/node_programs.hpp"

int main() {
  tertulia::test::offer_to_nodes(tertulia::test::define_node_conversations);
}
