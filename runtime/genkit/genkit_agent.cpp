// SPDX-License-Identifier: BSD-3-Clause

#include "genkit_agent.hpp"

#include <tertulia/caller.hpp>
#include <tertulia/status_error.hpp>

#include <utility>

#include "message/error_body.hpp"
#include <fmt/format.h>

namespace tertulia::web {

namespace {

[[noreturn]] void reject(const std::string& path, const char* what) {
  throw status_error{errc::invalid_argument, fmt::format("{}: {}", path, what)};
}

/// Returns a member; null if there is none.
const json& member_of(const json& x, const char* name) {
  static const json none;
  const auto i = x.find(name);
  return i != x.end() ? *i : none;
}

const json& object_in(const json& x, const char* name,
                      const std::string& path) {
  const auto& result = member_of(x, name);
  if (!result.is_object() && !result.is_null())
    reject(path, "is not an object");
  return result;
}

std::string text_in(const json& x, const char* name, const std::string& path) {
  const auto& result = member_of(x, name);
  if (result.is_null())
    return {};
  if (!result.is_string() || result.get_ref<const std::string&>().empty())
    reject(path, "is not a text");
  return result.get<std::string>();
}

json message_of_tool(json part) {
  return {{"role", "tool"}, {"content", json::array({std::move(part)})}};
}

/// Appends the answers to questions of tools: each entry is one of a list.
void add_answers(json& to, const json& resume, const char* name,
                 const char* kind) {
  const auto path = std::string{"$.data.resume."} + name;
  const auto& list = member_of(resume, name);
  if (list.is_null())
    return;
  if (!list.is_array())
    reject(path, "is not an array");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto place = path + '[' + std::to_string(i) + ']';
    if (!list[i].is_object() || !list[i].contains(kind))
      reject(place, "is not a part of this kind");
    json part{{kind, list[i][kind]}};
    // Of the metadata only the reply is for the tool. Without one the tool asks
    // again.
    const auto& metadata = object_in(list[i], "metadata", place + ".metadata");
    if (const auto& reply = member_of(metadata, "resumed"); !reply.is_null())
      part["metadata"]["resumed"] = reply;
    to.push_back(message_of_tool(std::move(part)));
  }
}

/// Returns the messages in an `AgentInput`.
json messages_of(const json& data) {
  auto messages = json::array();
  if (const auto& resume = object_in(data, "resume", "$.data.resume");
      resume.is_object()) {
    add_answers(messages, resume, "respond", "toolResponse");
    add_answers(messages, resume, "restart", "toolRequest");
  }
  if (const auto& message = object_in(data, "message", "$.data.message");
      message.is_object())
    messages.push_back(message);
  return messages;
}

/// Returns whether two names are of one session of a caller.
bool is_same(const std::string& a, const std::string& b,
             const std::string& caller) {
  if (a == b || caller.empty())
    return a == b;
  const caller_name owner{caller};
  return session_of(owner, session_id{a}) == session_of(owner, session_id{b});
}

void read_init(const json& init, bool has_store, const std::string& caller,
               genkit_turn& turn) {
  auto& to = turn.body;
  auto snapshot = text_in(init, "snapshotId", "$.init.snapshotId");
  auto session = text_in(init, "sessionId", "$.init.sessionId");
  const auto& state = object_in(init, "state", "$.init.state");
  const auto has_id = !snapshot.empty() || !session.empty();
  if (state.is_object() && (has_store || has_id))
    throw status_error{errc::failed_precondition,
                       "$.init.state: the agent keeps its states in a store"};
  if (has_id && !has_store)
    throw status_error{errc::failed_precondition,
                       "$.init: the agent has no store of snapshots"};
  if (!snapshot.empty()) {
    auto named = genkit_snapshot::of(snapshot);
    if (!session.empty() && !named.session.empty()
        && !is_same(named.session.str(), session, caller))
      reject("$.init.snapshotId", "is a snapshot of another session");
    to.snapshot = named.id.str();
    if (!named.session.empty())
      to.session = named.session.str();
  }
  if (!session.empty())
    to.session = std::move(session);
  if (state.is_object()) {
    turn.session = text_in(state, "sessionId", "$.init.state.sessionId");
    auto known = state;
    known.erase("sessionId");
    to.init["state"] = std::move(known);
  }
}

} // namespace

// -- names --------------------------------------------------------------------

genkit_snapshot genkit_snapshot::of(const std::string& name) {
  const auto at = name.find('@');
  if (at == std::string::npos)
    return {snapshot_id{name}, {}};
  return {snapshot_id{name.substr(0, at)}, session_id{name.substr(at + 1)}};
}

std::string genkit_snapshot::name() const {
  return session.empty() ? id.str() : id.str() + '@' + session.str();
}

bool is_genkit_agent(const descriptor& x) {
  const auto has = [](const json& schema, const char* name) {
    return member_of(schema, "properties").is_object()
           && schema["properties"].contains(name);
  };
  return has(x.input_schema, "messages") && has(x.init_schema, "snapshotId")
         && has(x.stream_schema, "customPatch");
}

json genkit_detached(const frame& opened) {
  const auto& [run, session, snapshot, reason] = *opened.position;
  return {{"sessionId", session.str()},
          {"snapshotId", genkit_snapshot{end_of(run), session}.name()},
          {"finishReason", "detached"}};
}

std::size_t show_questions(json& message) {
  std::size_t result = 0;
  const auto parts = message.find("content");
  if (parts == message.end() || !parts->is_array())
    return result;
  for (auto& part : *parts) {
    if (!member_of(part, "metadata").contains("interrupt"))
      continue;
    ++result;
    auto& question = part["metadata"]["interrupt"];
    const auto* text = question.get_ptr<const json::string_t*>();
    const auto is_false
      = question.is_null() || (question.is_boolean() && !question.get<bool>())
        || (question.is_number() && question.get<double>() == 0)
        || (text != nullptr && text->empty());
    if (is_false)
      question = true;
  }
  return result;
}

json genkit_state(json state, const std::string& session) {
  state["sessionId"] = session;
  auto& messages = state["messages"];
  if (messages.is_null())
    messages = json::array();
  for (auto& message : messages)
    show_questions(message);
  if (member_of(state, "custom").is_null())
    state.erase("custom");
  return state;
}

// -- turns --------------------------------------------------------------------

genkit_turn read_genkit_turn(const json& call, bool has_store,
                             const std::string& caller) {
  genkit_turn result;
  const auto& data = object_in(call, "data", "$.data");
  const auto& detach = member_of(data, "detach");
  if (!detach.is_null() && !detach.is_boolean())
    reject("$.data.detach", "is neither true nor false");
  result.is_detached = detach == true;
  if (result.is_detached && !has_store)
    throw status_error{errc::failed_precondition,
                       "$.data.detach: the agent has no store in which a "
                       "client could find the turn"};
  // A request that only detaches the turn does not count as an input.
  if (auto messages = messages_of(data);
      data.is_object() && (!messages.empty() || !result.is_detached))
    result.body.inputs.push_back({{"messages", std::move(messages)}});
  result.body.close = true;
  read_init(object_in(call, "init", "$.init"), has_store, caller, result);
  return result;
}

} // namespace tertulia::web
