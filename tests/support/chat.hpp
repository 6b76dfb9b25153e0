// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/conversations.hpp"

namespace tertulia::test {

/// Custom value of the conversations under test.
struct mood {
  std::int64_t number = 0;
  std::string name;

  friend bool operator==(const mood&, const mood&) = default;
};
BOOST_DESCRIBE_STRUCT(mood, (), (number, name))

/// Status of the conversations under test.
struct phase {
  std::string name;
  double done = 0;

  friend bool operator==(const phase&, const phase&) = default;
};
BOOST_DESCRIBE_STRUCT(phase, (), (name, done))

using mood_state = ai::conversation_state<mood>;
using phase_chunk = ai::stream_chunk<phase>;
using texts = std::vector<std::string>;

/// Returns messages as texts with their role: `user: hello`.
template <class Messages>
texts told_of(const Messages& messages) {
  texts result;
  for (const auto& x : messages)
    result.push_back(to_json(x.role).template get<std::string>() + ": "
                     + x.text());
  return result;
}

/// Reads one turn of a conversation.
template <class Talk>
std::vector<phase_chunk> hear(Talk& talk) {
  std::vector<phase_chunk> result;
  for (auto& chunk : talk.receive(patience))
    result.push_back(std::move(chunk));
  return result;
}

/// Returns chunks as JSON texts, with `<id>` in place of every snapshot id.
inline texts told_of(const std::vector<phase_chunk>& chunks) {
  texts result;
  for (auto x : chunks) {
    if (x.snapshot_created)
      x.snapshot_created = snapshot_id{"<id>"};
    result.push_back(to_json_text(x));
  }
  return result;
}

/// Returns the snapshots that chunks announce.
inline std::vector<snapshot_id>
snapshots_in(const std::vector<phase_chunk>& chunks) {
  std::vector<snapshot_id> result;
  for (const auto& x : chunks)
    if (x.snapshot_created)
      result.push_back(x.snapshot_created);
  return result;
}

/// Sends one text per turn, closes the conversation and returns the output.
template <class Talk>
auto say(Talk talk, const texts& what) {
  for (const auto& x : what) {
    talk.send_text(x);
    hear(talk);
  }
  talk.close();
  return talk.output(patience);
}

/// Returns an artifact that consists of one text.
inline ai::artifact text_artifact(std::string name, std::string text) {
  return ai::artifact{
    std::move(name), std::vector<ai::part>(1, ai::part::text(std::move(text)))};
}

} // namespace tertulia::test
