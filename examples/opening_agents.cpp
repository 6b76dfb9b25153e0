// SPDX-License-Identifier: BSD-3-Clause

// Four ways to open a connection to an agent, with and without a session id and
// an initial state. An initial state is for new sessions only; an existing
// session keeps its state.

#include <tertulia/define_agent.hpp>
#include <tertulia/describe.hpp>
#include <tertulia/memory_store.hpp>
#include <tertulia/runtime.hpp>

#include <iostream>
#include <string>
#include <vector>

struct chat_state {
  std::vector<std::string> messages;
};

BOOST_DESCRIBE_STRUCT(chat_state, (), (messages))

tertulia::task<> listen(tertulia::context,
                        tertulia::agent_session<chat_state> sess,
                        tertulia::input<std::string> in,
                        tertulia::agent_responder<tertulia::nothing>) {
  while (auto input = co_await in.next())
    co_await sess.update([&](chat_state& x) { x.messages.push_back(*input); });
}

// Sends a text and prints all texts of the session so far.
void say(auto talk, const std::string& what) {
  talk.send(what);
  talk.close();
  for (const auto& said : talk.output().state.messages)
    std::cout << said << (said == what ? "\n" : ", ");
}

int main() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  auto agent = tertulia::define_agent(
    rt, "chatAgent", listen,
    tertulia::with_snapshot_store(tertulia::spawn_memory_store(system)));

  // --(opening-begin)--
  using tertulia::with_init;
  using tertulia::with_session_id;
  const chat_state preloaded{{"once", "upon a time"}};

  // A new session with an id of its own and an empty state.
  say(agent.stream_bidi(), "new");

  // A new session that begins with a state.
  say(agent.stream_bidi(with_init(preloaded)), "preloaded");

  // A session of this id, created with this state if there is none …
  say(agent.stream_bidi(with_session_id("mine"), with_init(preloaded)), "mine");

  // … and continued if there is one.
  say(agent.stream_bidi(with_session_id("mine")), "again");
  // --(opening-end)--
}
