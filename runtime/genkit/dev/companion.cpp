// SPDX-License-Identifier: BSD-3-Clause

#include "companion.hpp"

#include "genkit_snapshots.hpp"
#include "talk/stored_conversation.hpp"
#include <boost/asio/this_coro.hpp>

namespace tertulia::web {

namespace {

constexpr std::string_view snapshot_prefix = "/agent-snapshot/";
constexpr std::string_view abort_prefix = "/agent-abort/";

json text_schema() {
  return {{"type", "string"}};
}

} // namespace

std::string agent_of_companion(std::string_view key) {
  for (const auto prefix : {snapshot_prefix, abort_prefix})
    if (key.starts_with(prefix))
      return "/agent/" + std::string{key.substr(prefix.size())};
  return {};
}

void add_companions(json& to, const std::string& name) {
  for (const auto prefix : {snapshot_prefix, abort_prefix}) {
    const auto key = std::string{prefix} + name;
    auto& entry = to[key];
    entry = {{"key", key}, {"name", name}, {"metadata", json::object()}};
    auto& schema = entry["inputSchema"];
    schema["type"] = "object";
    schema["properties"]["snapshotId"] = text_schema();
    if (prefix == snapshot_prefix)
      schema["properties"]["sessionId"] = text_schema();
  }
}

net::awaitable<json> run_companion(runtime& rt, const std::string& key,
                                   const json_action& agent, const json& data) {
  const auto executor = co_await net::this_coro::executor;
  const stored_conversation of{rt, executor, agent};
  json result;
  if (key.starts_with(snapshot_prefix))
    result = co_await find_genkit_snapshot(of, data);
  else
    result = co_await abort_genkit_snapshot(of, data);
  co_return result;
}

} // namespace tertulia::web
