// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/sqlite_store.hpp>

#include <filesystem>
#include <string>

namespace tertulia {

/// Opens a store without a supervisor.
/// @errors as `spawn_sqlite_store`, but after the actor has died requests fail
///         with the errors of CAF.
[[nodiscard]] managed_store
spawn_sqlite_store_actor(caf::actor_system& system, const std::string& file,
                         const sqlite_options& options);

/// Returns a factory that opens stores without a supervisor. They use the same
/// file even if the working directory of the process changes.
/// @errors throws `invalid_argument` for an invalid file name.
[[nodiscard]] store_factory stores_in_file(const std::filesystem::path& file,
                                           const sqlite_options& options);

} // namespace tertulia
