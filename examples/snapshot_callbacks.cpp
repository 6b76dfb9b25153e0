// SPDX-License-Identifier: BSD-3-Clause

// A callback decides when to create a snapshot: it is called at the end of each
// turn and of the invocation, and receives the state.

#include <tertulia/define_agent.hpp>
#include <tertulia/describe.hpp>
#include <tertulia/memory_store.hpp>
#include <tertulia/runtime.hpp>

#include <iostream>
#include <string>
#include <vector>

using enum tertulia::snapshot_event;

struct chat_state {
  std::vector<std::string> messages;
};

BOOST_DESCRIBE_STRUCT(chat_state, (), (messages))

using moment = tertulia::snapshot_context<chat_state>;

// Adds each input to the messages, except for "hm".
tertulia::task<> listen(tertulia::context,
                        tertulia::agent_session<chat_state> sess,
                        tertulia::input<std::string> in,
                        tertulia::agent_responder<tertulia::nothing> out) {
  while (auto input = co_await in.next()) {
    if (*input != "hm")
      co_await sess.update(
        [&](chat_state& x) { x.messages.push_back(*input); });
    co_await out.end_turn();
  }
}

// --(every-five-begin)--
// At the end of a turn if there are 5, 10, 15, … messages; always at the end.
bool every_five_messages(const moment& x) {
  switch (x.event()) {
    case turn_end: return x.state().messages.size() % 5 == 0;
    case invocation_end: return true;
    default: return false;
  }
}
// --(every-five-end)--

// --(more-messages-begin)--
// Only if there are more messages than in the last snapshot.
bool when_there_are_more_messages(const moment& x) {
  if (x.event() != turn_end)
    return false;
  const auto* before = x.prev_state(); // null: there was none
  return before == nullptr
         || x.state().messages.size() > before->messages.size();
}
// --(more-messages-end)--

// --(every-third-begin)--
// At every third turn. An index counts snapshots, not chances to make one: a
// callback that asked for every third index would wait for the second forever.
bool every_third_turn(const moment& x) {
  return x.event() == turn_end && x.turn_index() % 3 == 0;
}
// --(every-third-end)--

int main() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};

  auto try_out = [&](const std::string& name, auto callback) {
    // --(callback-begin)--
    auto agent = tertulia::define_agent(
      rt, name, listen,
      tertulia::with_snapshot_store(tertulia::spawn_memory_store(system)),
      tertulia::with_snapshot_callback(callback));
    // --(callback-end)--

    auto talk = agent.stream_bidi();
    for (auto* said :
         {"one", "two", "hm", "three", "four", "five", "hm", "six"})
      talk.send(said);
    talk.close();
    std::cout << name << ":\n";
    for (const auto& x :
         rt.run_action<std::vector<tertulia::snapshot<chat_state>>>(
           "/snapshot-store/" + name + "/listSnapshots",
           tertulia::session_query{talk.output().session_id}))
      std::cout << "  index " << x.index << ", turn " << x.turn_index << ": "
                << x.state.messages.size() << " messages\n";
  };

  try_out("everyFiveMessages", every_five_messages);
  try_out("whenThereAreMoreMessages", when_there_are_more_messages);
  try_out("everyThirdTurn", every_third_turn);
}
