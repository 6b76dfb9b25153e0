// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/chat_agent.hpp>
#include <tertulia/ai/session_flow.hpp>
#include <tertulia/memory_store.hpp>
#include <tertulia/runtime.hpp>
#include <tertulia/sha256.hpp>

#include <string>
#include <utility>
#include <vector>

#include "support/threaded.hpp"

namespace tertulia::test {

/// Fixture with a threaded runtime and a store that tools query by key.
class conversations : public threaded {
protected:
  conversations() : store(spawn_memory_store(system)) {
    count_from_here();
  }

  /// Runs an action of the store with one input.
  json ask_store(const std::string& key, const json& question) const {
    return rt->run(key, std::vector<json>(1, question));
  }

  managed_store store;
};

/// Takes one turn for each input, closes the conversation and returns the
/// output.
template <class Talk, class In>
auto finish(Talk talk, const std::vector<In>& inputs) {
  for (const auto& x : inputs) {
    talk.send(x);
    read_turn(talk);
  }
  talk.close();
  return talk.output(patience);
}

/// Returns snapshots, as tools see them, as texts: `0/0 turnEnd {…}` is the
/// index, the index of the turn, the event, and the state.
inline std::vector<std::string> told(const json& snapshots) {
  std::vector<std::string> result;
  for (const auto& x : snapshots)
    result.push_back(x.at("index").dump() + '/' + x.at("turnIndex").dump() + ' '
                     + x.at("event").get<std::string>() + ' '
                     + x.at("state").dump()
                     + (x.contains("orphaned") ? " orphaned" : ""));
  return result;
}

/// Returns the hash of a text as printed by `sha256sum`.
inline std::string hash_of(const std::string& text) {
  sha256 result;
  result.update(text);
  return result.hex();
}

/// Returns whether a text is a UUID.
inline bool is_uuid(const std::string& text) {
  if (text.size() != 36)
    return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-'
             : std::string("0123456789abcdef").find(text[i]) == text.npos)
      return false;
  }
  return true;
}

} // namespace tertulia::test
