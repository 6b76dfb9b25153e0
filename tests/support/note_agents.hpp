// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/define_agent.hpp>

#include <string>
#include <vector>

#include "support/conversations.hpp"

// Agent that takes notes, and its sessions and snapshots as tools see them.

namespace tertulia::test::agent_tests {

struct notebook {
  int count = 0;
  std::string words;

  friend bool operator==(const notebook&, const notebook&) = default;
};
BOOST_DESCRIBE_STRUCT(notebook, (), (count, words))

using words = std::vector<std::string>;

/// Stores each word and sends all stored words, one turn each.
inline task<int> take_notes(context, session<notebook> sess,
                            input<std::string> in, responder<std::string> out) {
  const witness here;
  while (const auto word = co_await in.next()) {
    co_await sess.update([&](notebook& x) {
      ++x.count;
      x.words += *word;
    });
    const auto now = co_await sess.state();
    co_await out.send(now.words);
    co_await out.end_turn();
  }
  const auto last = co_await sess.state();
  co_return last.count;
}

struct agent : conversations {
  /// Defines an agent without snapshots.
  auto define_notes(const std::string& name = "notes") {
    return define_agent(*rt, name, take_notes, with_session_store(store));
  }

  /// Defines an agent with a snapshot at the end of each turn.
  auto define_kept_notes(const std::string& name = "notes") {
    return define_agent(
      *rt, name, take_notes, with_session_store(store),
      with_snapshot_callback(snapshot_on{snapshot_event::turn_end}));
  }

  json session_of(const std::string& id, const std::string& name = "notes") {
    return ask_store("/session-store/" + name + "/getSession",
                     json::object({{"sessionId", id}}));
  }

  json snapshots_of(const std::string& id) {
    return ask_store("/session-store/notes/listSnapshots",
                     json::object({{"sessionId", id}}));
  }

  json all_snapshots_of(const std::string& id) {
    return ask_store(
      "/session-store/notes/listSnapshots",
      json::object({{"sessionId", id}, {"includeOrphaned", true}}));
  }
};

} // namespace tertulia::test::agent_tests
