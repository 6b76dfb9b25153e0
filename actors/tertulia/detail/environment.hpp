// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/blocking_pool.hpp>
#include <tertulia/detail/leases.hpp>
#include <tertulia/detail/registry.hpp>
#include <tertulia/detail/timer.hpp>
#include <tertulia/protocol.hpp>
#include <tertulia/runtime_options.hpp>
#include <tertulia/trace.hpp>

#include <caf/actor_system.hpp>

#include <memory>

namespace tertulia::detail {

/// Services that the actors of one runtime share.
///
/// @threads  as documented for each of them; the handles are set before any
///           connection opens.
/// @lifetime held by the runtime and by each of its live actors.
class environment {
public:
  environment(caf::actor_system& system, const runtime_options& options);

  caf::actor_system& system;
  const runtime_options options;
  /// Never null.
  const std::shared_ptr<spdlog::logger> log;
  registry actions;
  tracer traces;
  blocking_pool blocking;
  timer_actor timer;
  lease_actor leases;
  front_desk_actor desk;
};

/// Makes an environment and spawns its actors.
std::shared_ptr<environment> make_environment(caf::actor_system& system,
                                              const runtime_options& options);

} // namespace tertulia::detail
