// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/sqlite_store.hpp>

#include <string>

namespace tertulia {

/// Opens a store without a supervisor.
/// @errors as `spawn_sqlite_store`, but once its actor has died requests fail
///         as CAF says.
[[nodiscard]] managed_store
spawn_sqlite_store_actor(caf::actor_system& system, const std::string& file,
                         const sqlite_options& options);

} // namespace tertulia
