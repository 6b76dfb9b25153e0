// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/body_services.hpp>
#include <tertulia/detail/key_patterns.hpp>
#include <tertulia/detail/registry.hpp>
#include <tertulia/detail/run_registry.hpp>
#include <tertulia/protocol.hpp>
#include <tertulia/runtime_options.hpp>

#include <caf/actor_system.hpp>

#include <memory>
#include <string>

namespace tertulia::detail {

/// Services that the actors of one runtime share.
///
/// @threads  as documented for each of them; the handles are set before any
///           connection opens.
/// @lifetime held by the runtime and by each of its live actors.
class environment : public body_services {
public:
  environment(caf::actor_system& system, const runtime_options& options);

  caf::actor_system& system;
  const runtime_options options;
  registry actions;
  const key_patterns exposed; ///< to other nodes
  run_registry runs;
  /// This process, as text for people: `process 17 on host`.
  const std::string owner;
  front_desk_actor desk;
};

} // namespace tertulia::detail
