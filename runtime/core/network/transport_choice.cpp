// SPDX-License-Identifier: BSD-3-Clause

#include "transport_choice.hpp"

#include <tertulia/status.hpp>

#include <caf/settings.hpp>

namespace tertulia::network {

namespace {

constexpr char option[] = "tertulia.uses-tls";

} // namespace

void set_tls(caf::actor_system_config& cfg, bool is_on) {
  caf::put(cfg.content, option, is_on);
}

bool uses_tls(caf::actor_system& system) {
  if (!system.has_middleman())
    throw status_error{errc::failed_precondition,
                       "the actor system has no network module"};
  const auto chosen = caf::get_if<bool>(&system.config().content, option);
  // If the module was added by other means, plain text was not chosen
  // explicitly.
  if (!chosen)
    throw status_error{errc::failed_precondition,
                       "the network module was not added by add_network_to"};
  return *chosen;
}

} // namespace tertulia::network
