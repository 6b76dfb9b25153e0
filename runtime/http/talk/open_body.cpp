// SPDX-License-Identifier: BSD-3-Clause

#include "open_body.hpp"

#include <tertulia/caller.hpp>
#include <tertulia/status_error.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace tertulia::web {

namespace {

caf::timespan checked(std::chrono::milliseconds x, const char* path) {
  if (x.count() < 0
      || x > std::chrono::duration_cast<std::chrono::milliseconds>(
           caf::timespan::max()))
    throw status_error{errc::invalid_argument,
                       fmt::format("{}: is out of range", path)};
  return x;
}

/// Checks a request to answer for another caller: it names a run or a session,
/// and has no member that only the owner decides.
/// @errors throws `invalid_argument`.
void check_guest(const open_body& x) {
  check_caller(caller_name{*x.owner});
  const auto has_more = !x.init.is_null() || x.snapshot || x.turn || x.resume
                        || x.live != if_live::refuse || x.after || x.keep
                        || x.grace || x.deadline || x.output_messages > 0
                        || x.role != client_role::talker;
  if (has_more || (!x.run && !x.session))
    throw status_error{errc::invalid_argument,
                       "$.owner: goes with a session or a run, and inputs"};
}

/// Returns what a caller may answer.
/// @errors throws `permission_denied` if the session or run is that of somebody
///         else, for whom the caller may not answer; `not_found`.
answer_rule rule_for(const open_body& x, const server_core& server,
                     const exchange& from, const std::string& key) {
  const auto owner = x.owner.value_or(from.caller);
  const auto approves = server.approves(
    from.caller, owner, key, x.run.value_or(""), x.session.value_or(""));
  if (!is_guest(x, from))
    return {approves, false};
  static_cast<void>(server.find(key));
  if (from.caller.empty() || !approves)
    throw status_error{errc::permission_denied,
                       fmt::format("the caller may not answer for {}", owner)};
  check_guest(x);
  return {true, true};
}

caf::timespan grace_of(const open_body& x, const http_server_options& options) {
  if (!x.grace)
    return options.grace;
  const auto result = checked(*x.grace, "$.grace");
  if (result.count() == 0 || result > options.max_grace)
    throw status_error{errc::invalid_argument,
                       "$.grace: is none, or longer than the server allows"};
  return result;
}

} // namespace

bool is_guest(const open_body& x, const exchange& from) {
  return x.owner && *x.owner != from.caller;
}

json read_document(std::string_view text) {
  return parse_json<json>(text);
}

open_body open_body_of(std::string_view text) {
  return text.empty() ? open_body{} : from_json<open_body>(read_document(text));
}

open_body target_of(const target& x) {
  open_body result;
  if (const auto run = x.get("run"); !run.empty())
    result.run = run;
  if (const auto session = x.get("session"); !session.empty())
    result.session = session;
  if (const auto owner = x.get("owner"); !owner.empty())
    result.owner = owner;
  if (!result.run && !result.session)
    throw status_error{errc::invalid_argument,
                       "neither run nor session is in the query"};
  return result;
}

std::unique_ptr<open_terms>
open_terms_of(open_body& x, const server_core& server, const exchange& from,
              const std::string& key, bool is_kept) {
  if (x.inputs.size() > max_window)
    throw status_error{errc::invalid_argument,
                       fmt::format("$.inputs: has more than {}", max_window)};
  if (x.input_window > max_window)
    throw status_error{errc::invalid_argument,
                       fmt::format("$.inputWindow: at most {}", max_window)};
  auto result = std::make_unique<open_terms>();
  const auto owner = x.owner.value_or(from.caller);
  server.authorize(from.caller,
                   x.run || x.attach ? access_verb::attach : access_verb::open,
                   key, x.run.value_or(""), x.session.value_or(""), owner);
  result->answers = rule_for(x, server, from, key);
  // Before anything is opened, or left.
  for (const auto& input : x.inputs)
    result->answers.check(input);
  result->redacts = {server.options(), from.caller, key};
  if (!x.init.is_null())
    result->init = payload::of(x.init);
  auto& chosen = result->options;
  chosen.input_window = x.input_window;
  if (!x.inputs.empty()) // all of them wait at once
    chosen.input_window = static_cast<std::uint32_t>(
      std::max<std::size_t>(x.inputs.size(), x.input_window));
  chosen.chunk_window = x.chunk_window;
  chosen.output_messages = x.output_messages;
  pass_trace(from, chosen);
  chosen.caller = caller_name{owner};
  chosen.live = x.live;
  // The connection limits its opening itself; a queue has the usual limit.
  if (x.live != if_live::queue)
    chosen.open_within = caf::timespan::max();
  if (x.session)
    chosen.session = session_id{*x.session};
  if (x.snapshot)
    chosen.snapshot = snapshot_id{*x.snapshot};
  if (x.turn)
    chosen.turn = turn_id{*x.turn};
  if (x.resume)
    chosen.resume_after = 0;
  if (x.deadline)
    chosen.deadline = checked(*x.deadline, "$.deadline");
  chosen.disconnect
    = x.keep.value_or(is_kept) ? on_disconnect::keep : on_disconnect::cancel;
  if (*chosen.disconnect == on_disconnect::keep)
    chosen.grace = grace_of(x, server.options());
  if (x.run || x.attach) {
    auto& to = chosen.attach.emplace();
    if (x.run)
      to.run = run_id{*x.run};
    to.after = x.after;
    to.role = x.role;
    if (x.output_messages > 0)
      throw status_error{errc::invalid_argument,
                         "$.outputMessages: goes with the opening of a run"};
  } else if (x.after || x.role == client_role::listener) {
    throw status_error{errc::invalid_argument,
                       "$: neither run nor attach says what to attach to"};
  }
  for (auto& input : x.inputs)
    result->inputs.push_back(payload::of(std::move(input)));
  x.inputs.clear();
  result->closes = x.close;
  return result;
}

} // namespace tertulia::web
