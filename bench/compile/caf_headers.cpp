// SPDX-License-Identifier: BSD-3-Clause

// Baseline of the compile rows: the headers of CAF that every typed actor
// needs.

#include <caf/actor_system.hpp>
#include <caf/typed_event_based_actor.hpp>
