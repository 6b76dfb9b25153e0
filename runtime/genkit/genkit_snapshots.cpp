// SPDX-License-Identifier: BSD-3-Clause

#include "genkit_snapshots.hpp"

#include <tertulia/store.hpp>

#include <optional>
#include <utility>

#include "genkit_agent.hpp"
#include "message/error_body.hpp"
#include "talk/stored_conversation.hpp"
#include <fmt/format.h>

namespace tertulia::web {

namespace {

/// Turn or snapshot that a request means: one of the two.
struct lookup {
  std::optional<genkit_snapshot> snapshot;
  session_id session;
};

json data_of(const exchange& x) {
  auto call = read_document(x.request.body());
  return call.is_object() && call.contains("data") ? call["data"] : json{};
}

lookup read_lookup(const json& data) {
  if (!data.is_object())
    throw status_error{errc::invalid_argument, "$.data: is not an object"};
  const auto text = [&](const char* member) -> std::string {
    const auto i = data.find(member);
    if (i == data.end() || i->is_null())
      return {};
    if (!i->is_string())
      throw status_error{errc::invalid_argument,
                         fmt::format("$.data.{}: is not a text", member)};
    return i->get<std::string>();
  };
  lookup result;
  result.session = session_id{text("sessionId")};
  if (const auto name = text("snapshotId"); !name.empty())
    result.snapshot = genkit_snapshot::of(name);
  if (result.snapshot.has_value() != result.session.empty())
    throw status_error{errc::invalid_argument,
                       "$.data: needs either snapshotId or sessionId"};
  return result;
}

/// Returns the name of a status among those of Genkit's snapshots.
std::string name_of(run_status x) {
  return x == run_status::running ? "pending" : to_json(x).get<std::string>();
}

/// Returns the status in the details of a store's answer about a snapshot that
/// a run was to make; empty for another error.
std::string status_in(const status_error& x) {
  if (x.code() != errc::failed_precondition)
    return {};
  const auto details = detail::document_or_null(x.details());
  if (!details.is_object() || !details.contains("status")
      || !details["status"].is_string())
    return {};
  return details["status"].get<std::string>();
}

json document_of(const stored_conversation& of, const stored_snapshot& x,
                 const std::string& name) {
  const auto& record = x.record;
  json result{{"snapshotId", name},
              {"sessionId", record.session.str()},
              {"createdAt", to_json(record.created_at)},
              {"updatedAt", to_json(record.created_at)},
              {"status", "completed"}};
  if (!record.parent_id.empty())
    result["parentId"]
      = genkit_snapshot{record.parent_id, record.session}.name();
  if (record.finish_reason)
    result["finishReason"] = to_json(*record.finish_reason);
  result["state"]
    = genkit_state(of.client_state(x.content), record.session.str());
  return result;
}

json document_of(const stored_run& x, const std::string& name,
                 const std::string& status) {
  json result{{"snapshotId", name},
              {"sessionId", x.session.str()},
              {"createdAt", to_json(x.began_at)},
              {"status", status}};
  if (x.ended_at == timestamp{})
    result["heartbeatAt"] = to_json(x.beat_at);
  else
    result["updatedAt"] = to_json(x.ended_at);
  if (status == "failed" || status == "aborted")
    result["finishReason"] = status;
  if (status == "failed")
    result["error"] = error_document({x.code, x.error});
  return result;
}

/// Returns the run of a turn that its client has left; empty if there is none,
/// or if it is one of another session.
net::awaitable<std::optional<stored_run>>
find_run(const stored_conversation& of, const genkit_snapshot& snapshot) {
  std::optional<stored_run> found;
  try {
    found = co_await of.ask_store(
      get_run_request{run_ref{of.key(), run_id{snapshot.id.str()}}});
  } catch (const status_error& x) {
    if (x.code() != errc::not_found)
      throw;
    co_return found;
  }
  const auto target = of.snapshot(snapshot.id, snapshot.session);
  const auto is_same
    = target.session.empty() || target.session == found->session;
  if (found->agent != of.key() || !is_same)
    found.reset();
  co_return found;
}

/// Adds the state from which a turn went on that has made no snapshot, so that
/// a client that loads it has the conversation before the turn.
net::awaitable<void> add_state_before(const stored_conversation& of,
                                      const stored_run& run, json& to) {
  if (run.snapshot.empty())
    co_return;
  const snapshot_ref before{of.key(), run.session, run.snapshot};
  try {
    const auto found = co_await of.ask_store(get_snapshot_request{before});
    to["parentId"] = genkit_snapshot{run.snapshot, run.session}.name();
    to["state"]
      = genkit_state(of.client_state(found.content), run.session.str());
  } catch (const status_error& x) {
    if (x.code() != errc::not_found) // it was pruned
      throw;
  }
}

net::awaitable<json> find_snapshot(const stored_conversation& of,
                                   const genkit_snapshot& snapshot) {
  const auto target = of.snapshot(snapshot.id, snapshot.session);
  std::optional<status_error> failure;
  try {
    const auto found = co_await of.ask_store(get_snapshot_request{target});
    of.authorize(found.record.session);
    co_return document_of(of, found, snapshot.name());
  } catch (const status_error& x) {
    failure = x;
  }
  auto status = status_in(*failure);
  if (status.empty() && failure->code() != errc::not_found)
    throw status_error{*failure};
  const auto run = co_await find_run(of, snapshot);
  if (!run)
    throw status_error{*failure};
  of.authorize(run->session);
  if (status.empty()) // it has ended without a snapshot
    status = name_of(run->status);
  auto result = document_of(*run, snapshot.name(), status);
  if (status != "completed")
    co_await add_state_before(of, *run, result);
  co_return result;
}

net::awaitable<json> find_head(const stored_conversation& of,
                               const session_id& session) {
  const auto found
    = co_await of.ask_store(get_session_request{of.session(session)});
  if (!found.head)
    throw status_error{errc::not_found, "the session has no snapshot"};
  const auto& record = found.head.record;
  co_return document_of(of, found.head,
                        genkit_snapshot{record.id, record.session}.name());
}

/// Returns the status with which a snapshot is told; empty if there is none.
net::awaitable<std::string> status_of(const stored_conversation& of,
                                      const genkit_snapshot& snapshot) {
  auto question = get_snapshot_request{
    of.snapshot(snapshot.id, snapshot.session), detail_level::record};
  try {
    static_cast<void>(co_await of.ask_store(std::move(question)));
  } catch (const status_error& x) {
    if (x.code() == errc::not_found)
      co_return std::string{};
    auto status = status_in(x);
    if (status.empty())
      throw;
    co_return status;
  }
  co_return std::string{"completed"};
}

/// Returns the answer with a snapshot; its redaction sees the snapshot only.
std::string result_of(const stored_conversation& of, json x) {
  return "{\"result\":" + of.leaving(std::move(x)) + '}';
}

} // namespace

net::awaitable<json> find_genkit_snapshot(const stored_conversation& of,
                                          const json& data) {
  const auto wanted = read_lookup(data);
  json result;
  if (wanted.snapshot)
    result = co_await find_snapshot(of, *wanted.snapshot);
  else
    result = co_await find_head(of, wanted.session);
  co_return result;
}

net::awaitable<json> abort_genkit_snapshot(const stored_conversation& of,
                                           const json& data) {
  const auto wanted = read_lookup(data);
  if (!wanted.snapshot)
    throw status_error{errc::invalid_argument, "$.data.snapshotId: is missing"};
  const auto& snapshot = *wanted.snapshot;
  of.authorize_abort(run_id{snapshot.id.str()}, snapshot.session);
  // The client names a session beside the run, which must be its own.
  std::string status;
  const auto run = co_await find_run(of, snapshot);
  if (run) {
    of.authorize_abort(run->id, run->session);
    const auto found = co_await of.abort_run(run->id);
    status = name_of(found.status);
  } else {
    status = co_await status_of(of, snapshot);
  }
  json result;
  result["snapshotId"] = snapshot.name();
  if (!status.empty())
    result["status"] = status;
  co_return result;
}

net::awaitable<void> show_genkit_snapshot(server_core& server, exchange& x,
                                          std::string key) {
  const auto data = data_of(x);
  const auto wanted = read_lookup(data);
  const auto& named
    = wanted.snapshot ? wanted.snapshot->session : wanted.session;
  server.authorize(x.caller, access_verb::open, key, {}, named.str());
  const stored_conversation of{server, x, server.find(key)};
  auto found = co_await find_genkit_snapshot(of, data);
  co_await x.reply(
    json_response(http::status::ok, result_of(of, std::move(found))));
}

net::awaitable<void> abort_genkit_turn(server_core& server, exchange& x,
                                       std::string key) {
  const auto data = data_of(x);
  const stored_conversation of{server, x, server.find(key)};
  auto result = co_await abort_genkit_snapshot(of, data);
  co_await x.reply(
    json_response(http::status::ok, result_of(of, std::move(result))));
}

} // namespace tertulia::web
