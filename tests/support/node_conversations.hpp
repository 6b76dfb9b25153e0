// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/chat_agent.hpp>
#include <tertulia/ai/session_flow.hpp>
#include <tertulia/define_agent.hpp>
#include <tertulia/describe.hpp>
#include <tertulia/memory_store.hpp>
#include <tertulia/runtime.hpp>

#include <limits>
#include <string>
#include <vector>

#include "support/states.hpp"

// Conversations that one process offers and another process uses.

namespace tertulia::test {

/// State of an agent, and custom value of the other conversations.
struct diary {
  std::vector<std::string> words;
  double mood = 0;

  friend bool operator==(const diary&, const diary&) = default;
};

BOOST_DESCRIBE_STRUCT(diary, (), (words, mood))

inline constexpr auto not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Stores each input; "mad" also stores a mood that JSON cannot express.
inline task<int> keep_diary(context, agent_session<diary> mine,
                            input<std::string> in,
                            agent_responder<std::string> out) {
  int count = 0;
  while (auto word = co_await in.next()) {
    ++count;
    co_await mine.update([&](diary& x) {
      x.words.push_back(*word);
      if (*word == "mad")
        x.mood = not_a_number;
    });
    co_await out.send("noted: " + *word);
    co_await out.end_turn();
  }
  co_return count;
}

/// Answers each input with a status and a text; stores it in the custom value.
inline task<> answer(context, ai::chat_session<diary> mine,
                     input<ai::conversation_input> in,
                     ai::chat_responder<phase> out) {
  while (auto input = co_await in.next()) {
    co_await mine.add_messages(input->messages);
    const auto last = input->messages.back().text();
    co_await mine.patch_custom([&](diary& x) {
      x.words.push_back(last);
      if (last == "mad")
        x.mood = not_a_number;
    });
    co_await out.send_status("answering", 1.0);
    co_await out.send_text("about " + last);
    co_await mine.add_messages(ai::model_text("about " + last));
    co_await out.end_turn();
  }
}

/// Answers each input with a text, as a session flow.
inline task<> answer_in_turns(context ctx, ai::flow_session<diary> mine,
                              ai::flow_responder<phase> out) {
  co_await mine.run_turns(
    ctx, [&](context, const ai::conversation_input& input) -> task<> {
      const auto last = input.messages.back().text();
      co_await out.send_text("about " + last);
      co_await mine.add_messages(ai::model_text("about " + last));
    });
}

/// Stores each input in the diary of the caller, and sends the new number of
/// words in it; "mad" as above.
inline task<int> write_for_caller(context ctx, input<std::string> in,
                                  output<int> out) {
  auto theirs = ctx.session<agent_session<diary>>();
  if (!theirs)
    throw status_error{errc::not_found, "the caller has no diary"};
  while (auto word = co_await in.next()) {
    co_await theirs->update([&](diary& x) {
      x.words.push_back(*word);
      if (*word == "mad")
        x.mood = not_a_number;
    });
    const auto now = co_await theirs->state();
    co_await out.send(static_cast<int>(now.words.size()));
    co_await out.end_turn();
  }
  co_return 0;
}

/// Returns the mood in the custom value of the caller.
inline task<double> read_for_caller(context ctx, input<nothing>,
                                    output<nothing>) {
  auto theirs = ctx.session<ai::chat_session<diary>>();
  if (!theirs)
    throw status_error{errc::not_found, "the caller has no diary"};
  const auto now = co_await theirs->custom();
  co_return now.mood;
}

/// Triggers a snapshot of the conversation of the caller.
inline task<std::string> snapshot_for_caller(context ctx, input<nothing>,
                                             output<nothing>) {
  const auto id
    = co_await trigger_snapshot(ctx, snapshot_event::tool_iteration_end);
  co_return id.str();
}

inline void define_node_conversations(runtime& rt) {
  const auto store = spawn_memory_store(rt.system());
  define_agent(rt, "diary", keep_diary, with_snapshot_store(store), each_time);
  ai::define_chat_agent(rt, "chat", answer, with_snapshot_store(store),
                        each_time);
  ai::define_chat_agent(rt, "forgetful", answer);
  ai::define_session_flow(rt, "turns", answer_in_turns,
                          with_snapshot_store(store));
  rt.define_bidi_flow("writeForCaller", write_for_caller);
  rt.define_bidi_flow("readForCaller", read_for_caller);
  rt.define_bidi_flow("snapshotForCaller", snapshot_for_caller);
}

using diary_agent
  = bidi_action<diary, std::string, agent_output<diary, int>, std::string>;

} // namespace tertulia::test
