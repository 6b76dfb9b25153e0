// SPDX-License-Identifier: BSD-3-Clause

// An agent in one process, and its client in another one.

#include <tertulia/ai/offline_model.hpp>
#include <tertulia/ai/prompt_agent.hpp>
#include <tertulia/memory_store.hpp>
#include <tertulia/remote_runtime.hpp>

#include <csignal>
#include <cstdint>
#include <iostream>

#include <unistd.h>

namespace ai = tertulia::ai;

// --(two-processes-begin)--
using agent_type = ai::session_flow<tertulia::nothing, tertulia::nothing>;

void serve(caf::actor_system& system, int pipe) {
  tertulia::runtime_options options;
  options.expose.push_back("/snapshot-store/*"); // beside flows and agents
  tertulia::runtime rt{system, options};
  const agent_type guide = ai::define_prompt_agent(
    rt, "guide", ai::prompt{ai::define_offline_model(rt)},
    tertulia::with_snapshot_store(tertulia::spawn_memory_store(system)));
  const auto port = rt.publish();
  if (::write(pipe, &port, sizeof port) == sizeof port)
    ::pause(); // until it is killed
}

void talk(caf::actor_system& system, std::uint16_t port) {
  const tertulia::remote_runtime there{system, "127.0.0.1", port};
  const auto guide = there.action<agent_type>("/session-flow/guide");
  const tertulia::with_session_id ada{"ada"};
  for (const auto* text : {"My name is Ada.", "What is my name?"})
    std::cout << "> " << text << '\n' << guide.run_text(text, ada).text << '\n';
  for (const auto& x : guide.snapshots(ada.id))
    std::cout << "turn " << x.turn_index << ": " << x.state.messages.size()
              << " messages\n";
}

int main() {
  int pipe[2];
  if (::pipe(pipe) != 0)
    return 1;
  const auto server = ::fork(); // before there are threads
  tertulia::config cfg;
  add_network_to(cfg, tertulia::transport::plain_for_trusted_hosts);
  caf::actor_system system{cfg};
  if (server == 0)
    serve(system, pipe[1]);
  std::uint16_t port = 0;
  if (::read(pipe[0], &port, sizeof port) == sizeof port)
    talk(system, port);
  ::kill(server, SIGKILL);
}
// --(two-processes-end)--
