// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstdint>
#include <string>

// SQLite's write-ahead log, read past SQLite: what that ignores without a word.

namespace tertulia {

/// Returns how many transactions of a log, or more, SQLite does not read
/// although they were committed, because a frame before them is damaged.
///
/// A frame whose checksum is wrong also ends a log that was being written when
/// the power was cut, and the rest of that transaction may lie behind it. So
/// this counts from two transactions on, for the first of them was on disk
/// before the second one was begun: who loses the last one alone, or the first
/// 32 bytes of a log, is not told. Nor does it mean anything where commits do
/// not wait for the disk.
///
/// @param  log a file that nobody writes to; there need be none.
/// @errors throws `unavailable` if the disk fails.
[[nodiscard]] std::uint64_t lost_transactions(const std::string& log);

/// Where a log is kept from which transactions were lost. SQLite writes over
/// them.
[[nodiscard]] std::string kept_log_of(const std::string& file);

/// Keeps the log of a file if transactions were lost from it, unless another
/// one is there already.
/// @pre    SQLite has not opened the file yet.
/// @errors throws `unavailable` if the disk fails or is full: then SQLite must
///         not open the file.
void keep_damaged_log(const std::string& file);

} // namespace tertulia
