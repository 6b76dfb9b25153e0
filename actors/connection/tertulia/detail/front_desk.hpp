// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/environment.hpp>

#include <caf/actor_system.hpp>

#include <memory>

namespace tertulia::detail {

/// Spawns the front desk, the actor that opens connections. When it receives an
/// exit message, it refuses new connections, stops the open ones and ends when
/// they have ended.
front_desk_actor spawn_front_desk(std::shared_ptr<environment> env);

/// Spawns the front desk for other nodes, for which only exposed actions exist.
/// It ends with the front desk.
front_desk_actor spawn_published_desk(std::shared_ptr<environment> env);

/// Makes an environment and spawns its actors.
std::shared_ptr<environment> make_environment(caf::actor_system& system,
                                              const runtime_options& options);

} // namespace tertulia::detail
