// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <sqlite3.h>

// Rows of sessions, records and states contain a checksum of themselves, since
// SQLite detects a flipped bit only if the result is invalid. The expressions
// of these macros are compared with the column when a row is read. They are
// written to it after an undamaged row has been changed. A statement that
// writes a whole row computes its checksum from the bound values, in the order
// of these macros.

/// Checksum of a session, whose alias in the statement is given.
#define TERTULIA_SESSION_CHECKSUM(s)                                           \
  "row_checksum(" s ".key, " s ".agent, " s ".id, " s ".created_at, " s        \
  ".updated_at, " s ".head, " s ".next_turn, " s ".last_sequence, " s          \
  ".records, " s ".state, " s ".title, " s ".preview, " s ".messages, " s      \
  ".bytes)"

/// Checksum of a record, including its labels.
#define TERTULIA_RECORD_CHECKSUM(r)                                            \
  "row_checksum(" r ".session, " r ".sequence, " r ".state, " r ".parent, " r  \
  ".run, " r ".depth, " r ".turn_index, " r ".event, " r ".created_at, " r     \
  ".own_id, " r ".note, (SELECT group_concat(label, char(10)) FROM"            \
  " (SELECT label FROM labels l WHERE l.session = " r                          \
  ".session AND l.sequence = " r ".sequence ORDER BY label)))"

/// Checksum of a state, without its messages and blobs: its id covers those.
#define TERTULIA_STATE_CHECKSUM(t)                                             \
  "row_checksum(" t ".key, " t ".id, " t ".form, " t ".branch, " t             \
  ".length, " t ".custom, " t ".artifacts, " t ".type_name, " t                \
  ".type_version)"

namespace tertulia {

/// Registers `row_checksum(…)` with a connection: it returns the first eight
/// bytes of the SHA-256 of its arguments.
///
/// @design  docs/sqlite-format.md.
/// @returns a result of SQLite.
int add_row_checksum(sqlite3* to) noexcept;

} // namespace tertulia
