// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/sqlite_store.hpp>

#include <span>
#include <string>

#include "file_hold.hpp"
#include "sqlite_db.hpp"

namespace tertulia {

/// Marks a file as ours; "Tert" in ASCII.
inline constexpr std::int32_t sqlite_application_id = 0x54657274;

/// The statements that bring a file from one version to the next, that from
/// nothing to version 1 first. What is here is never changed, only added to.
[[nodiscard]] std::span<const char* const> sqlite_schema();

/// Opens the file of a store and brings it to the newest version: as many as
/// there are steps. From then on the hold watches all that SQLite has open.
///
/// @errors  throws `failed_precondition` for a file that is no store, comes
///          from a newer version, or has tables, indexes, views or triggers
///          that are not of a store; `data_loss` if one of a store's own is
///          missing or another one. Then nothing is changed.
[[nodiscard]] sqlite_db
open_sqlite(file_hold& hold, const sqlite_options& options,
            std::span<const char* const> steps = sqlite_schema());

} // namespace tertulia
