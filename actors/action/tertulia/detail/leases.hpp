// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/lease.hpp>

#include <caf/actor_system.hpp>

namespace tertulia::detail {

/// Spawns the lease keeper of one runtime.
lease_actor spawn_leases(caf::actor_system& system);

} // namespace tertulia::detail
