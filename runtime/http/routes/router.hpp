// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <string>

#include "message/exchange.hpp"
#include "route.hpp"
#include "server/server_core.hpp"

namespace tertulia::web {

/// Answers a request.
net::awaitable<void> serve(server_core& server, exchange& x);

/// Returns the routes that each `http_server` has.
[[nodiscard]] route_table http_routes() noexcept;

/// Notes the origin of a request that cannot be read, so that an allowed page
/// can read the error.
void note_origin(const server_core& server, exchange& x);

// -- handlers -----------------------------------------------------------------

net::awaitable<void> list_actions(server_core&, exchange&, std::string rest);
net::awaitable<void> show_action(server_core&, exchange&, std::string key);
net::awaitable<void> run_action(server_core&, exchange&, std::string key);
net::awaitable<void> talk_by_web_socket(server_core&, exchange&,
                                        std::string key);
net::awaitable<void> open_run(server_core&, exchange&, std::string key);
net::awaitable<void> show_runs(server_core&, exchange&, std::string key);
net::awaitable<void> abort_run(server_core&, exchange&, std::string key);
net::awaitable<void> send_inputs(server_core&, exchange&, std::string key);
net::awaitable<void> stream_events(server_core&, exchange&, std::string key);
net::awaitable<void> show_sessions(server_core&, exchange&, std::string key);
net::awaitable<void> copy_session(server_core&, exchange&, std::string key);
net::awaitable<void> change_session(server_core&, exchange&, std::string key);
net::awaitable<void> delete_session(server_core&, exchange&, std::string key);
net::awaitable<void> show_snapshots(server_core&, exchange&, std::string key);
net::awaitable<void> change_snapshot(server_core&, exchange&, std::string key);
net::awaitable<void> compare_snapshots(server_core&, exchange&,
                                       std::string key);
net::awaitable<void> write_session(server_core&, exchange&, std::string key);
net::awaitable<void> show_openapi(server_core&, exchange&, std::string rest);
net::awaitable<void> show_metrics(server_core&, exchange&, std::string rest);
net::awaitable<void> show_health(server_core&, exchange&, std::string rest);
net::awaitable<void> show_readiness(server_core&, exchange&, std::string rest);

} // namespace tertulia::web
