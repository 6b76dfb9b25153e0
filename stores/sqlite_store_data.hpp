// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/sqlite_store.hpp>
#include <tertulia/store.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "file_hold.hpp"
#include "sqlite_db.hpp"
#include "sqlite_states.hpp"

namespace tertulia {

/// A store in a file, without its actor.
///
/// Each verb of the protocol is one function, which throws `status_error`. A
/// transaction is open around the verbs that change something.
///
/// @threads one at a time.
class sqlite_store_data {
public:
  /// Opens the file, or makes it.
  sqlite_store_data(const std::string& file, const sqlite_options& options);

  // -- transactions -----------------------------------------------------------

  [[nodiscard]] bool in_transaction() const noexcept {
    return db_.in_transaction();
  }

  /// Opens a transaction that may write.
  void begin();

  /// Makes all since `begin` durable, or takes it back and throws.
  void commit();

  /// Takes back all since `begin`.
  void roll_back() noexcept;

  /// Does one change as a whole or not at all. If it fails after it has written
  /// something, the transaction is over and all changes before it are gone,
  /// too: that is rare, and a savepoint around each change would cost those
  /// that do well a copy of every page they touch.
  template <class Fn>
  auto change(const Fn& fn) {
    const auto before = written();
    try {
      return fn(*this);
    } catch (const sqlite_error&) {
      roll_back(); // the statement may have been half done
      throw;
    } catch (...) {
      if (written() != before)
        roll_back();
      throw;
    }
  }

  // -- verbs ------------------------------------------------------------------

  saved_snapshot save(save_snapshot x);
  [[nodiscard]] stored_snapshot get(const get_snapshot& x);
  stored_snapshot restore(const restore_snapshot& x);
  [[nodiscard]] snapshot_page list(const list_snapshots& x);
  [[nodiscard]] stored_session get(const get_session& x);
  session_info save(save_session x);

  [[nodiscard]] session_page list(const list_sessions& x);
  snapshot_record label(const label_snapshot& x);
  erased erase(const delete_session& x);
  session_info copy(const copy_session& x);
  snapshot_record annotate(const annotate_snapshot& x);
  session_info title(const title_session& x);
  [[nodiscard]] verified_page verify(const verify_sessions& x);

  // Of these each has transactions of its own.

  /// @pre no transaction is open.
  erased prune(const prune_snapshots& x);

  /// @pre no transaction is open.
  vacuumed vacuum();

private:
  struct session {
    session_info info;
    std::int64_t key = 0;
    std::int64_t state = 0;
    std::uint64_t last_sequence = 0;
    /// Whether all of it is what was written.
    bool is_whole = true;
  };

  /// A record whose session says whether it is orphaned.
  struct entry {
    snapshot_record record;
    std::int64_t state = 0;
    std::uint64_t run = 0;
  };

  /// What a `snapshot_ref` stands for.
  struct found {
    session in;
    entry what;
  };

  /// Sequence numbers that belong to the way from the root to the head, both
  /// ends included.
  struct stretch {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
  };

  /// How many rows were ever changed.
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

  /// Throws if a record of the session is damaged or gone.
  void expect_all_records(const session& in);

  /// Throws if one on a way from the root is.
  void expect_way(const session& in, const std::vector<stretch>& way);

  [[nodiscard]] static bool
  is_whole_record(const sqlite_statement::cursor& row);
  [[nodiscard]] static std::optional<damage>
  damage_in(const session& in, const sqlite_statement::cursor& row);
  [[nodiscard]] entry read_entry(const session& in,
                                 const sqlite_statement::cursor& row);

  /// How far a list has been read, so that the next page goes on from there.
  struct listing {
    session of;
    /// Number of the last record on the page.
    std::uint64_t after = 0;
    /// The whole of it.
    std::vector<stretch> way;
  };

  /// Whether a page is the one behind that which was read last, of a session
  /// whose records are those that they were.
  [[nodiscard]] bool continues(const session& in, std::uint64_t after) const;

  /// Goes from the head to the root, the head first, down to `until` at least.
  [[nodiscard]] std::vector<stretch> active(const session& x,
                                            std::uint64_t until);
  [[nodiscard]] bool is_active(const session& x, std::uint64_t sequence);

  [[nodiscard]] session_position position_of(const std::optional<session>& x);

  /// What a session works on, which is in `x` afterwards. A session without a
  /// key is made.
  void work_on(session& x, const state& content, const state_id& id,
               std::int64_t base);

  void write(session& x);
  void write_labels(const session& in, const snapshot_record& x);

  /// What a record that was changed is now is what was written.
  void seal(const session& in, std::uint64_t sequence);

  /// Calls a function with each session that is asked for, be it damaged, until
  /// it returns false. Nothing may be written meanwhile.
  void for_each_session(const list_sessions& x,
                        const std::function<bool(session)>& fn);

  [[nodiscard]] bool has_labels(const session& in, std::uint64_t sequence);

  /// Prunes sessions, all at once if that goes well and else one by one, and
  /// adds what has come of it.
  void prune(const std::vector<session_ref>& names, const prune_snapshots& how,
             erased& to);
  void prune(session& x, const prune_snapshots& how, erased& to);

  /// Reads the state of a record that is listed.
  /// @returns the damage if there is any.
  std::optional<damage> load(const entry& what, state& to,
                             sqlite_states::loaded& last);

  /// One page of verification on its way.
  struct inspection {
    verified_page page;
    std::size_t left = 0;
    sqlite_states::verifier states;

    /// Whether there is room for one more; there is more to do if not.
    [[nodiscard]] bool take();
    void add(damage_kind kind, std::string what, state_id state = {});
  };

  /// Looks at pages and indexes, which no checksum of a row covers.
  void verify_file(inspection& to);
  void verify(inspection& to, const session& x);

  /// @returns whether all records behind a number have been looked at.
  bool verify_records(inspection& to, const session& x, std::uint64_t after);
  void verify_state(inspection& to, std::int64_t key);

  /// Erases states and says how many of them no record has.
  std::uint64_t release(const std::vector<std::int64_t>& states);

  file_hold hold_;
  sqlite_db db_;
  sqlite_states states_;
  listing listed_;

  sqlite_statement begin_;
  sqlite_statement commit_;
  sqlite_statement find_session_;
  sqlite_statement read_session_;
  sqlite_statement next_session_;
  sqlite_statement insert_session_;
  sqlite_statement update_session_;
  sqlite_statement erase_session_;
  sqlite_statement list_sessions_;
  sqlite_statement list_sessions_of_;
  sqlite_statement find_record_;
  sqlite_statement find_records_;
  sqlite_statement find_id_;
  sqlite_statement find_sessions_with_id_;
  sqlite_statement run_of_;
  sqlite_statement parent_of_;
  sqlite_statement insert_record_;
  sqlite_statement seal_record_;
  sqlite_statement seal_records_;
  sqlite_statement write_note_;
  sqlite_statement copy_records_;
  sqlite_statement copy_labels_;
  sqlite_statement count_records_;
  sqlite_statement count_whole_;
  sqlite_statement has_damaged_rows_;
  sqlite_statement verify_records_;
  sqlite_statement move_record_;
  sqlite_statement erase_record_;
  sqlite_statement erase_records_;
  sqlite_statement states_of_;
  sqlite_statement outline_;
  sqlite_statement has_record_;
  sqlite_statement find_damaged_;
  sqlite_statement labels_of_;
  sqlite_statement insert_label_;
  sqlite_statement erase_labels_;
};

} // namespace tertulia
