// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/sqlite_store.hpp>
#include <tertulia/store.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sqlite_states.hpp"
#include "sqlite_store_sql.hpp"

namespace tertulia {

/// Store in a file, without its actor.
///
/// Each verb of the protocol is one function, which throws `status_error`. A
/// transaction is open during the verbs that change something.
///
/// @threads one at a time.
class sqlite_store_data : sqlite_store_file {
public:
  /// Opens the file, or creates it.
  sqlite_store_data(const std::string& file, const sqlite_options& options)
    : sqlite_store_file(file, options),
      states_(db_, options.remembered_messages) {}

  // -- transactions -----------------------------------------------------------

  [[nodiscard]] bool in_transaction() const noexcept {
    return db_.in_transaction();
  }

  /// Begins a transaction that may write.
  void begin();

  /// Makes all changes since `begin` durable, or reverts them and throws.
  void commit();

  /// Reverts all changes since `begin`.
  void roll_back() noexcept;

  /// Executes one change completely or not at all. If it fails after it has
  /// written something, the transaction is rolled back, and all changes before
  /// it are lost, too. That is rare, and a savepoint around each change would
  /// cost successful changes a copy of every page that they touch.
  template <class Fn>
  auto change(const Fn& fn) {
    const auto before = written();
    try {
      return fn(*this);
    } catch (const sqlite_error&) {
      roll_back(); // the statement may be half done
      throw;
    } catch (...) {
      if (written() != before)
        roll_back();
      throw;
    }
  }

  // -- verbs ------------------------------------------------------------------

  save_result answer(save_snapshot_request x);
  [[nodiscard]] stored_snapshot answer(const get_snapshot_request& x);
  stored_snapshot answer(const restore_snapshot_request& x);
  [[nodiscard]] snapshot_page answer(const list_snapshots_request& x);
  [[nodiscard]] stored_session answer(const get_session_request& x);
  session_info answer(save_session_request x);

  [[nodiscard]] session_page answer(const list_sessions_request& x);
  snapshot_record answer(const label_snapshot_request& x);
  erase_result answer(const delete_session_request& x);
  session_info answer(const copy_session_request& x);
  snapshot_record answer(const annotate_snapshot_request& x);
  session_info answer(const title_session_request& x);
  [[nodiscard]] verification_page answer(const verify_sessions_request& x);

  // Each of the following verbs has its own transactions.

  /// @pre no transaction is open.
  erase_result answer(const prune_snapshots_request& x);

  /// @pre no transaction is open.
  vacuum_result answer(const vacuum_store_request& x);

private:
  struct session {
    session_info info;
    std::int64_t key = 0;
    std::int64_t state = 0;
    std::uint64_t last_sequence = 0;
    std::int64_t updated_hour = 0;
    /// Whether the row of the session is undamaged.
    bool is_whole = true;
  };

  /// Record without `orphaned`, which depends on its session.
  struct entry {
    snapshot_record record;
    std::int64_t state = 0;
    std::uint64_t run = 0;
  };

  /// Session and record that a `snapshot_ref` refers to.
  struct found {
    session in;
    entry what;
  };

  /// Range of sequence numbers on the path from the root to the head, both ends
  /// included.
  struct stretch {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
  };

  /// Returns the total number of rows that the connection has changed.
  [[nodiscard]] std::int64_t written() const noexcept;

  [[nodiscard]] static session
  read_session(const sqlite_statement::cursor& row);
  /// Finds a session even if it is damaged.
  [[nodiscard]] std::optional<session> find_any(const session_ref& x);
  [[nodiscard]] std::optional<session> find(const session_ref& x);
  [[nodiscard]] std::optional<entry> find(const session& in,
                                          std::uint64_t sequence);
  [[nodiscard]] std::optional<entry> find(const session& in,
                                          const snapshot_id& id);
  [[nodiscard]] found find(const snapshot_ref& x);

  /// Throws if a record of the session is damaged or missing.
  void expect_all_records(const session& in);

  /// Throws if a record on a path from the root is damaged or missing.
  void expect_way(const session& in, const std::vector<stretch>& way);

  [[nodiscard]] static bool
  is_whole_record(const sqlite_statement::cursor& row);
  [[nodiscard]] static std::optional<damage>
  damage_in(const session& in, const sqlite_statement::cursor& row);
  [[nodiscard]] entry read_entry(const session& in,
                                 const sqlite_statement::cursor& row);

  /// Progress of a list, from which the next page continues.
  struct listing {
    session in;
    /// Sequence number of the last record on the page.
    std::uint64_t after = 0;
    /// Complete path from the root to the head.
    std::vector<stretch> way;
  };

  /// Returns whether a page follows the one that was read last, of a session
  /// whose records have not changed since.
  [[nodiscard]] bool continues(const session& in, std::uint64_t after) const;

  /// Returns the path from the head to the root, the head first, at least down
  /// to `until`.
  [[nodiscard]] std::vector<stretch> active(const session& x,
                                            std::uint64_t until);
  [[nodiscard]] bool is_active(const session& x, std::uint64_t sequence);

  [[nodiscard]] session_position position_of(const std::optional<session>& x);

  /// Writes the working state of a session, and updates `x` accordingly.
  /// Creates a session that does not have a key.
  void work_on(session& x, const state& content, const state_id& id,
               std::int64_t base);

  void write(session& x);
  void write_labels(const session& in, const snapshot_record& x);

  /// Updates the checksum of a record that was changed.
  void seal(const session& in, std::uint64_t sequence);

  /// Calls a function with each requested session, damaged or not, until it
  /// returns false. Nothing may be written meanwhile.
  void for_each_session(const list_sessions_request& x,
                        const std::function<bool(session)>& fn);

  /// Returns all requested sessions, ordered by name, if a filter selects few
  /// enough to look at each of them for every page; nothing otherwise.
  [[nodiscard]] std::optional<std::vector<session>>
  find_few(const list_sessions_request& x);

  [[nodiscard]] bool has_labels(const session& in, std::uint64_t sequence);

  /// Prunes sessions, all in one transaction or, if that fails, one by one, and
  /// adds the result to `to`.
  void prune(const std::vector<session_ref>& names,
             const prune_snapshots_request& request, erase_result& to);
  void prune(session& x, const prune_snapshots_request& request,
             erase_result& to);

  /// Reads the state of a listed record.
  /// @returns the damage, if any.
  std::optional<damage> load(const entry& what, state& to,
                             sqlite_states::loaded& last);

  /// Page of verification in progress.
  struct inspection {
    verification_page page;
    std::size_t left = 0;
    sqlite_states::verifier states;

    /// Takes room for one more item on the page and returns whether there was
    /// any. Sets `more` if not.
    [[nodiscard]] bool take();
    void add(damage_kind kind, std::string what, state_id state = {});
  };

  /// Verifies pages and indexes, which are not covered by checksums of rows.
  void verify_file(inspection& to);
  void verify(inspection& to, const session& x);

  /// @returns whether all records after a number have been verified.
  bool verify_records(inspection& to, const session& x, std::uint64_t after);
  void verify_state(inspection& to, std::int64_t key);

  /// Releases states and returns how many of them no record refers to.
  std::uint64_t release(const std::vector<std::int64_t>& states);

  sqlite_states states_;
  listing listed_;
};

} // namespace tertulia
