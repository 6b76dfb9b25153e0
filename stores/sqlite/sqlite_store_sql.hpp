// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/sqlite_store.hpp>

#include <string>

#include "file_hold.hpp"
#include "sqlite_checksum.hpp"
#include "sqlite_db.hpp"
#include "sqlite_keys.hpp"
#include "sqlite_schema.hpp"

// The statements of a SQLite store.

namespace tertulia {

// An index is used only to locate a row. The values of the row are read from
// the table and compared with those that were searched for. Otherwise a flipped
// bit in an index would lead to a different row.

/// Columns of a session after its names, in the order in which they are read.
#define TERTULIA_SESSION                                                       \
  " s.created_at, s.updated_at, s.head, s.next_turn, s.records,"               \
  " s.last_sequence, s.state, s.title, s.preview, s.messages, s.bytes,"        \
  " s.updated_hour, s.updated_hour = s.updated_at / 3600000000000"             \
  " AND s.checksum = " TERTULIA_SESSION_CHECKSUM("s")

/// Query for one session by the key of its row.
#define TERTULIA_ONE_SESSION                                                   \
  "SELECT s.key, s.agent, s.id," TERTULIA_SESSION " FROM sessions s"           \
  " WHERE s.key = "

/// Query for many sessions. The statements append the order of their names.
#define TERTULIA_SESSIONS                                                      \
  "SELECT CASE WHEN s.agent = i.agent AND s.id = i.id THEN s.key END,"         \
  " i.agent, i.id," TERTULIA_SESSION " AND s.agent = i.agent AND s.id = i.id"  \
  " FROM sessions i LEFT JOIN sessions s ON s.key = i.key"                     \
  " WHERE (s.key IS NULL OR (s.updated_at >= ?3"                               \
  " AND (?4 = '' OR EXISTS (SELECT 1 FROM labels l"                            \
  " WHERE l.session = s.key AND l.label = ?4))))"

/// Condition that a record is undamaged.
#define TERTULIA_WHOLE_RECORD "r.checksum = " TERTULIA_RECORD_CHECKSUM("r")

/// Condition that the state of a record is undamaged.
#define TERTULIA_WHOLE_STATE "t.checksum = " TERTULIA_STATE_CHECKSUM("t")

/// Condition that the parent of a record is undamaged, as far as its id is
/// concerned.
#define TERTULIA_WHOLE_PARENT                                                  \
  "p.checksum = " TERTULIA_RECORD_CHECKSUM(                                    \
    "p") " AND pt.checksum = " TERTULIA_STATE_CHECKSUM("pt")

/// Statement that updates the checksums of records.
#define TERTULIA_SEAL_RECORDS                                                  \
  "UPDATE records AS r SET checksum = " TERTULIA_RECORD_CHECKSUM(              \
    "r") " WHERE r.session = ?1"

/// Bound values of a session, in the order of its checksum.
#define TERTULIA_NEW_SESSION                                                   \
  "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14"

/// Bound values of a record without labels, in the order of its checksum.
#define TERTULIA_NEW_RECORD "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11"

/// Query for records, with the ids of their states and parents.
#define TERTULIA_RECORD                                                        \
  "SELECT r.sequence, r.parent, r.depth, r.turn_index, r.event, r.created_at," \
  " r.own_id, r.run, r.state, t.id, p.own_id, pt.id, r.note, t.type_name,"     \
  " t.type_version, " TERTULIA_WHOLE_RECORD ", " TERTULIA_WHOLE_STATE          \
  ", " TERTULIA_WHOLE_PARENT " FROM records r"                                 \
  " LEFT JOIN states t ON t.key = r.state"                                     \
  " LEFT JOIN records p ON p.session = r.session AND p.sequence = r.parent"    \
  " LEFT JOIN states pt ON pt.key = p.state"

/// The file of a store, and the statements that the store runs on it.
class sqlite_store_file {
protected:
  sqlite_store_file(const std::string& file, const sqlite_options& options)
    : hold_(file, options.patience), db_(open_sqlite(hold_, options)) {}

  file_hold hold_;
  sqlite_db db_;

  sqlite_statement begin_{db_, "BEGIN IMMEDIATE"};
  sqlite_statement commit_{db_, "COMMIT"};
  sqlite_statement find_session_{
    db_, TERTULIA_ONE_SESSION
    "(SELECT key FROM sessions WHERE agent = ?1 AND id = ?2)"};
  sqlite_statement read_session_{db_, TERTULIA_ONE_SESSION "?1"};
  sqlite_statement next_session_{
    db_, TERTULIA_NEXT_KEY("SELECT max(key) FROM sessions",
                           "SELECT max(session) FROM records",
                           "SELECT max(session) FROM labels")};
  sqlite_statement insert_session_{
    db_, "INSERT INTO sessions (key, agent, id, created_at,"
         " updated_at, head, next_turn, last_sequence, records,"
         " state, title, preview, messages, bytes, checksum,"
         " updated_hour) VALUES (" TERTULIA_NEW_SESSION ","
         " row_checksum(" TERTULIA_NEW_SESSION "),"
         " ?5 / 3600000000000)"};
  sqlite_statement update_session_{
    db_, "UPDATE sessions SET updated_at = ?5, head = ?6,"
         " next_turn = ?7, last_sequence = ?8, records = ?9,"
         " state = ?10, title = ?11, preview = ?12,"
         " messages = ?13, bytes = ?14,"
         " checksum = row_checksum(" TERTULIA_NEW_SESSION ")"
         " WHERE key = ?1"};
  sqlite_statement update_hour_{
    db_, "UPDATE sessions SET updated_hour = ?2 WHERE key = ?1"};
  sqlite_statement erase_session_{db_, "DELETE FROM sessions WHERE key = ?1"};
  sqlite_statement list_sessions_{
    db_,
    TERTULIA_SESSIONS " AND (i.agent, i.id) > (?1, ?2) ORDER BY i.agent, i.id"};
  sqlite_statement list_sessions_of_{
    db_, TERTULIA_SESSIONS " AND i.agent = ?1 AND i.id > ?2 ORDER BY i.id"};
  // Plus signs keep SQLite from choosing the index of the ids.
  sqlite_statement list_latest_sessions_of_{
    db_, TERTULIA_SESSIONS " AND i.agent = ?1 AND +i.id > ?2 ORDER BY"
                           " i.updated_hour DESC, i.updated_at DESC,"
                           " i.id DESC"};
  sqlite_statement labelled_sessions_{db_, "SELECT DISTINCT session FROM labels"
                                           " WHERE label = ?1 LIMIT ?2"};
  sqlite_statement recent_sessions_{
    db_, "SELECT key FROM sessions WHERE updated_hour >= ?1"
         " LIMIT ?2"};
  sqlite_statement has_label_{
    db_, "SELECT 1 FROM labels WHERE label = ?1 AND session = ?2"
         " LIMIT 1"};
  sqlite_statement find_record_{db_, TERTULIA_RECORD
                                " WHERE r.session = ?1 AND r.sequence = ?2"};
  sqlite_statement find_records_{
    db_,
    TERTULIA_RECORD " WHERE r.session = ?1 AND r.sequence BETWEEN ?2 AND ?3"
                    " ORDER BY r.sequence"};
  sqlite_statement find_id_{
    db_, "SELECT sequence FROM records"
         " WHERE own_id = ?2 AND session = ?1 UNION"
         " SELECT r.sequence FROM states t"
         " JOIN records r ON r.state = t.key"
         " WHERE t.id = ?3 AND r.session = ?1 AND r.own_id IS NULL"
         " ORDER BY 1 DESC"};
  sqlite_statement find_sessions_with_id_{
    db_, "SELECT DISTINCT s.key FROM ("
         "SELECT session FROM records"
         " WHERE own_id = ?2 UNION "
         "SELECT r.session FROM states t"
         " JOIN records r ON r.state = t.key"
         " WHERE t.id = ?3 AND r.own_id IS NULL) x"
         " JOIN sessions s ON s.key = x.session"
         " WHERE s.agent = ?1 ORDER BY s.key LIMIT ?4"};
  sqlite_statement run_of_{db_, "SELECT r.run, " TERTULIA_WHOLE_RECORD
                                " FROM records r"
                                " WHERE r.session = ?1 AND r.sequence = ?2"};
  sqlite_statement parent_of_{
    db_, "SELECT r.parent, " TERTULIA_WHOLE_RECORD
         " FROM records r WHERE r.session = ?1"
         " AND r.sequence >= ?2 ORDER BY r.sequence LIMIT 1"};
  sqlite_statement insert_record_{
    db_, "INSERT INTO records (session, sequence, state, parent,"
         " run, depth, turn_index, event, created_at, own_id,"
         " note, checksum) VALUES (" TERTULIA_NEW_RECORD ","
         " row_checksum(" TERTULIA_NEW_RECORD ", NULL))"};
  sqlite_statement seal_record_{db_,
                                TERTULIA_SEAL_RECORDS " AND r.sequence = ?2"};
  sqlite_statement seal_records_{db_, TERTULIA_SEAL_RECORDS};
  sqlite_statement write_note_{db_,
                               "UPDATE records SET note = ?3 WHERE session = ?1"
                               " AND sequence = ?2"};
  sqlite_statement copy_records_{
    db_, "INSERT INTO records (session, sequence, state, parent,"
         " run, depth, turn_index, event, created_at, own_id,"
         " note) SELECT ?2, sequence, state, parent, run, depth,"
         " turn_index, event, created_at, own_id, note"
         " FROM records"
         " WHERE session = ?1 AND sequence BETWEEN ?3 AND ?4"};
  sqlite_statement copy_labels_{
    db_, "INSERT INTO labels (session, sequence, label)"
         " SELECT ?2, sequence, label FROM labels"
         " WHERE session = ?1 AND sequence BETWEEN ?3 AND ?4"};
  sqlite_statement count_records_{db_,
                                  "SELECT count(*), max(sequence) FROM records"
                                  " WHERE session = ?1"};
  sqlite_statement count_whole_{
    db_, "SELECT count(*) FROM records r WHERE r.session = ?1"
         " AND " TERTULIA_WHOLE_RECORD};
  sqlite_statement has_damaged_rows_{
    db_, "SELECT 1 FROM sessions s WHERE s.checksum"
         " <> " TERTULIA_SESSION_CHECKSUM("s") //
    " UNION ALL SELECT 1 FROM records r WHERE r.checksum"
    " <> " TERTULIA_RECORD_CHECKSUM("r") //
    " UNION ALL SELECT 1 FROM states t WHERE t.checksum"
    " <> " TERTULIA_STATE_CHECKSUM("t")};
  sqlite_statement verify_records_{
    db_, "SELECT r.sequence, r.parent, p.sequence IS NULL,"
         " r.run, r.event, r.state, " TERTULIA_WHOLE_RECORD " FROM records r"
         " LEFT JOIN records p ON p.session = r.session"
         " AND p.sequence = r.parent"
         " WHERE r.session = ?1 AND r.sequence > ?2"
         " ORDER BY r.sequence LIMIT ?3"};
  sqlite_statement move_record_{
    db_, "UPDATE records SET parent = ?3 WHERE session = ?1"
         " AND sequence = ?2"};
  sqlite_statement erase_record_{db_, "DELETE FROM records WHERE session = ?1"
                                      " AND sequence = ?2"};
  sqlite_statement erase_records_{db_,
                                  "DELETE FROM records WHERE session = ?1"};
  sqlite_statement states_of_{
    db_, "SELECT DISTINCT state FROM records WHERE session = ?1"};
  sqlite_statement outline_{
    db_, "SELECT r.sequence, r.parent, " TERTULIA_WHOLE_RECORD
         " FROM records r WHERE r.session = ?1"
         " AND r.sequence BETWEEN ?2 AND ?3 ORDER BY r.sequence"};
  sqlite_statement has_record_{db_, "SELECT 1 FROM records WHERE session = ?1"
                                    " AND sequence BETWEEN ?2 AND ?3 LIMIT 1"};
  sqlite_statement find_damaged_{
    db_, "SELECT r.sequence FROM records r WHERE r.session = ?1"
         " AND NOT " TERTULIA_WHOLE_RECORD " ORDER BY r.sequence LIMIT 1"};
  sqlite_statement labels_of_{db_, "SELECT label FROM labels WHERE session = ?1"
                                   " AND sequence = ?2 ORDER BY label"};
  sqlite_statement insert_label_{db_,
                                 "INSERT INTO labels (session, sequence, label)"
                                 " VALUES (?1, ?2, ?3)"};
  sqlite_statement erase_labels_{db_, "DELETE FROM labels WHERE session = ?1"
                                      " AND sequence = ?2"};
};

#undef TERTULIA_SESSION
#undef TERTULIA_ONE_SESSION
#undef TERTULIA_SESSIONS
#undef TERTULIA_WHOLE_RECORD
#undef TERTULIA_WHOLE_STATE
#undef TERTULIA_WHOLE_PARENT
#undef TERTULIA_SEAL_RECORDS
#undef TERTULIA_NEW_SESSION
#undef TERTULIA_NEW_RECORD
#undef TERTULIA_RECORD

} // namespace tertulia
