// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <sqlite3.h>

// Rows of sessions, records and states know a checksum of themselves, since
// SQLite notices a flipped bit only where it makes no sense. What these macros
// say is compared with the column when a row is read, and written to it by
// whoever has changed a row that was whole. A statement that writes a whole row
// computes the same of what is bound, whose order is that of these macros.

/// Of a session, by the name that a statement has for it.
#define TERTULIA_SESSION_CHECKSUM(s)                                           \
  "row_checksum(" s ".key, " s ".agent, " s ".id, " s ".created_at, " s        \
  ".updated_at, " s ".head, " s ".next_turn, " s ".last_sequence, " s          \
  ".records, " s ".state, " s ".title, " s ".preview, " s ".messages, " s      \
  ".bytes)"

/// Of a record, with its labels.
#define TERTULIA_RECORD_CHECKSUM(r)                                            \
  "row_checksum(" r ".session, " r ".sequence, " r ".state, " r ".parent, " r  \
  ".run, " r ".depth, " r ".turn_index, " r ".event, " r ".created_at, " r     \
  ".own_id, " r ".note, (SELECT group_concat(label, char(10)) FROM"            \
  " (SELECT label FROM labels l WHERE l.session = " r                          \
  ".session AND l.sequence = " r ".sequence ORDER BY label)))"

/// Of a state, without what it consists of: that has its id.
#define TERTULIA_STATE_CHECKSUM(t)                                             \
  "row_checksum(" t ".key, " t ".id, " t ".form, " t ".branch, " t             \
  ".length, " t ".custom, " t ".artifacts, " t ".type_name, " t                \
  ".type_version)"

namespace tertulia {

/// Makes `row_checksum(…)` known to a connection: the first eight bytes of the
/// SHA-256 of its arguments, as sqlite_format.md says.
///
/// @returns a result of SQLite.
int add_row_checksum(sqlite3* to) noexcept;

} // namespace tertulia
