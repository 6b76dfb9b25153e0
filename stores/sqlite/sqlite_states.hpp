// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/sha256.hpp>
#include <tertulia/state.hpp>
#include <tertulia/store.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "sqlite_checksum.hpp"
#include "sqlite_db.hpp"
#include "sqlite_keys.hpp"
#include "sqlite_known_logs.hpp"
#include "sqlite_messages.hpp"

namespace tertulia {

/// Bound values of a state, in the order of its checksum.
#define TERTULIA_NEW_STATE "?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9"

/// States in a file, with their messages, which are written once, and their
/// blobs. See docs/sqlite-format.md.
///
/// @pre     a transaction is open during every write; after a failed write the
///          caller rolls back and calls `forget_all`.
/// @threads those of the connection.
class sqlite_states {
public:
  using place = sqlite_log_place;

  struct kept {
    std::int64_t key = 0;
    place messages;
  };

  sqlite_states(sqlite_db& db, std::size_t remembered_messages)
    : db_(db), known_(remembered_messages), messages_(db) {}

  /// Origin of a state that is written, from which the messages that are
  /// already on disk are found.
  struct origin {
    /// Session whose remembered log shows which messages are new; 0 for a new
    /// session.
    std::int64_t session = 0;
    /// State that is likely to have the same messages, used if no log is
    /// remembered; 0 for none.
    std::int64_t base = 0;
    /// Previous working state of the session. It may be erased if nothing else
    /// refers to it.
    std::int64_t replaced = 0;
  };

  /// Writes the new parts of a state.
  [[nodiscard]] kept keep(const state& x, const state_id& id,
                          const origin& from);

  /// Log that was just read and its place on disk.
  struct loaded {
    place where;
    ai::message_log log;
  };

  /// Reads a state and verifies it.
  /// @param  last log that was read before, and then that of the state: the
  ///         state shares the messages that both have in common, and only the
  ///         messages after those are read.
  /// @errors `data_loss`.
  [[nodiscard]] state load(std::int64_t key, loaded* last = nullptr);

  /// Returns the log with which the last page of a list ended, so that the next
  /// page continues from it; empty if it has been forgotten.
  [[nodiscard]] loaded listed() const;
  void remember_listed(const loaded& x);

  /// Reads the id and the type of a state.
  /// @errors `data_loss`.
  [[nodiscard]] std::pair<state_id, stored_type> name_of(std::int64_t key);

  /// Result of the last verification. A state that extends the previous one
  /// costs only its additional messages. Nothing may be written while a
  /// verifier is used.
  struct verifier {
    place where;
    sha256 hash; ///< of the messages at `where`
    std::int64_t key = 0;
    std::optional<damage_kind> damaged; ///< result for `key`
    std::uint64_t bytes = 0;            ///< number of bytes hashed so far
  };

  struct verified {
    state_id id; ///< empty if the state itself is missing
    std::optional<damage_kind> damaged;
  };

  /// Verifies that a state exists and matches its id. It hashes the text in the
  /// file and does not parse the messages.
  [[nodiscard]] verified verify(std::int64_t key, verifier& last);

  /// Remembers the log of a session's working state and its place on disk.
  void remember(std::int64_t session, const ai::message_log& log,
                place position);

  /// Remembers the log of a working state that was just loaded.
  void remember(std::int64_t session, const state& x, std::int64_t key);

  /// Remembers the log of one session for another session, if the log is that
  /// of the given state.
  void remember_same(std::int64_t from, std::int64_t session, std::int64_t key);

  /// Returns whether the remembered log of a session shares as many messages
  /// with a log as a state has: a branch at that state need not read them.
  [[nodiscard]] bool remembers(std::int64_t session, const ai::message_log& log,
                               std::int64_t state);

  void forget(std::int64_t session);
  void forget_all();

  /// Erases a state that neither a record nor a session refers to, and
  /// everything that only this state needed. Does not change any other state.
  void release(std::int64_t key);

  /// Returns whether a record refers to this state.
  [[nodiscard]] bool has_records(std::int64_t key);

private:
  [[nodiscard]] place write(const ai::message_log& log, const origin& from);

  /// Returns the place of the longest beginning of a log that is already on
  /// disk.
  [[nodiscard]] place find(const ai::message_log& log, const origin& from);

  /// Makes room after a place by erasing the state that is about to be
  /// replaced, if only that state is in the way. Otherwise each change of the
  /// last message would create a branch.
  [[nodiscard]] bool make_room(place behind, const origin& from);

  /// Keys of the parts of a state.
  struct parts {
    std::int64_t branch = 0;
    std::int64_t custom = 0;
    std::int64_t artifacts = 0;
  };

  /// Erases the row of a state, but not its parts, and returns the parts.
  [[nodiscard]] std::optional<parts> erase_row(std::int64_t key);

  [[nodiscard]] std::optional<place> place_of(std::int64_t state);

  /// Returns the damage of the messages of a state, and continues the hash of
  /// `last` over them.
  [[nodiscard]] std::optional<damage_kind> verify(place x, verifier& last);

  [[nodiscard]] std::int64_t keep_blob(const std::string& text);
  void release_blob(std::int64_t key);

  sqlite_db& db_;
  sqlite_known_logs known_;
  sqlite_messages messages_;

  sqlite_statement find_{
    db_, "SELECT t.key, t.branch, t.length,"
         " t.id = ?1 AND t.checksum = " TERTULIA_STATE_CHECKSUM(
           "t") " FROM states t WHERE t.key = (SELECT key FROM states"
                " WHERE id = ?1 AND form = ?2 AND type_name = ?3"
                " AND type_version = ?4)"};
  sqlite_statement next_{db_,
                         TERTULIA_NEXT_KEY("SELECT max(key) FROM states",
                                           "SELECT max(state) FROM records",
                                           "SELECT max(state) FROM sessions")};
  sqlite_statement insert_{
    db_, "INSERT INTO states (key, id, form, branch, length, custom,"
         " artifacts, type_name, type_version, checksum)"
         " VALUES (" TERTULIA_NEW_STATE ","
         " row_checksum(" TERTULIA_NEW_STATE "))"};
  sqlite_statement read_{
    db_, "SELECT t.id, t.form, t.branch, t.length, t.custom, t.artifacts,"
         " t.type_name, t.type_version,"
         " t.checksum = " TERTULIA_STATE_CHECKSUM(
           "t") " FROM states t WHERE t.key = ?1"};
  sqlite_statement erase_{db_, "DELETE FROM states WHERE key = ?1"};
  sqlite_statement has_records_{
    db_, "SELECT 1 FROM records WHERE state = ?1 LIMIT 1"};
  sqlite_statement has_sessions_{
    db_, "SELECT 1 FROM sessions WHERE state = ?1 LIMIT 1"};
  sqlite_statement has_others_{
    db_, "SELECT 1 FROM sessions WHERE state = ?1 AND key <> ?2"
         " LIMIT 1"};
  sqlite_statement find_blob_{
    db_, "SELECT b.key, b.text, b.hash = ?1 FROM blobs b"
         " WHERE b.key = (SELECT key FROM blobs WHERE hash = ?1)"};
  sqlite_statement mend_blob_{db_, "UPDATE blobs SET text = ?2 WHERE key = ?1"};
  sqlite_statement next_blob_{
    db_, TERTULIA_NEXT_KEY(
           "SELECT max(key) FROM blobs",
           "SELECT max(custom) FROM states WHERE custom IS NOT NULL",
           "SELECT max(artifacts) FROM states WHERE artifacts IS NOT NULL")};
  sqlite_statement insert_blob_{
    db_, "INSERT INTO blobs (key, hash, text) VALUES (?1, ?2, ?3)"};
  sqlite_statement read_blob_{db_, "SELECT text FROM blobs WHERE key = ?1"};
  sqlite_statement erase_blob_{
    db_, "DELETE FROM blobs WHERE key = ?1"
         " AND NOT EXISTS (SELECT 1 FROM states WHERE custom = ?1)"
         " AND NOT EXISTS (SELECT 1 FROM states WHERE artifacts = ?1)"};
};

#undef TERTULIA_NEW_STATE

} // namespace tertulia
