// SPDX-License-Identifier: BSD-3-Clause

#include "open_body.hpp"

#include <tertulia/status_error.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace tertulia::web {

namespace {

caf::timespan checked(std::chrono::milliseconds x, const char* path) {
  if (x.count() < 0
      || x > std::chrono::duration_cast<std::chrono::milliseconds>(
           caf::timespan::max()))
    throw status_error{errc::invalid_argument,
                       std::string{path} + ": is out of range"};
  return x;
}

} // namespace

json read_document(std::string_view text) {
  return parse_json<json>(text);
}

open_body open_body_of(std::string_view text) {
  auto result
    = text.empty() ? open_body{} : from_json<open_body>(read_document(text));
  if (result.inputs.size() > max_window)
    throw status_error{errc::invalid_argument,
                       "$.inputs: has more than " + std::to_string(max_window)};
  return result;
}

open_body target_of(const target& x) {
  open_body result;
  if (const auto run = x.get("run"); !run.empty())
    result.run = run;
  if (const auto session = x.get("session"); !session.empty())
    result.session = session;
  if (!result.run && !result.session)
    throw status_error{errc::invalid_argument,
                       "neither run nor session is in the query"};
  return result;
}

opening opening_of(const open_body& x, const server_core& server,
                   const exchange& from, const std::string& key, bool is_kept) {
  server.authorize(from.caller,
                   x.run || x.attach ? access_verb::attach : access_verb::open,
                   key, x.run.value_or(""), x.session.value_or(""));
  opening result;
  if (!x.init.is_null())
    result.init = payload::of(x.init);
  auto& chosen = result.options;
  chosen.input_window = x.input_window;
  if (!x.inputs.empty()) // all of them wait at once
    chosen.input_window = static_cast<std::uint32_t>(
      std::clamp<std::size_t>(x.inputs.size(), x.input_window, max_window));
  chosen.chunk_window = x.chunk_window;
  chosen.trace_parent = trace_of(from);
  chosen.caller = caller_name{from.caller};
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
    chosen.grace
      = x.grace ? checked(*x.grace, "$.grace") : server.options().grace;
  if (x.run || x.attach) {
    auto& to = chosen.attach.emplace();
    if (x.run)
      to.run = run_id{*x.run};
    to.after = x.after;
    to.role = x.role;
  } else if (x.after || x.role == client_role::listener) {
    throw status_error{errc::invalid_argument,
                       "$: neither run nor attach says what to attach to"};
  }
  return result;
}

} // namespace tertulia::web
