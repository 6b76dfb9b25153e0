// SPDX-License-Identifier: BSD-3-Clause

#include "reflection.hpp"

#include <tertulia/span_names.hpp>
#include <tertulia/status_error.hpp>

#include <memory>
#include <utility>
#include <vector>

#include "companion.hpp"
#include "genkit_agent.hpp"
#include "genkit_agent_translator.hpp"
#include "message/error_body.hpp"
#include "model_call.hpp"
#include "reflection_entry.hpp"
#include "talk/stored_conversation.hpp"
#include <boost/asio/this_coro.hpp>

namespace tertulia::web {

namespace {

/// @param may_detach whether a further input may leave the run.
std::unique_ptr<open_terms>
open_terms_of_turn(const genkit_turn& turn, const span_context& root,
                   bool has_more_inputs, bool may_detach) {
  const auto& x = turn.body;
  auto result = std::make_unique<open_terms>();
  if (!x.init.is_null())
    result->init = payload::of(x.init);
  auto& chosen = result->options;
  if (x.session)
    chosen.session = session_id{*x.session};
  if (x.snapshot)
    chosen.snapshot = snapshot_id{*x.snapshot};
  if (has_more_inputs)
    chosen.input_window = max_window; // the tools do not wait for credit
  if (turn.is_detached || may_detach)
    chosen.disconnect = on_disconnect::keep;
  chosen.trace_parent = root.to_traceparent();
  chosen.trace_state = root.state;
  return result;
}

/// Starts the span of a run, with the names of Genkit.
span start_span(const tracer& traces, const reflection_call& call) {
  const auto input = call.input ? line_of(*call.input) : std::string{};
  const auto init = call.init.is_null() ? std::string{} : line_of(call.init);
  std::vector<attribute_ref> first{{"genkit:type", "action"},
                                   {"genkit:isRoot", true},
                                   {"genkit:key", call.key}};
  if (call.labels.is_object())
    for (const auto& [name, value] : call.labels.items())
      if (const auto* text = value.get_ptr<const json::string_t*>())
        first.emplace_back(name, *text);
  if (call.input)
    first.emplace_back(span_names::input, input);
  if (!call.init.is_null())
    first.emplace_back("genkit:init", init);
  return traces.start(call.key, nullptr, first);
}

/// Ends a run with its client, unless it was left on purpose.
class end_of_talk {
public:
  end_of_talk(const talk& client, const reflected_run& inputs,
              bool is_detached) noexcept
    : client_(client), inputs_(inputs), is_detached_(is_detached) {}

  end_of_talk(const end_of_talk&) = delete;
  end_of_talk& operator=(const end_of_talk&) = delete;

  ~end_of_talk() {
    if (!is_detached_ && !inputs_.is_detached())
      client_.cancel();
  }

private:
  const talk& client_;
  const reflected_run& inputs_;
  const bool is_detached_;
};

/// Returns the last document of a run that was cancelled: an agent answers with
/// an output that says so, and the tools want an error.
json cancelled_error(const json& output, const std::string& trace) {
  const auto is_cancelled
    = output.is_object() && output.contains("error")
      && output["error"].is_object()
      && output["error"].value("status", "") == status_name(errc::cancelled);
  if (!is_cancelled)
    return json{{"result", output}};
  return reflection_error(errc::cancelled, "Action was cancelled", trace);
}

/// Returns the call of an agent in the shape of the client protocol.
json agent_call_of(const reflection_call& x) {
  auto result = json::object();
  if (x.input)
    result["data"] = *x.input;
  if (!x.init.is_null())
    result["init"] = x.init;
  return result;
}

} // namespace

// -- calls --------------------------------------------------------------------

reflection_call reflection_call::of(const json& x) {
  if (!x.is_object() || !x.contains("key") || !x["key"].is_string())
    throw status_error{errc::invalid_argument, "$.key: is missing"};
  reflection_call result;
  result.key = x["key"];
  if (const auto i = x.find("input"); i != x.end())
    result.input = *i;
  if (const auto i = x.find("init"); i != x.end())
    result.init = *i;
  if (const auto i = x.find("telemetryLabels"); i != x.end())
    result.labels = *i;
  const auto flag = [&](const char* name) {
    const auto i = x.find(name);
    return i != x.end() && *i == true;
  };
  result.is_stream = flag("stream");
  result.has_more_inputs = flag("streamInput");
  return result;
}

int reflection_code(errc x) noexcept {
  return static_cast<int>(x);
}

json reflection_error(errc code, const std::string& message,
                      const std::string& trace) {
  json details = json::object();
  if (!trace.empty())
    details["traceId"] = trace;
  return {{"error",
           {{"code", reflection_code(code)},
            {"message", message},
            {"details", std::move(details)}}}};
}

// -- actions ------------------------------------------------------------------

json reflection::actions() const {
  auto result = json::object();
  for (const auto& x : runtime_.actions()) {
    auto key = their_key(x.key);
    if (result.contains(key))
      key = x.key;
    result[key] = entry_of(x, key, has_store(runtime_.action(x.key)));
    if (is_genkit_agent(x) && key.starts_with("/agent/"))
      add_companions(result, x.name);
  }
  return result;
}

json_action reflection::find(const std::string& key) const {
  for (const auto& own : own_keys(key))
    try {
      return runtime_.action(own);
    } catch (const status_error&) {
      continue;
    }
  return runtime_.action(key);
}

bool reflection::has(const std::string& key) const {
  try {
    const auto agent = agent_of_companion(key);
    static_cast<void>(find(agent.empty() ? key : agent));
    return true;
  } catch (const status_error&) {
    return false;
  }
}

// -- runs ---------------------------------------------------------------------

net::awaitable<json> reflection::run(reflection_call call, reflection_sink& to,
                                     std::shared_ptr<reflected_run> inputs) {
  auto work = start_span(runtime_.traces(), call);
  const auto root = *work.context(); // the telemetry listens
  const auto trace = to_string(root.trace);
  {
    const std::lock_guard guard{mutex_};
    runs_[trace] = inputs;
  }
  co_await to.started(root);
  json result;
  try {
    result = co_await run_traced(call, to, *inputs, root);
  } catch (const status_error& x) {
    result = reflection_error(x.code(), x.message(), trace);
  } catch (const std::exception& x) {
    result = reflection_error(errc::internal, x.what(), trace);
  }
  if (inputs->is_cancelled() && result.contains("result"))
    result = cancelled_error(result["result"], trace);
  {
    const std::lock_guard guard{mutex_};
    runs_.erase(trace);
  }
  if (const auto i = result.find("error"); i != result.end()) {
    work.set_attribute("genkit:isFailureSource", true);
    work.set_error(static_cast<errc>((*i)["code"].get<int>()),
                   (*i)["message"].get<std::string>());
  } else {
    work.set_attribute(span_names::output, line_of(result["result"]));
    result["telemetry"]["traceId"] = trace;
  }
  work.end();
  co_await telemetry_->flush();
  co_return result;
}

net::awaitable<json>
reflection::run_traced(const reflection_call& call, reflection_sink& to,
                       reflected_run& inputs, const span_context& root) {
  if (const auto agent = agent_of_companion(call.key); !agent.empty()) {
    const auto action = find(agent);
    const auto data = call.input.value_or(json{});
    auto found = co_await run_companion(runtime_, call.key, action, data);
    json answer;
    answer["result"] = std::move(found);
    co_return answer;
  }
  const auto action = find(call.key);
  const auto& info = action.info();
  const auto is_agent = is_genkit_agent(info);
  const auto is_stored = is_agent && has_store(action);
  genkit_turn turn;
  std::unique_ptr<genkit_translator> by;
  if (is_agent) {
    turn = read_genkit_turn(agent_call_of(call), is_stored, {});
    by = std::make_unique<genkit_agent_translator>(is_stored, turn.session);
  } else {
    by = std::make_unique<genkit_flow_translator>();
    turn.body.init = call.init;
    if (call.input && info.kind == "model")
      turn.body.init = model_call(*call.input);
    else if (call.input && info.kind == "tool")
      turn.body.init = *call.input;
    else if (call.input)
      turn.body.inputs.push_back(*call.input);
  }
  const auto may_detach = is_stored && call.has_more_inputs;
  auto terms = open_terms_of_turn(turn, root, call.has_more_inputs, may_detach);
  terms->options.custom_deltas = is_agent;
  if (is_stored && !turn.is_detached && !may_detach)
    terms->options.output_messages = 1; // no other client attaches
  terms->has_position_text = false;
  for (auto& input : turn.body.inputs)
    terms->inputs.push_back(payload::of(std::move(input)));
  terms->closes = !call.has_more_inputs || turn.is_detached;
  channel_reader<frame> reader{co_await net::this_coro::executor};
  const auto client = std::make_shared<talk>(runtime_.system(), action,
                                             std::move(terms), reader.source());
  const end_of_talk guard{*client, inputs, turn.is_detached};
  inputs.begin(client, is_agent, is_stored);
  frame opened;
  std::vector<frame> frames;
  std::vector<genkit_event> events;
  while (co_await reader.take(frames)
         == channel_reader<frame>::outcome::items) {
    events.clear();
    for (const auto& one : frames) {
      if (one.kind == frame_kind::opened) {
        opened = one;
        if (turn.is_detached)
          client->flush();
      }
      // A short turn may have ended by now, and was left nevertheless.
      const auto is_detached = turn.is_detached || inputs.is_detached();
      if (is_detached && opened.position
          && (one.kind == frame_kind::flushed || is_last(one.kind))) {
        events.push_back(
          {genkit_event_kind::result, line_of(genkit_detached(opened))});
        break;
      }
      by->translate(one, events);
    }
    for (const auto& event : events) {
      const auto value = read_document(event.text);
      if (event.kind == genkit_event_kind::message) {
        if (call.is_stream && !co_await to.chunk(value))
          client->cancel();
        continue;
      }
      json last;
      if (event.kind == genkit_event_kind::result)
        last["result"] = value;
      else
        last = reflection_error(event.code,
                                event.code == errc::cancelled
                                  ? std::string{"Action was cancelled"}
                                  : value.value("message", std::string{}),
                                to_string(root.trace));
      co_return last;
    }
    client->drained();
  }
  throw status_error{errc::unavailable, "the run was left"};
}

bool reflection::cancel(const std::string& trace) {
  std::shared_ptr<reflected_run> found;
  {
    const std::lock_guard guard{mutex_};
    if (const auto i = runs_.find(trace); i != runs_.end())
      found = i->second;
  }
  if (found)
    found->cancel();
  return found != nullptr;
}

} // namespace tertulia::web
