// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <caf/fwd.hpp>

namespace tertulia::detail {

/// Refuses to block a thread of the system's scheduler, because the awaited
/// result may need that thread. Detached and blocking actors, and all other
/// threads, may block; so may a thread that drives a scheduler without threads
/// of its own.
///
/// @errors  throws `failed_precondition` on a thread of the scheduler.
/// @threads all.
void check_may_block(caf::actor_system& system);

} // namespace tertulia::detail
