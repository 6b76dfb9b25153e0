// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/protocol.hpp>

#include <caf/fwd.hpp>

namespace tertulia::detail {

/// Spawns an actor that asks a store for clients on other nodes, in its own
/// name. CAF keeps an actor that has sent to another node until it quits: this
/// one ends with its front desk, and the store with its last handle.
/// @param store requests that it does not know are answered with the error of
///              CAF.
managed_store spawn_store_gate(caf::local_actor& parent,
                               const snapshot_store& store);

} // namespace tertulia::detail
