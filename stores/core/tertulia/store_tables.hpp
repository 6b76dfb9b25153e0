// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/make_contents.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store/names.hpp>
#include <tertulia/store/runs.hpp>
#include <tertulia/store/sessions.hpp>
#include <tertulia/store/upkeep.hpp>
#include <tertulia/store_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tertulia {

/// Error of an engine after which a write may be half done, so that the
/// transaction has to be rolled back.
///
/// @threads a value.
class engine_error : public status_error {
public:
  using status_error::status_error;
};

/// Tables of sessions and records, over the engine of one store. All requests
/// of the protocol are executed with these operations, see `spawn_store`.
///
/// A row that the engine can read but that is not as it was written is returned
/// with `is_whole` unset. An index is used only to locate rows: the caller
/// compares what it finds.
///
/// @errors  all functions throw `status_error`: `data_loss` for data that the
///          engine cannot read, and the codes of its other failures.
/// @threads one at a time.
/// @design  docs/stores.md#rows.
class store_tables {
public:
  store_tables() = default;
  store_tables(const store_tables&) = delete;
  store_tables& operator=(const store_tables&) = delete;
  virtual ~store_tables() = default;

  /// Returns the states of these tables.
  [[nodiscard]] virtual store_contents& contents() noexcept = 0;

  // -- transactions -----------------------------------------------------------

  /// Returns whether the engine has transactions. Without them each request is
  /// done as soon as it is executed: it checks everything before it writes.
  [[nodiscard]] virtual bool has_transactions() const noexcept {
    return false;
  }

  /// Begins a transaction that may write.
  virtual void begin() {}

  /// Makes all changes since `begin` durable, or reverts them and throws.
  virtual void commit() {}

  /// Reverts all changes since `begin`.
  virtual void roll_back() noexcept {}

  /// Returns whether a transaction is open: an error may have ended it.
  [[nodiscard]] virtual bool in_transaction() const noexcept {
    return false;
  }

  /// Returns a number that every write increases.
  [[nodiscard]] virtual std::int64_t written() const noexcept {
    return 0;
  }

  // -- sessions ---------------------------------------------------------------

  [[nodiscard]] virtual std::optional<session_row>
  find_session(const session_ref& name) = 0;
  [[nodiscard]] virtual std::optional<session_row>
  find_session(std::int64_t key) = 0;

  /// Calls a function with each session after a name, in the order of the
  /// names, until it returns false. Records may be read meanwhile, but nothing
  /// may be written.
  virtual void for_each_session(const session_ref& after,
                                const std::function<bool(session_row)>& fn)
    = 0;

  /// Adds a session, whose other columns are written later.
  /// @returns its key, which is greater than that of any session there ever
  ///          was.
  [[nodiscard]] virtual std::int64_t add(const session_ref& name) = 0;

  virtual void write(const session_row& x) = 0;

  /// Erases a session with all its records.
  virtual void erase(const session_row& x) = 0;

  // -- records ----------------------------------------------------------------

  /// Calls a function with each record in a range of numbers, in order, until
  /// it returns false. Single records may be read meanwhile.
  virtual void for_each_record(std::int64_t session, std::uint64_t first,
                               std::uint64_t last,
                               const std::function<bool(record_row)>& fn)
    = 0;

  /// Writes a record, a new one or in place of the one of the same number. Only
  /// its parent, its labels and its note change.
  virtual void write(const record_row& x) = 0;

  virtual void erase(const record_row& x) = 0;

  // -- leases -----------------------------------------------------------------

  // These keep leases in memory. An engine whose data outlives its process
  // overrides them; otherwise a run that outlives that process is ended by its
  // next change.

  /// Gives a session, which need not exist, a lease in place of the one that it
  /// has.
  /// @returns its fence, which is greater than any before.
  [[nodiscard]] virtual std::uint64_t add_lease(const session_ref& name);

  /// Returns the fence of the lease of a session; 0 without a lease.
  [[nodiscard]] virtual std::uint64_t fence_of(const session_ref& name);

  virtual void erase_lease(const session_ref& name);

  // -- runs -------------------------------------------------------------------

  // These keep runs in memory, in which an engine without files keeps all else,
  // too. Other engines override them.

  /// Writes a run, a new one or in place of the one of the same id.
  virtual void write(const stored_run& x);

  [[nodiscard]] virtual std::optional<stored_run> find_run(const run_id& id);

  /// Calls a function with each run that a list asks for, from the last begin
  /// to the first, until it returns false. Nothing may be written meanwhile.
  /// @param wanted its agent, session and caller choose.
  /// @param after  run after which it begins; null for all.
  virtual void list_runs(const list_runs_request& wanted,
                         const stored_run* after,
                         const std::function<bool(stored_run)>& fn);

  /// Erases the runs of an agent whose end, or whose last heartbeat, is before
  /// a time and older than the heartbeats that a run may miss.
  virtual void erase_runs(const std::string& agent, timestamp before,
                          timestamp now);

  // -- lookups ----------------------------------------------------------------

  // These go through all rows. An engine with an index overrides them.

  /// Calls a function with each session that a list asks for, in its order and
  /// without its limit, until the function returns false. Nothing may be
  /// written meanwhile.
  virtual void list_sessions(const list_sessions_request& wanted,
                             const std::function<bool(session_row)>& fn);

  /// Returns whether a record of a session has a label.
  [[nodiscard]] virtual bool has_label(std::int64_t session,
                                       const std::string& label);

  /// Returns sessions of an agent that have a record with this id.
  /// @param limit maximum number of sessions.
  [[nodiscard]] virtual std::vector<session_row>
  sessions_with(const std::string& agent, const snapshot_id& id,
                std::size_t limit);

  /// Returns the numbers of the records of a session that have this id, the
  /// greatest first.
  [[nodiscard]] virtual std::vector<std::uint64_t>
  records_with(std::int64_t session, const snapshot_id& id);

  /// Returns whether an undamaged record of any session has the same state.
  [[nodiscard]] virtual bool has_state(const content_row& x);

  /// Returns the number of records of a session, damaged or not, and the
  /// greatest of their numbers.
  [[nodiscard]] virtual std::pair<std::uint64_t, std::uint64_t>
  count_records(std::int64_t session);

  /// Returns the number of undamaged records of a session.
  [[nodiscard]] virtual std::uint64_t count_whole_records(std::int64_t session);

  // -- the whole --------------------------------------------------------------

  /// Executes `vacuum_store_request`. No transaction is open.
  virtual vacuum_result vacuum() {
    return {};
  }

  /// Verifies what no row covers, such as pages and indexes, and calls a
  /// function with a description of each damage.
  virtual void verify(const std::function<void(std::string)>&) {}

  /// Throws `data_loss` if changes would be lost because the data is no longer
  /// where it was.
  virtual void expect_in_place() const {}

protected:
  /// Returns a fence that is greater than any before, also those of an earlier
  /// process.
  [[nodiscard]] std::uint64_t next_fence();

private:
  /// Agent, session, begin and id of a run: those of a session are neighbours.
  using run_place = std::tuple<std::string, session_id, timestamp, run_id>;

  static run_place place_of(const stored_run& x);

  std::map<session_ref, std::uint64_t> fences_;
  std::uint64_t last_fence_ = 0;
  std::map<run_id, stored_run> runs_;
  std::set<run_place> run_places_; // of all of them
  // For each agent, a time that no run of it has ended or beaten before.
  std::map<std::string, timestamp> run_bounds_;
};

} // namespace tertulia
