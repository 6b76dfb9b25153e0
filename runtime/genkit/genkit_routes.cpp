// SPDX-License-Identifier: BSD-3-Clause

#include "genkit_routes.hpp"

#include <tertulia/descriptor.hpp>
#include <tertulia/json.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "genkit_agent.hpp"
#include "genkit_agent_translator.hpp"
#include "genkit_snapshots.hpp"
#include "message/error_body.hpp"
#include "message/redaction.hpp"
#include "talk/open_body.hpp"
#include "talk/stored_conversation.hpp"

namespace tertulia::web {

namespace {

/// Removes an ending.
/// @returns whether the text had it.
bool cut_off(std::string_view& from, std::string_view ending) {
  if (!from.ends_with(ending))
    return false;
  from.remove_suffix(ending.size());
  return true;
}

json read_call(std::string_view text) {
  auto result = read_document(text);
  if (!result.is_object())
    throw status_error{errc::invalid_argument, "$: is not an object"};
  return result;
}

/// Reads the call of a flow: `data` is its only input, and the init of a tool.
genkit_turn read_flow_call(json call, bool is_tool) {
  genkit_turn result;
  if (const auto i = call.find("init"); i != call.end())
    result.body.init = std::move(*i);
  if (const auto i = call.find("data"); i != call.end()) {
    if (is_tool)
      result.body.init = std::move(*i);
    else
      result.body.inputs.push_back(std::move(*i));
  }
  result.body.close = true;
  return result;
}

/// Answers as soon as the run has the inputs of a turn, and leaves it.
net::awaitable<void> leave_turn(exchange& x, run_stream& run,
                                genkit_translator& by) {
  std::vector<genkit_event> events;
  by.translate(run.opened(), events);
  if (events.empty()) {
    run.client().flush();
    std::vector<frame> frames;
    auto is_taken = false;
    while (!is_taken && events.empty()) {
      if (co_await run.take(frames) != channel_reader<frame>::outcome::items)
        throw status_error{errc::unavailable, "the run was left"};
      for (const auto& one : frames) {
        is_taken
          = is_taken || one.kind == frame_kind::flushed || is_last(one.kind);
        if (one.kind == frame_kind::refusal && !is_taken)
          by.translate(one, events);
      }
    }
  }
  if (events.empty())
    events.push_back(
      {genkit_event_kind::result, line_of(genkit_detached(run.opened()))});
  co_await write_genkit_event(x, std::move(events.back()));
}

/// Streams a run again, from its beginning, to a client that has lost it.
net::awaitable<void> write_again(server_core& server, exchange& x,
                                 const std::string& key, std::string run_name,
                                 genkit_translator& by) {
  open_body body;
  body.run = std::move(run_name);
  body.after = 0;
  body.role = client_role::listener;
  auto terms = open_terms_of(body, server, x, key, true);
  terms->has_position_text = false;
  run_stream run{server, x, server.find(key), std::move(terms)};
  const auto is_open = co_await run.open();
  if (!is_open && run.opened().code == errc::not_found)
    co_return co_await x.reply(response_message{http::status::no_content});
  co_await write_genkit_events(x, run, by, true);
}

/// Call that can be opened.
struct prepared_call {
  json_action action;
  genkit_turn turn;
  std::unique_ptr<open_terms> terms;
  std::unique_ptr<genkit_translator> by;
};

/// Returns the translator of a run.
/// @param session as the client names it in its own state.
std::unique_ptr<genkit_translator> translator_of(bool is_agent, bool has_store,
                                                 const std::string& session) {
  if (is_agent)
    return std::make_unique<genkit_agent_translator>(has_store, session);
  return std::make_unique<genkit_flow_translator>();
}

prepared_call prepare(server_core& server, const exchange& x,
                      const std::string& key, bool is_durable) {
  prepared_call result{server.find(key), {}, nullptr, nullptr};
  const auto& action = result.action;
  auto call = read_call(x.request.body());
  const auto is_agent = is_genkit_agent(action.info());
  const auto is_stored = has_store(action);
  auto& turn = result.turn;
  turn = is_agent
           ? read_genkit_turn(call, is_stored, x.caller)
           : read_flow_call(std::move(call), action.info().kind == "tool");
  result.by = translator_of(is_agent, is_stored, turn.session);
  if (auto session = x.place.get("session"); !session.empty())
    turn.body.session = std::move(session);
  turn.body.keep = is_durable || turn.is_detached;
  result.terms = open_terms_of(turn.body, server, x, key, false);
  // A run that nobody waits for ends by itself, because its input is closed, or
  // after that time.
  if (*turn.body.keep) {
    result.terms->options.grace = {};
    result.terms->options.deadline = server.options().max_grace;
  }
  result.terms->answers_once = !turn.is_detached && !wants_genkit_stream(x);
  result.terms->options.custom_deltas = is_agent && !result.terms->answers_once;
  // Its output has no state for this client, and no other client attaches.
  if (is_agent && is_stored && !*turn.body.keep)
    result.terms->options.output_messages = 1;
  result.terms->has_position_text = false;
  return result;
}

/// Returns whether there is an action for clients.
bool exists(const server_core& server, const std::string& key) {
  try {
    static_cast<void>(server.find(key));
    return true;
  } catch (const status_error&) {
    return false;
  }
}

} // namespace

net::awaitable<void> run_for_genkit(server_core& server, exchange& x,
                                    std::string key) {
  std::string_view agent = key;
  if (cut_off(agent, "/getSnapshot") && !exists(server, key))
    co_return co_await show_genkit_snapshot(server, x, std::string{agent});
  if (cut_off(agent, "/abort") && !exists(server, key))
    co_return co_await abort_genkit_turn(server, x, std::string{agent});
  const auto is_durable
    = x.place.get("durable") == "true" && wants_genkit_stream(x);
  if (const auto lost = field_of(x.request, genkit_stream_field);
      is_durable && !lost.empty()) {
    const auto action = server.find(key);
    const auto by
      = translator_of(is_genkit_agent(action.info()), has_store(action), {});
    co_return co_await write_again(server, x, key, std::string{lost}, *by);
  }
  std::optional<prepared_call> call;
  std::optional<genkit_event> refusal;
  try {
    call = prepare(server, x, key, is_durable);
  } catch (const status_error& error) {
    // A client that streams reads the status of an error only in an event.
    if (!wants_genkit_stream(x) || error.code() == errc::permission_denied
        || !exists(server, key))
      throw;
    refusal.emplace();
    refusal->kind = genkit_event_kind::error;
    const redaction by{server.options(), x.caller, key};
    auto leaving = by.error(error);
    refusal->text = std::move(leaving.text);
    refusal->code = leaving.code;
  }
  if (refusal)
    co_return co_await write_genkit_event(x, std::move(*refusal));
  run_stream run{server, x, call->action, std::move(call->terms)};
  static_cast<void>(co_await run.open());
  if (call->turn.is_detached)
    co_await leave_turn(x, run, *call->by);
  else
    co_await write_genkit_events(x, run, *call->by, is_durable);
}

} // namespace tertulia::web
