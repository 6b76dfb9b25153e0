// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/sqlite_store.hpp>

#include <filesystem>
#include <string>

namespace tertulia {

/// Opens a store without a supervisor.
/// @errors as `spawn_sqlite_store`, but once its actor has died requests fail
///         as CAF says.
[[nodiscard]] managed_store
spawn_sqlite_store_actor(caf::actor_system& system, const std::string& file,
                         const sqlite_options& options);

/// Opens stores without a supervisor in one and the same file, wherever the
/// process has gone meanwhile.
/// @errors throws `invalid_argument` for what is not the name of a file.
[[nodiscard]] store_factory stores_in_file(const std::filesystem::path& file,
                                           const sqlite_options& options);

} // namespace tertulia
