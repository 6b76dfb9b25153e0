// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstdint>
#include <string>

// Detection of transactions in SQLite's write-ahead log that SQLite silently
// ignores. Reads the log without SQLite.

namespace tertulia {

/// Returns a lower bound for the number of committed transactions in a log that
/// SQLite does not read because a frame before them is damaged.
///
/// A log that was being written when the power was cut also ends with a frame
/// whose checksum is wrong, and the rest of that transaction may follow it. So
/// losses are counted from two transactions on: the first of them was on disk
/// before the second one began. The loss of the last transaction alone, or of
/// the first 32 bytes of a log, is not detected. The result is meaningless if
/// commits do not wait for the disk.
///
/// @param  log a file that is not being written to; it need not exist.
/// @errors throws `unavailable` if the disk fails.
[[nodiscard]] std::uint64_t lost_transactions(const std::string& log);

/// Returns the file name of the kept copy of a log from which transactions were
/// lost. SQLite overwrites them in the log itself.
[[nodiscard]] std::string kept_log_of(const std::string& file);

/// Keeps a copy of the log of a file if transactions were lost from it, unless
/// there is already a copy.
/// @pre    SQLite has not opened the file yet.
/// @errors throws `unavailable` if the disk fails or is full: then SQLite must
///         not open the file.
void keep_damaged_log(const std::string& file);

} // namespace tertulia
