// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include "sqlite_db.hpp"

namespace tertulia {

/// Copies all rows of a file of version 3 to the tables of version 4. A row
/// that was damaged stays damaged.
/// @pre the tables of version 3 begin with `old_`.
void copy_rows_of_version_3(sqlite_db& db);

} // namespace tertulia
