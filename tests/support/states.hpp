// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/agent_options.hpp>
#include <tertulia/ai/chat_agent.hpp>
#include <tertulia/describe.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// States, custom values and statuses of the conversations in tests.

namespace tertulia::test {

using texts = std::vector<std::string>;

/// State of an agent that counts its inputs and joins them; custom value of a
/// chat.
struct notebook {
  std::int64_t count = 0;
  std::string words;

  friend bool operator==(const notebook&, const notebook&) = default;
};
BOOST_DESCRIBE_STRUCT(notebook, (), (count, words))

/// State of an agent that lists its inputs.
struct memo {
  texts said;

  friend bool operator==(const memo&, const memo&) = default;
};
BOOST_DESCRIBE_STRUCT(memo, (), (said))

/// Status of a chat.
struct phase {
  std::string name;
  double done = 0;

  friend bool operator==(const phase&, const phase&) = default;
};
BOOST_DESCRIBE_STRUCT(phase, (), (name, done))

using chat_input = input<ai::conversation_input>;
using chat_session = ai::chat_session<notebook>;
using chat_responder = ai::chat_responder<phase>;
using flow_session = ai::flow_session<notebook>;
using flow_responder = ai::flow_responder<phase>;
using notebook_state = ai::conversation_state<notebook>;
using phase_chunk = ai::stream_chunk<phase>;

/// Options of agents with a snapshot at every opportunity, and of agents with a
/// snapshot at the end of each turn.
inline const with_snapshot_callback each_time{snapshot_always{}};
inline const with_snapshot_callback each_turn{
  snapshot_on{snapshot_event::turn_end}};

/// Returns an input of a chat that consists of one text.
inline ai::conversation_input remark(std::string text) {
  return ai::conversation_input{
    std::vector<ai::message>(1, ai::user_text(std::move(text)))};
}

} // namespace tertulia::test
