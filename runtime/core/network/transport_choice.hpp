// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/config.hpp>

#include <caf/actor_system.hpp>

namespace tertulia::network {

/// Stores in a configuration whether its nodes use TLS.
void set_tls(caf::actor_system_config& cfg, bool is_on);

/// Returns whether the nodes of this system use TLS.
/// @errors `failed_precondition` if it does not have the network module, or if
///         the module was not added by `add_network_to`.
[[nodiscard]] bool uses_tls(caf::actor_system& system);

} // namespace tertulia::network
