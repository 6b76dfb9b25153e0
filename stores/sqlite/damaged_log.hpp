// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <string>

#include "sqlite_db.hpp"

namespace tertulia {

/// Returns the file name of the kept copy of a write-ahead log.
[[nodiscard]] std::string kept_log_of(const std::string& file);

/// Keeps a copy of the write-ahead log of a file if it contains transactions
/// that SQLite does not read because a frame before them is damaged. SQLite
/// will overwrite them. An existing copy is not replaced.
///
/// A log that was being written when the power was cut may end in the same way:
/// its last transaction, which nobody was told of, may be damaged. So a log is
/// kept from two such transactions on. The loss of the last transaction alone
/// is not detected. The result is meaningless if commits do not wait for the
/// disk.
///
/// @pre    SQLite has read the file, and nothing has been written to it since.
/// @errors throws `unavailable` if the disk fails or is full. The log is as it
///         was then, also after the connection has been closed.
void keep_damaged_log(sqlite_db& db);

} // namespace tertulia
