// SPDX-License-Identifier: BSD-3-Clause

#include "sqlite_schema.hpp"

#include <array>

#include "sqlite_checksum.hpp"
#include "sqlite_migration.hpp"

namespace tertulia {

namespace {

// The tables are described in docs/sqlite-format.md.
constexpr const char* version_1 = R"(
CREATE TABLE branches (
  key    INTEGER PRIMARY KEY AUTOINCREMENT,
  parent INTEGER REFERENCES branches,
  start  INTEGER NOT NULL,
  CHECK ((parent IS NULL) = (start = 0))
) STRICT;
CREATE INDEX branches_by_parent ON branches (parent, start)
  WHERE parent IS NOT NULL;

CREATE TABLE messages (
  key  INTEGER PRIMARY KEY,
  text TEXT NOT NULL
) STRICT;

CREATE TABLE blobs (
  key  INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  text TEXT NOT NULL
) STRICT;

CREATE TABLE states (
  key       INTEGER PRIMARY KEY,
  id        BLOB NOT NULL,
  form      INTEGER NOT NULL,
  branch    INTEGER REFERENCES branches,
  length    INTEGER NOT NULL,
  custom    INTEGER REFERENCES blobs,
  artifacts INTEGER REFERENCES blobs,
  UNIQUE (id, form),
  CHECK ((branch IS NULL) = (length = 0))
) STRICT;
CREATE INDEX states_by_branch ON states (branch, length)
  WHERE branch IS NOT NULL;
CREATE INDEX states_by_custom ON states (custom) WHERE custom IS NOT NULL;
CREATE INDEX states_by_artifacts ON states (artifacts)
  WHERE artifacts IS NOT NULL;

CREATE TABLE sessions (
  key           INTEGER PRIMARY KEY,
  agent         TEXT NOT NULL,
  id            TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  head          INTEGER NOT NULL,
  next_turn     INTEGER NOT NULL,
  last_sequence INTEGER NOT NULL,
  records       INTEGER NOT NULL,
  state         INTEGER NOT NULL REFERENCES states
                DEFERRABLE INITIALLY DEFERRED,
  UNIQUE (agent, id)
) STRICT;
CREATE INDEX sessions_by_state ON sessions (state);

CREATE TABLE records (
  session    INTEGER NOT NULL REFERENCES sessions,
  sequence   INTEGER NOT NULL,
  state      INTEGER NOT NULL REFERENCES states,
  parent     INTEGER NOT NULL,
  run        INTEGER NOT NULL,
  depth      INTEGER NOT NULL,
  turn_index INTEGER NOT NULL,
  event      TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  own_id     TEXT,
  PRIMARY KEY (session, sequence)
) STRICT, WITHOUT ROWID;
CREATE INDEX records_by_state ON records (state);
CREATE INDEX records_by_own_id ON records (own_id) WHERE own_id IS NOT NULL;

CREATE TABLE labels (
  session  INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  label    TEXT NOT NULL,
  PRIMARY KEY (session, sequence, label),
  FOREIGN KEY (session, sequence) REFERENCES records ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX labels_by_label ON labels (session, label);
)";

// Adds the fields of sessions that lists show, notes, types of states, and
// checksums of rows. For existing sessions the fields are computed from the
// messages of their working state, as by rules::describe. The type is part of
// the unique key of a state; SQLite cannot change a constraint, so the table is
// created anew. Checksums come last because they cover all of that.
constexpr const char* version_2 = R"(
ALTER TABLE sessions ADD COLUMN title    TEXT    NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN preview  TEXT    NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN messages INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN bytes    INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;

ALTER TABLE records ADD COLUMN note     TEXT;
ALTER TABLE records ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;

CREATE TABLE new_states (
  key          INTEGER PRIMARY KEY,
  id           BLOB NOT NULL,
  form         INTEGER NOT NULL,
  branch       INTEGER REFERENCES branches,
  length       INTEGER NOT NULL,
  custom       INTEGER REFERENCES blobs,
  artifacts    INTEGER REFERENCES blobs,
  type_name    TEXT NOT NULL,
  type_version INTEGER NOT NULL,
  checksum     INTEGER NOT NULL,
  UNIQUE (id, form, type_name, type_version),
  CHECK ((branch IS NULL) = (length = 0))
) STRICT;
INSERT INTO new_states
  SELECT key, id, form, branch, length, custom, artifacts, '', 1, 0 FROM states;
DROP TABLE states;
ALTER TABLE new_states RENAME TO states;
CREATE INDEX states_by_branch ON states (branch, length)
  WHERE branch IS NOT NULL;
CREATE INDEX states_by_custom ON states (custom) WHERE custom IS NOT NULL;
CREATE INDEX states_by_artifacts ON states (artifacts)
  WHERE artifacts IS NOT NULL;

CREATE TEMP TABLE pieces AS
  WITH RECURSIVE pieces (session, branch, first, last) AS (
    SELECT s.key, b.key, b.start, t.length FROM sessions s
      JOIN states t ON t.key = s.state
      JOIN branches b ON b.key = t.branch
    UNION ALL
    SELECT p.session, b.key, b.start, p.first FROM pieces p
      JOIN branches c ON c.key = p.branch
      JOIN branches b ON b.key = c.parent)
  SELECT session, (branch << 32) + first AS first,
    (branch << 32) + last - 1 AS last FROM pieces;
CREATE INDEX temp.pieces_by_session ON pieces (session);

UPDATE sessions SET messages = coalesce(
  (SELECT length FROM states WHERE key = sessions.state), 0);

UPDATE sessions SET bytes = 1 + messages + coalesce(
  (SELECT sum(length(CAST(m.text AS BLOB))) FROM temp.pieces p
    JOIN messages m ON m.key BETWEEN p.first AND p.last
    WHERE p.session = sessions.key), 0)
  WHERE messages > 0;

UPDATE sessions SET preview = coalesce(
  (SELECT substr(text, 1, 120) FROM (
    SELECT m.key & 0xffffffff AS position,
      CASE WHEN json_valid(m.text)
        AND json_extract(m.text, '$.role') = 'user' THEN
        (SELECT json_extract(e.value, '$.text')
          FROM json_each(m.text, '$.content') e
          WHERE json_type(e.value, '$.text') = 'text'
            AND json_extract(e.value, '$.text') <> '' LIMIT 1)
      END AS text
    FROM temp.pieces p JOIN messages m ON m.key BETWEEN p.first AND p.last
    WHERE p.session = sessions.key
      AND m.key & 0xffffffff >= sessions.messages - 64)
   WHERE text IS NOT NULL ORDER BY position DESC LIMIT 1), '')
  WHERE messages > 0;

DROP TABLE temp.pieces;

UPDATE sessions AS s SET checksum = )" TERTULIA_SESSION_CHECKSUM("s") R"(;
UPDATE records AS r SET checksum = )" TERTULIA_RECORD_CHECKSUM("r") R"(;
UPDATE states AS t SET checksum = )" TERTULIA_STATE_CHECKSUM("t") R"(;
)";

// Indexes for the filters and the orders of lists. The hour of the last change
// is a column of its own, because an index of the time itself would cost each
// save a page.
constexpr const char* version_3 = R"(
ALTER TABLE sessions ADD COLUMN updated_hour INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET updated_hour = updated_at / 3600000000000;
CREATE INDEX sessions_by_hour ON sessions (updated_hour);
CREATE INDEX sessions_by_change ON sessions (agent, updated_hour);

DROP INDEX labels_by_label;
CREATE INDEX labels_by_label ON labels (label, session);
)";

// Each record has its state in its own row, and so does each session for the
// state that it works on. Branches and values belong to a session; other
// sessions that need them have shares. So a save touches few pages, and nothing
// has to be searched for before it is erased.
constexpr const char* version_4_tables = R"(
ALTER TABLE sessions RENAME TO old_sessions;
ALTER TABLE records RENAME TO old_records;
ALTER TABLE labels RENAME TO old_labels;
ALTER TABLE branches RENAME TO old_branches;
ALTER TABLE blobs RENAME TO old_blobs;
ALTER TABLE states RENAME TO old_states;

CREATE TABLE sessions (
  key            INTEGER PRIMARY KEY AUTOINCREMENT,
  agent          TEXT NOT NULL,
  id             TEXT NOT NULL,
  created_at     INTEGER NOT NULL DEFAULT 0,
  updated_at     INTEGER NOT NULL DEFAULT 0,
  head           INTEGER NOT NULL DEFAULT 0,
  next_turn      INTEGER NOT NULL DEFAULT 0,
  last_sequence  INTEGER NOT NULL DEFAULT 0,
  records        INTEGER NOT NULL DEFAULT 0,
  state          BLOB NOT NULL DEFAULT x'',
  type           TEXT NOT NULL DEFAULT '',
  form           INTEGER NOT NULL DEFAULT 0,
  branch         INTEGER NOT NULL DEFAULT 0,
  length         INTEGER NOT NULL DEFAULT 0,
  custom         INTEGER NOT NULL DEFAULT 0,
  artifacts      INTEGER NOT NULL DEFAULT 0,
  sealed         INTEGER NOT NULL DEFAULT 0,
  owns_custom    INTEGER NOT NULL DEFAULT 0,
  owns_artifacts INTEGER NOT NULL DEFAULT 0,
  title          TEXT NOT NULL DEFAULT '',
  preview        TEXT NOT NULL DEFAULT '',
  messages       INTEGER NOT NULL DEFAULT 0,
  bytes          INTEGER NOT NULL DEFAULT 0,
  checksum       INTEGER NOT NULL DEFAULT 0,
  updated_hour   INTEGER NOT NULL DEFAULT 0,
  UNIQUE (agent, id)
) STRICT;

CREATE TABLE records (
  session    INTEGER NOT NULL REFERENCES sessions,
  sequence   INTEGER NOT NULL,
  parent     INTEGER NOT NULL,
  run        INTEGER NOT NULL,
  depth      INTEGER NOT NULL,
  turn_index INTEGER NOT NULL,
  event      TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  own_id     TEXT NOT NULL,
  note       TEXT NOT NULL,
  state      BLOB NOT NULL,
  type       TEXT NOT NULL,
  form       INTEGER NOT NULL,
  branch     INTEGER NOT NULL,
  length     INTEGER NOT NULL,
  custom     INTEGER NOT NULL,
  artifacts  INTEGER NOT NULL,
  checksum   INTEGER NOT NULL,
  PRIMARY KEY (session, sequence)
) STRICT, WITHOUT ROWID;

CREATE TABLE labels (
  session  INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  label    TEXT NOT NULL,
  PRIMARY KEY (session, sequence, label),
  FOREIGN KEY (session, sequence) REFERENCES records ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE branches (
  key    INTEGER PRIMARY KEY AUTOINCREMENT,
  owner  INTEGER NOT NULL,
  parent INTEGER NOT NULL,
  start  INTEGER NOT NULL,
  CHECK ((parent = 0) = (start = 0))
) STRICT;

CREATE TABLE blobs (
  key  INTEGER PRIMARY KEY,
  hash BLOB NOT NULL,
  text TEXT NOT NULL
) STRICT;

CREATE TABLE shares (
  item    INTEGER NOT NULL,
  length  INTEGER NOT NULL,
  session INTEGER NOT NULL,
  PRIMARY KEY (item, length, session)
) STRICT, WITHOUT ROWID;
)";

constexpr const char* version_4_indexes = R"(
DROP TABLE old_labels;
DROP TABLE old_records;
DROP TABLE old_sessions;
DROP TABLE old_states;
DROP TABLE old_blobs;
DROP TABLE old_branches;
CREATE INDEX sessions_by_hour ON sessions (updated_hour);
CREATE INDEX sessions_by_change ON sessions (agent, updated_hour);
CREATE INDEX records_by_state ON records (state);
CREATE INDEX records_by_own_id ON records (own_id) WHERE own_id <> '';
CREATE INDEX labels_by_label ON labels (label, session);
CREATE INDEX branches_by_owner ON branches (owner);
CREATE INDEX shares_by_session ON shares (session);
)";

// A fence is never used again: AUTOINCREMENT remembers the last one even if its
// row is gone.
constexpr const char* version_5 = R"(
CREATE TABLE leases (
  fence INTEGER PRIMARY KEY AUTOINCREMENT,
  agent TEXT NOT NULL,
  id    TEXT NOT NULL,
  UNIQUE (agent, id)
) STRICT;
)";

// The checksum of a record without a reason is what it was.
constexpr const char* version_6 = R"(
ALTER TABLE records ADD COLUMN finish_reason TEXT NOT NULL DEFAULT '';
)";

// The checksum of a row without these values is what it was.
constexpr const char* version_7 = R"(
ALTER TABLE sessions ADD COLUMN inputs INTEGER NOT NULL DEFAULT -1;
ALTER TABLE sessions ADD COLUMN turn TEXT NOT NULL DEFAULT '';
ALTER TABLE records ADD COLUMN inputs INTEGER NOT NULL DEFAULT -1;

CREATE TABLE runs (
  id       TEXT PRIMARY KEY,
  agent    TEXT NOT NULL,
  session  TEXT NOT NULL,
  status   INTEGER NOT NULL,
  snapshot TEXT NOT NULL,
  code     INTEGER NOT NULL,
  error    TEXT NOT NULL,
  owner    TEXT NOT NULL,
  beat     INTEGER NOT NULL,
  began_at INTEGER NOT NULL,
  beat_at  INTEGER NOT NULL,
  ended_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_by_session ON runs (agent, session, began_at);
CREATE INDEX runs_by_end ON runs (agent, ended_at) WHERE ended_at > 0;
)";

// Runs are listed page by page, and those of lost processes are erased.
constexpr const char* version_8 = R"(
CREATE INDEX runs_by_begin ON runs (began_at);
CREATE INDEX runs_by_beat ON runs (agent, beat_at) WHERE ended_at = 0;
)";

// The checksum of a session without past turns is what it was.
constexpr const char* version_9 = R"(
ALTER TABLE sessions ADD COLUMN past_turns TEXT NOT NULL DEFAULT '';
)";

// The runs of one caller are listed: the sessions of a caller begin with its
// name and a slash.
constexpr const char* version_10 = R"(
CREATE INDEX runs_by_caller ON runs
  (agent, substr(session, 1, instr(session, '/')), began_at);
)";

constexpr std::array schema{
  migration_step{version_1, nullptr, ""},
  migration_step{version_2, nullptr, ""},
  migration_step{version_3, nullptr, ""},
  migration_step{version_4_tables, copy_rows_of_version_3, version_4_indexes},
  migration_step{version_5, nullptr, ""},
  migration_step{version_6, nullptr, ""},
  migration_step{version_7, nullptr, ""},
  migration_step{version_8, nullptr, ""},
  migration_step{version_9, nullptr, ""},
  migration_step{version_10, nullptr, ""}};

} // namespace

std::span<const migration_step> sqlite_schema() {
  return schema;
}

} // namespace tertulia
