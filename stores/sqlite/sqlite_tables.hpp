// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/content_tables.hpp>
#include <tertulia/sqlite_store.hpp>
#include <tertulia/store_tables.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "file_hold.hpp"
#include "open_sqlite.hpp"
#include "sqlite_columns.hpp"
#include "sqlite_db.hpp"

namespace tertulia {

/// Tables of a store in a file. See docs/sqlite-format.md.
///
/// An index is used only to locate a row. The values of the row are read from
/// the table and compared with those that were searched for. Otherwise a
/// flipped bit in an index would lead to a different row.
///
/// @threads one at a time.
class sqlite_tables final : public store_tables, public content_tables {
public:
  /// Opens the file, or creates it.
  sqlite_tables(const std::string& file, const sqlite_options& options);

  [[nodiscard]] store_contents& contents() noexcept override {
    return *contents_;
  }

  // -- transactions -----------------------------------------------------------

  [[nodiscard]] bool has_transactions() const noexcept override {
    return true;
  }

  void begin() override;
  void commit() override;
  void roll_back() noexcept override;
  [[nodiscard]] bool in_transaction() const noexcept override;
  [[nodiscard]] std::int64_t written() const noexcept override;

  // -- sessions ---------------------------------------------------------------

  [[nodiscard]] std::optional<session_row>
  find_session(const session_ref& name) override;
  [[nodiscard]] std::optional<session_row>
  find_session(std::int64_t key) override;
  void for_each_session(const session_ref& after,
                        const std::function<bool(session_row)>& fn) override;
  void list_sessions(const list_sessions_request& wanted,
                     const std::function<bool(session_row)>& fn) override;
  [[nodiscard]] std::vector<session_row>
  sessions_with(const std::string& agent, const snapshot_id& id,
                std::size_t limit) override;
  [[nodiscard]] std::int64_t add(const session_ref& name) override;
  void write(const session_row& x) override;
  void erase(const session_row& x) override;

  // -- leases -----------------------------------------------------------------

  [[nodiscard]] std::uint64_t add_lease(const session_ref& name) override;
  [[nodiscard]] std::uint64_t fence_of(const session_ref& name) override;
  void erase_lease(const session_ref& name) override;

  // -- runs -------------------------------------------------------------------

  void write(const stored_run& x) override;
  [[nodiscard]] std::optional<stored_run> find_run(const run_id& id) override;
  void list_runs(const list_runs_request& wanted, const stored_run* after,
                 const std::function<bool(stored_run)>& fn) override;
  void erase_runs(const std::string& agent, timestamp before,
                  timestamp now) override;

  // -- records ----------------------------------------------------------------

  void for_each_record(std::int64_t session, std::uint64_t first,
                       std::uint64_t last,
                       const std::function<bool(record_row)>& fn) override;
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t>
  count_records(std::int64_t session) override;
  [[nodiscard]] std::vector<std::uint64_t>
  records_with(std::int64_t session, const snapshot_id& id) override;
  [[nodiscard]] bool has_state(const content_row& x) override;
  void write(const record_row& x) override;
  void erase(const record_row& x) override;

  // -- branches, messages and values ------------------------------------------

  [[nodiscard]] std::optional<branch_row>
  find_branch(std::int64_t key) override;
  [[nodiscard]] std::vector<branch_row>
  branches_of(std::int64_t owner) override;
  [[nodiscard]] std::int64_t add(const branch_row& x) override;
  void erase(const branch_row& x) override;

  void for_each_message(
    std::int64_t branch, std::uint64_t first, std::uint64_t last,
    const std::function<bool(std::uint64_t, std::string_view)>& fn) override;
  [[nodiscard]] std::uint64_t end_of(std::int64_t branch) override;
  void write_message(std::int64_t branch, std::uint64_t position,
                     std::string_view text) override;
  void erase_messages(std::int64_t branch, std::uint64_t first) override;

  [[nodiscard]] std::optional<value_row> find_value(std::int64_t key) override;
  [[nodiscard]] std::vector<std::int64_t>
  values_of(std::int64_t owner) override;
  [[nodiscard]] std::int64_t add(std::int64_t owner,
                                 const value_row& x) override;
  void mend(std::int64_t key, const std::string& text) override;
  void erase_value(std::int64_t key) override;

  [[nodiscard]] std::int64_t owner_of(std::int64_t item) override;
  [[nodiscard]] std::vector<share_row> shares_of(std::int64_t session) override;
  [[nodiscard]] std::uint64_t shared_length(std::int64_t item) override;
  void write(const share_row& x) override;
  void erase(const share_row& x) override;

  // -- the whole --------------------------------------------------------------

  vacuum_result vacuum() override;
  void verify(const std::function<void(std::string)>& add) override;
  void expect_in_place() const override;

private:
  /// Reads a session whose first column is at a column of the cursor. The
  /// checksum and the hour of the last change follow.
  [[nodiscard]] static session_row
  read_session(const sqlite_statement::cursor& row, int column);

  [[nodiscard]] record_row read_record(const sqlite_statement::cursor& row);

  [[nodiscard]] std::vector<std::string> labels_of(std::int64_t session,
                                                   std::uint64_t sequence);

  /// Returns all requested sessions, ordered by name, if a filter selects few
  /// enough to look at each of them for every page; nothing otherwise.
  [[nodiscard]] std::optional<std::vector<session_row>>
  find_few(const list_sessions_request& x);

  [[nodiscard]] bool has_damaged_rows();

  file_hold hold_;
  sqlite_db db_;
  std::shared_ptr<store_contents> contents_;

  sqlite_statement begin_{db_, "BEGIN IMMEDIATE"};
  sqlite_statement commit_{db_, "COMMIT"};

  sqlite_statement find_session_;
  sqlite_statement read_session_;
  sqlite_statement add_session_{
    db_, "INSERT INTO sessions (agent, id) VALUES (?1, ?2)"};
  sqlite_statement write_session_;
  sqlite_statement write_hour_{
    db_, "UPDATE sessions SET updated_hour = ?2 WHERE key = ?1"
         " AND updated_hour <> ?2"};
  sqlite_statement erase_session_{db_, "DELETE FROM sessions WHERE key = ?1"};
  sqlite_statement list_sessions_;
  sqlite_statement list_sessions_of_;
  sqlite_statement list_latest_sessions_of_;
  sqlite_statement labelled_sessions_{db_, "SELECT DISTINCT session FROM labels"
                                           " WHERE label = ?1 LIMIT ?2"};
  sqlite_statement recent_sessions_{
    db_, "SELECT key FROM sessions WHERE updated_hour >= ?1 LIMIT ?2"};
  sqlite_statement has_label_{
    db_, "SELECT 1 FROM labels WHERE label = ?1 AND session = ?2 LIMIT 1"};
  sqlite_statement sessions_with_id_{
    db_, "SELECT DISTINCT s.key FROM ("
         "SELECT session FROM records WHERE own_id = ?2 AND own_id <> ''"
         " UNION SELECT session FROM records WHERE state = ?3 AND own_id = ''"
         ") x JOIN sessions s ON s.key = x.session"
         " WHERE s.agent = ?1 ORDER BY s.key LIMIT ?4"};

  sqlite_statement add_lease_{
    db_, "INSERT OR REPLACE INTO leases (agent, id) VALUES (?1, ?2)"};
  sqlite_statement find_lease_{
    db_, "SELECT fence FROM leases WHERE agent = ?1 AND id = ?2"};
  sqlite_statement erase_lease_{
    db_, "DELETE FROM leases WHERE agent = ?1 AND id = ?2"};

  sqlite_statement write_run_;
  sqlite_statement find_run_;
  sqlite_statement runs_of_session_;
  sqlite_statement runs_of_caller_;
  sqlite_statement list_runs_;
  // The last place is the number of heartbeats that a run may miss.
  sqlite_statement erase_ended_runs_{
    db_, "DELETE FROM runs WHERE agent = ?1 AND ended_at > 0"
         " AND ended_at < ?2 AND ended_at < ?3 - beat * ?4"};
  sqlite_statement erase_lost_runs_{
    db_, "DELETE FROM runs WHERE agent = ?1 AND ended_at = 0 AND beat > 0"
         " AND beat_at < ?2 AND beat_at < ?3 - beat * ?4"};

  sqlite_statement find_record_;
  sqlite_statement find_records_;
  sqlite_statement find_state_;
  sqlite_statement write_record_;
  sqlite_statement erase_record_{
    db_, "DELETE FROM records WHERE session = ?1 AND sequence = ?2"};
  sqlite_statement erase_records_{db_,
                                  "DELETE FROM records WHERE session = ?1"};
  sqlite_statement count_records_{db_,
                                  "SELECT count(*), max(sequence) FROM records"
                                  " WHERE session = ?1"};
  sqlite_statement records_with_id_{
    db_, "SELECT sequence FROM records"
         " WHERE own_id = ?2 AND own_id <> '' AND session = ?1 UNION"
         " SELECT sequence FROM records"
         " WHERE state = ?3 AND session = ?1 AND own_id = ''"
         " ORDER BY 1 DESC"};
  sqlite_statement labels_of_{db_, "SELECT label FROM labels WHERE session = ?1"
                                   " AND sequence = ?2 ORDER BY label"};
  sqlite_statement add_label_{db_,
                              "INSERT INTO labels (session, sequence, label)"
                              " VALUES (?1, ?2, ?3)"};
  sqlite_statement erase_labels_{db_, "DELETE FROM labels WHERE session = ?1"
                                      " AND sequence = ?2"};

  sqlite_statement find_branch_{
    db_, "SELECT key, owner, parent, start FROM branches WHERE key = ?1"};
  sqlite_statement branches_of_{db_,
                                "SELECT key FROM branches WHERE owner = ?1"};
  sqlite_statement add_branch_{
    db_, "INSERT INTO branches (owner, parent, start) VALUES (?1, ?2, ?3)"};
  sqlite_statement erase_branch_{db_, "DELETE FROM branches WHERE key = ?1"};

  sqlite_statement read_messages_{db_,
                                  "SELECT key, text FROM messages"
                                  " WHERE key BETWEEN ?1 AND ?2 ORDER BY key"};
  sqlite_statement last_message_{
    db_, "SELECT max(key) FROM messages WHERE key BETWEEN ?1 AND ?2"};
  sqlite_statement write_message_{
    db_, "INSERT INTO messages (key, text) VALUES (?1, ?2)"};
  sqlite_statement erase_messages_{
    db_, "DELETE FROM messages WHERE key BETWEEN ?1 AND ?2"};

  sqlite_statement find_value_{db_,
                               "SELECT text, hash FROM blobs WHERE key = ?1"};
  sqlite_statement values_of_{
    db_, "SELECT key FROM blobs WHERE key BETWEEN ?1 AND ?2"};
  sqlite_statement next_value_{
    db_, "SELECT max(key) + 1 FROM blobs WHERE key BETWEEN ?1 AND ?2"};
  sqlite_statement add_value_{
    db_, "INSERT INTO blobs (key, hash, text) VALUES (?1, ?2, ?3)"};
  sqlite_statement mend_value_{db_,
                               "UPDATE blobs SET text = ?2 WHERE key = ?1"};
  sqlite_statement erase_value_{db_, "DELETE FROM blobs WHERE key = ?1"};

  sqlite_statement shares_of_{db_, "SELECT item, session, length FROM shares"
                                   " WHERE session = ?1"};
  sqlite_statement shared_length_{
    db_, "SELECT max(length) FROM shares WHERE item = ?1"};
  sqlite_statement write_share_{
    db_, "INSERT INTO shares (item, session, length) VALUES (?1, ?2, ?3)"};
  sqlite_statement erase_share_{db_, "DELETE FROM shares WHERE item = ?1"
                                     " AND session = ?2 AND length = ?3"};
};

} // namespace tertulia
