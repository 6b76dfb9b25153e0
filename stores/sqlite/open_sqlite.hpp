// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/sqlite_store.hpp>

#include <cstdint>
#include <span>

#include "file_hold.hpp"
#include "sqlite_db.hpp"
#include "sqlite_schema.hpp"

namespace tertulia {

/// Application id of the files of this store; "Tert" in ASCII.
inline constexpr std::int32_t sqlite_application_id = 0x54657274;

/// Opens the file of a store and migrates it to the newest version, which is
/// the number of steps. From then on the hold watches all files that SQLite has
/// open.
///
/// @errors  throws `failed_precondition` for a file that is not a store, has a
///          newer version, or has tables, indexes, views or triggers that do
///          not belong to a store; `data_loss` if one that belongs to a store
///          is missing or different. The file is not changed then.
[[nodiscard]] sqlite_db
open_sqlite(file_hold& hold, const sqlite_options& options,
            std::span<const migration_step> steps = sqlite_schema());

} // namespace tertulia
