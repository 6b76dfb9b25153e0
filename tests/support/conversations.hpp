// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/session_flow.hpp>
#include <tertulia/define_agent.hpp>
#include <tertulia/descriptor.hpp>
#include <tertulia/memory_store.hpp>
#include <tertulia/runtime.hpp>
#include <tertulia/sha256.hpp>
#include <tertulia/span_recorder.hpp>

#include <memory>
#include <regex>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/states.hpp"
#include "support/threaded.hpp"

// Conversations with clients that are threads, and their sessions and snapshots
// as tools see them.

namespace tertulia::test {

// -- bodies -------------------------------------------------------------------

/// Stores each word and sends all stored words, one turn each.
inline task<std::int64_t> take_notes(context, agent_session<notebook> sess,
                                     input<std::string> in,
                                     agent_responder<std::string> out) {
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

/// Repeats the last message of the chat, one turn per input.
inline task<> repeat(context, chat_session sess, chat_input in,
                     chat_responder out) {
  const witness here;
  while (const auto input = co_await in.next()) {
    co_await sess.add_messages(input->messages);
    const auto log = co_await sess.messages();
    const auto answer
      = log.empty() ? std::string{"nothing"} : "re: " + log.back().text();
    co_await out.send_text(answer);
    co_await sess.add_messages(ai::model_text(answer));
    co_await out.end_turn();
  }
}

/// Repeats each message as a session flow, and counts the turns. The turns of
/// "fail" and "throw" end with an error after their text.
inline task<> repeat_in_turns(context ctx, flow_session sess,
                              flow_responder out) {
  const witness here;
  co_await sess.run_turns(
    ctx, [&](context, const ai::conversation_input& input) -> task<> {
      const auto text = input.messages.back().text();
      co_await out.send_text("re: " + text);
      if (text == "fail")
        throw status_error{errc::out_of_range, "as you say"};
      if (text == "throw")
        throw std::runtime_error("as you say");
      co_await sess.add_messages(ai::model_text("re: " + text));
      co_await sess.patch_custom([](notebook& x) { ++x.count; });
    });
}

/// Option of a client whose session has the id "mine".
inline const auto my_session = with_session_id("mine");

// -- fixture ------------------------------------------------------------------

/// Fixture with a threaded runtime and a store that tools query by key.
class conversations : public threaded {
protected:
  conversations() : store(spawn_memory_store(system)) {
    count_from_here();
  }

  /// Defines an agent with this body, and with the store.
  template <class Body, class... Options>
  auto define_stored_as(const std::string& name, Body body,
                        const Options&... options) {
    return define_agent(*rt, name, std::move(body), with_snapshot_store(store),
                        options...);
  }

  /// Defines such an agent with the name "notes".
  template <class Body, class... Options>
  auto define_stored(Body body, const Options&... options) {
    return define_stored_as("notes", std::move(body), options...);
  }

  /// Defines an agent without snapshots.
  auto define_notes(const std::string& name = "notes") {
    return define_stored_as(name, take_notes);
  }

  /// Defines an agent with a snapshot at the end of each turn.
  auto define_kept_notes(const std::string& name = "notes") {
    return define_stored_as(name, take_notes, each_turn);
  }

  /// Defines a chat agent with a snapshot at the end of each turn.
  auto define_chat(const std::string& name = "chat") {
    return ai::define_chat_agent(*rt, name, repeat, with_snapshot_store(store),
                                 each_turn, with_client_states{});
  }

  /// Defines a chat agent with this body, and with the store.
  template <class Body, class... Options>
  auto define_stored_chat(Body body, const Options&... options) {
    return ai::define_chat_agent(*rt, "chat", std::move(body),
                                 with_snapshot_store(store), options...);
  }

  /// Defines a session flow with this body.
  template <class Body, class... Options>
  auto define_flow(Body body, const Options&... options) {
    return ai::define_session_flow(*rt, "chat", std::move(body),
                                   with_snapshot_store(store), options...);
  }

  /// Defines a session flow whose turns are calls of this function.
  template <class State = notebook, class Turn, class... Options>
  auto define_turns(Turn turn, const Options&... options) {
    return define_flow(
      [turn](context ctx, ai::flow_session<State> sess,
             flow_responder out) -> task<> {
        co_await sess.run_turns(
          ctx,
          [&](context inner, const ai::conversation_input& input) -> task<> {
            co_await turn(inner, sess, input, out);
          });
      },
      options...);
  }

  /// Runs an action of the store with one input.
  json ask_store(const std::string& key, const json& question) const {
    return rt->run_action(key, std::vector<json>(1, question));
  }

  json session_of(const std::string& id, const std::string& name = "notes") {
    return ask_store("/snapshot-store/" + name + "/getSession",
                     json::object({{"sessionId", id}}));
  }

  json snapshots_of(const std::string& id, const std::string& name = "notes") {
    return ask_store("/snapshot-store/" + name + "/listSnapshots",
                     json::object({{"sessionId", id}}));
  }

  /// Returns the snapshots of a session, orphans included.
  json all_snapshots_of(const std::string& id,
                        const std::string& name = "notes") {
    return ask_store(
      "/snapshot-store/" + name + "/listSnapshots",
      json::object({{"sessionId", id}, {"includeOrphaned", true}}));
  }

  /// Returns a snapshot of the chat.
  json snapshot_of(const snapshot_id& id) {
    return ask_store("/snapshot-store/chat/getSnapshot",
                     {{"snapshotId", id.str()}});
  }

  /// Returns a recorder of all spans from here on.
  std::shared_ptr<span_recorder> listen() {
    auto result = std::make_shared<span_recorder>();
    listening_ = rt->traces().listen(result);
    return result;
  }

  managed_store store;

private:
  tracer::subscription listening_;
};

// -- clients ------------------------------------------------------------------

/// Closes a conversation and returns its output.
template <class Talk>
auto finish(Talk& talk) {
  talk.close();
  return talk.output(patience);
}

/// Takes one turn for each input, closes the conversation and returns the
/// output.
template <class In, class Out, class Stream>
auto finish(connection<In, Out, Stream> talk,
            const std::vector<std::type_identity_t<In>>& inputs) {
  for (const auto& x : inputs) {
    talk.send(x);
    read_turn(talk);
  }
  return finish(talk);
}

/// Reads one turn of a chat.
template <class Talk>
std::vector<phase_chunk> hear(Talk& talk) {
  std::vector<phase_chunk> result;
  for (auto& chunk : talk.responses(patience))
    result.push_back(std::move(chunk));
  return result;
}

/// Takes one turn of a chat and returns its chunks.
template <class Talk>
std::vector<phase_chunk> hear(Talk& talk, const std::string& text) {
  talk.send_text(text);
  return hear(talk);
}

/// Sends one text per turn, closes the chat and returns the output.
template <class Talk>
auto say(Talk talk, const texts& inputs) {
  for (const auto& x : inputs)
    hear(talk, x);
  return finish(talk);
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

/// Takes one turn of a chat and returns its snapshot.
template <class Talk>
snapshot_id snapshot_after(Talk& talk, const std::string& text) {
  return snapshots_in(hear(talk, text)).at(0);
}

// -- texts --------------------------------------------------------------------

/// Returns messages as texts with their role: `user: hello`.
template <class Messages>
texts told_of(const Messages& messages) {
  texts result;
  for (const auto& x : messages)
    result.push_back(to_json(x.role).template get<std::string>() + ": "
                     + x.text());
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

/// Returns snapshots, as tools see them, as texts: `0/0 turnEnd {…}` is the
/// index, the index of the turn, the event, and the state.
inline texts told(const json& snapshots) {
  texts result;
  for (const auto& x : snapshots)
    result.push_back(x.at("index").dump() + '/' + x.at("turnIndex").dump() + ' '
                     + x.at("event").get<std::string>() + ' '
                     + x.at("state").dump()
                     + (x.contains("orphaned") ? " orphaned" : ""));
  return result;
}

/// Returns the keys of all actions.
inline texts keys_of(const runtime& rt) {
  texts result;
  for (const auto& x : rt.actions())
    result.push_back(x.key);
  return result;
}

/// Returns an artifact that consists of one text.
inline ai::artifact text_artifact(std::string name, std::string text) {
  return ai::artifact{
    std::move(name), std::vector<ai::part>(1, ai::part::text(std::move(text)))};
}

/// Returns the hash of a text as printed by `sha256sum`.
inline std::string hash_of(const std::string& text) {
  sha256 result;
  result.update(text);
  return result.hex();
}

/// Returns whether a text is a UUID.
inline bool is_uuid(const std::string& text) {
  const std::regex uuid{"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"};
  return std::regex_match(text, uuid);
}

} // namespace tertulia::test
