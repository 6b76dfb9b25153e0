// SPDX-License-Identifier: BSD-3-Clause
// expect: a snapshot_store takes those of sessions, a managed_store those of

#include <tertulia/ask_store.hpp>

void list(caf::actor_system& system, const tertulia::snapshot_store& store) {
  (void)tertulia::ask_store(system, store, tertulia::list_sessions_request{});
}
