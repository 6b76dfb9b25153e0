// SPDX-License-Identifier: BSD-3-Clause

// An actor that talks to an agent: a person gives the lines, and approves what
// the agent's tools do.

#include <tertulia/ai/conversation_client.hpp>

#include <caf/all.hpp>

#include <iostream>
#include <string>

#include "waiter.hpp"

namespace ai = tertulia::ai;
using namespace example;

// --(guest-begin)--
struct guest : ai::conversation_client<waiter_type> {
  using conversation_client::conversation_client;

  void on_text(const std::string& x) override {
    std::cout << x;
  }

  void on_question(const ai::part& x) override {
    std::cout << ai::question_text(x) << ' ';
    std::getline(std::cin, line);
    answer(line == "yes" ? ai::approval(x) : ai::refusal(x));
  }

  void on_turn_end() override {
    std::cout << '\n';
    if (send_answers())
      return;
    if (std::getline(std::cin, line))
      send_text(line);
    else
      close();
  }

  std::string line;
};

caf::behavior visit(caf::stateful_actor<guest>* self, const waiter_type& to) {
  to.open(self->state, tertulia::with_session_id("table seven"));
  self->state.on_turn_end(); // it is the guest's turn
  return self->state.handlers();
}
// --(guest-end)--

int main() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  // Detached: it reads from the terminal, which blocks its thread.
  const auto client = system.spawn<caf::detached>(visit, define_waiter(rt));
  caf::scoped_actor(system)->wait_for(client);
}
