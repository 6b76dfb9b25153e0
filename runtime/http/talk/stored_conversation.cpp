// SPDX-License-Identifier: BSD-3-Clause

#include "stored_conversation.hpp"

#include <tertulia/ai/conversation_handle.hpp>
#include <tertulia/caller.hpp>
#include <tertulia/descriptor.hpp>
#include <tertulia/detail/access.hpp>
#include <tertulia/detail/registry.hpp>
#include <tertulia/status_error.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

#include "message/redaction.hpp"
#include <fmt/format.h>

namespace tertulia::web {

namespace {

/// Returns the action if a verb of its store is for this caller.
json_action action_for(const server_core& server, const exchange& from,
                       const std::string& key, const char* verb,
                       const session_id& session) {
  const auto route = detail::store_action_key(key, verb);
  if (!server.access().exposes(route))
    throw status_error{errc::not_found, detail::no_action(route)};
  server.authorize(from.caller, access_verb::open, route, {}, session.str());
  return server.actions().action(key);
}

} // namespace

bool has_store(const json_action& x) {
  const auto& local = detail::access::local_action(x);
  return local && local->conversation() != nullptr
         && local->conversation()->policy.store;
}

stored_conversation::stored_conversation(runtime& rt,
                                         net::any_io_executor executor,
                                         const json_action& action)
  : runtime_(rt), executor_(std::move(executor)),
    action_(detail::access::local_action(action)) {
  if (!has_store(action))
    throw status_error{errc::failed_precondition,
                       fmt::format("{} has no store of sessions",
                                   action.info().key)};
}

stored_conversation::stored_conversation(server_core& server,
                                         const exchange& from,
                                         const json_action& action)
  : stored_conversation(server.actions(), from.executor(), action) {
  server_ = &server;
  caller_ = from.caller;
}

stored_conversation::stored_conversation(server_core& server,
                                         const exchange& from,
                                         const std::string& key,
                                         const char* verb,
                                         const session_id& session)
  : stored_conversation(server, from,
                        action_for(server, from, key, verb, session)) {
  route_ = detail::store_action_key(key, verb);
}

void stored_conversation::authorize(const session_id& x) const {
  if (server_ != nullptr)
    server_->authorize(caller_, access_verb::open,
                       route_.empty() ? key() : route_, {}, x.str());
}

void stored_conversation::authorize_abort(const run_id& run,
                                          const session_id& session) const {
  if (server_ != nullptr)
    server_->authorize(caller_, access_verb::abort, key(), run.str(),
                       session.str());
}

net::awaitable<run_info>
stored_conversation::abort_run(const run_id& run) const {
  run_request question{run_verb::abort, run, key(), {}};
  question.caller = caller_name{caller_};
  co_return co_await ask<run_info>(runtime_.system(), runtime_.front_desk(),
                                   std::move(question), executor_);
}

session_ref stored_conversation::session(const session_id& x) const {
  if (x.empty())
    throw status_error{errc::invalid_argument, "the session is missing"};
  return {key(), caller_.empty() ? x : session_of(caller_name{caller_}, x)};
}

bool stored_conversation::is_own(const session_id& x) const {
  return caller_.empty() || owns(caller_name{caller_}, x);
}

session_ref stored_conversation::first_of_list(const session_id& after) const {
  if (!after.empty())
    return session(after);
  if (caller_.empty())
    return {};
  return {key(), session_id{caller_ + '/'}}; // before its sessions
}

snapshot_ref stored_conversation::snapshot(snapshot_id id,
                                           const session_id& in) const {
  if (in.empty() && caller_.empty())
    return {key(), {}, std::move(id)};
  return {key(), session(in).id, std::move(id)};
}

snapshot_ref stored_conversation::find(const std::string& text,
                                       const session_id& in) const {
  if (text.empty())
    throw status_error{errc::invalid_argument, "the snapshot is missing"};
  std::uint64_t number = 0;
  const auto* end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, number);
  if (problem == std::errc{} && rest == end)
    return {session(in), number};
  return snapshot(snapshot_id{text}, session(in).id);
}

std::string stored_conversation::leaving(json x) const {
  const auto by = server_ != nullptr
                    ? redaction{server_->options(), caller_, key()}
                    : redaction{};
  return by.text(outgoing_kind::stored, std::move(x));
}

void stored_conversation::check_whole() const {
  if (server_ != nullptr && server_->options().redact)
    throw status_error{errc::permission_denied,
                       "a server that redacts exports nothing"};
}

json stored_conversation::client_state(state x) const {
  return action_->conversation()
    ->client_state(policy().schema.adopt(std::move(x)))
    .to_json();
}

net::awaitable<snapshot_record>
stored_conversation::find_record(snapshot_ref x) const {
  auto found = co_await ask_store(
    get_snapshot_request{std::move(x), detail_level::record});
  co_return std::move(found.record);
}

std::uint32_t limit_of(const target& x) {
  constexpr std::uint64_t usual = 100;
  return static_cast<std::uint32_t>(
    std::clamp<std::uint64_t>(x.number("limit").value_or(usual), 1, max_page));
}

} // namespace tertulia::web
