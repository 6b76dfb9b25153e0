// SPDX-License-Identifier: BSD-3-Clause

#include "sqlite_tables.hpp"

#include <tertulia/status.hpp>

#include <algorithm>

#include "file_hold.hpp"
#include "size_limit.hpp"

namespace tertulia {

namespace {

/// Names of the columns of a session, and those that are derived from them.
std::vector<std::string> session_columns() {
  auto result = columns::names_of<session_row>();
  result.insert(result.end(), {"checksum", "updated_hour"});
  return result;
}

std::vector<std::string> record_columns() {
  auto result = columns::names_of<record_row>();
  result.emplace_back("checksum");
  return result;
}

std::string one_session(const char* which) {
  return "SELECT " + columns::list_of(session_columns())
         + " FROM sessions WHERE key = " + which;
}

/// Returns a query for many sessions, with their names in the index.
std::string many_sessions(const char* which) {
  return "SELECT i.agent, i.id, " + columns::list_of(session_columns(), "s.")
         + " FROM sessions i LEFT JOIN sessions s ON s.key = i.key"
           " WHERE (s.key IS NULL OR (s.updated_at >= ?3"
           " AND (?4 = '' OR EXISTS (SELECT 1 FROM labels l"
           " WHERE l.session = s.key AND l.label = ?4)))) AND "
         + which;
}

/// Returns the statement that updates a session. Columns with an index are left
/// out, because each of them would cost a page.
std::string update_session() {
  const auto names = columns::names_of<session_row>();
  std::string set;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] != "key" && names[i] != "agent" && names[i] != "id")
      set += names[i] + " = ?" + std::to_string(i + 1) + ", ";
  return "UPDATE sessions SET " + set + "checksum = ?"
         + std::to_string(names.size() + 1) + " WHERE key = ?1";
}

std::string query_for_records(const char* which) {
  return "SELECT " + columns::list_of(record_columns()) + " FROM records WHERE "
         + which;
}

/// Returns the statement that writes a record. Only its parent, its note and
/// its labels change.
std::string upsert_record() {
  const auto names = record_columns();
  return "INSERT INTO records (" + columns::list_of(names) + ") VALUES ("
         + columns::places_for(names.size())
         + ") ON CONFLICT (session, sequence) DO UPDATE SET"
           " parent = excluded.parent, note = excluded.note,"
           " checksum = excluded.checksum";
}

} // namespace

sqlite_tables::sqlite_tables(const std::string& file,
                             const sqlite_options& options)
  : hold_(file, options.patience), db_(open_sqlite(hold_, options)),
    contents_(make_written_contents(*this, options.remembered_messages)),
    find_session_(
      db_,
      one_session("(SELECT key FROM sessions WHERE agent = ?1 AND id = ?2)")),
    read_session_(db_, one_session("?1")),
    write_session_(db_, update_session()),
    list_sessions_(db_, many_sessions("(i.agent, i.id) > (?1, ?2)"
                                      " ORDER BY i.agent, i.id")),
    list_sessions_of_(
      db_, many_sessions("i.agent = ?1 AND i.id > ?2 ORDER BY i.id")),
    // A plus sign keeps SQLite from choosing the index of the ids.
    list_latest_sessions_of_(db_, many_sessions(
                                    "i.agent = ?1 AND +i.id > ?2 ORDER BY"
                                    " i.updated_hour DESC, i.updated_at DESC,"
                                    " i.id DESC")),
    write_run_(db_, "INSERT OR REPLACE INTO runs VALUES ("
                      + columns::places_for(12) + ')'),
    find_run_(db_, "SELECT * FROM runs WHERE id = ?1"),
    runs_of_session_(db_, "SELECT * FROM runs WHERE agent = ?1 AND session = ?2"
                          " AND (began_at, id) < (?3, ?4)"
                          " ORDER BY began_at DESC, id DESC"),
    runs_of_caller_(db_, "SELECT * FROM runs WHERE agent = ?1"
                         " AND substr(session, 1, instr(session, '/'))"
                         " = ?2 || '/' AND (began_at, id) < (?3, ?4)"
                         " ORDER BY began_at DESC, id DESC"),
    list_runs_(db_, "SELECT * FROM runs WHERE (?1 = '' OR agent = ?1)"
                    " AND (?2 = '' OR session = ?2)"
                    " AND (began_at, id) < (?3, ?4)"
                    " ORDER BY began_at DESC, id DESC"),
    find_record_(db_, query_for_records("session = ?1 AND sequence = ?2")),
    find_records_(db_,
                  query_for_records("session = ?1 AND sequence BETWEEN ?2 AND"
                                    " ?3 ORDER BY sequence")),
    find_state_(db_, query_for_records("state = ?1")),
    write_record_(db_, upsert_record()) {}

// -- transactions -------------------------------------------------------------

void sqlite_tables::begin() {
  // The thread that writes belongs to the store alone.
  thread_local const size_limit_is_an_error guard;
  begin_.run();
}

void sqlite_tables::commit() {
  commit_.run();
}

void sqlite_tables::roll_back() noexcept {
  if (in_transaction())
    sqlite3_exec(db_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

bool sqlite_tables::in_transaction() const noexcept {
  return db_.in_transaction();
}

std::int64_t sqlite_tables::written() const noexcept {
  return sqlite3_total_changes64(db_.get());
}

void sqlite_tables::expect_in_place() const {
  hold_.expect_in_place();
}

// -- records ------------------------------------------------------------------

std::vector<std::string> sqlite_tables::labels_of(std::int64_t session,
                                                  std::uint64_t sequence) {
  std::vector<std::string> result;
  auto rows = labels_of_.bind_all(session, sequence).rows();
  while (rows.next())
    result.push_back(rows.text(0));
  return result;
}

record_row sqlite_tables::read_record(const sqlite_statement::cursor& row) {
  static const auto checksum = static_cast<int>(record_columns().size()) - 1;
  record_row result;
  const auto is_valid = columns::read(result, row, 0);
  result.labels = labels_of(result.session, result.sequence);
  result.is_whole = is_valid && row.number(checksum) == checksum_of(result);
  return result;
}

void sqlite_tables::for_each_record(std::int64_t session, std::uint64_t first,
                                    std::uint64_t last,
                                    const std::function<bool(record_row)>& fn) {
  if (first == last) { // may be read while a range is
    std::optional<record_row> found;
    if (auto rows = find_record_.bind_all(session, first).rows(); rows.next())
      found = read_record(rows);
    if (found)
      fn(std::move(*found));
    return;
  }
  auto rows = find_records_.bind_all(session, first, last).rows();
  while (rows.next())
    if (!fn(read_record(rows)))
      return;
}

std::pair<std::uint64_t, std::uint64_t>
sqlite_tables::count_records(std::int64_t session) {
  auto rows = count_records_.bind(1, session).rows();
  if (!rows.next())
    return {};
  return {rows.count(0), rows.count(1)};
}

std::vector<std::uint64_t> sqlite_tables::records_with(std::int64_t session,
                                                       const snapshot_id& id) {
  std::vector<std::uint64_t> result;
  const auto state = columns::bytes_of_hex(id.str());
  auto rows = records_with_id_.bind(1, session)
                .bind(2, id.str())
                .bind_blob(3, state)
                .rows();
  while (rows.next())
    result.push_back(rows.count(0));
  return result;
}

bool sqlite_tables::has_state(const content_row& x) {
  const auto state = columns::bytes_of_hex(x.id.str());
  auto rows = find_state_.bind_blob(1, state).rows();
  while (rows.next())
    if (const auto found = read_record(rows);
        found.is_whole && found.content.is_same_state(x))
      return true;
  return false;
}

void sqlite_tables::write(const record_row& x) {
  columns::binding values{write_record_};
  values.bind(x);
  write_record_.run();
  if (labels_of(x.session, x.sequence) == x.labels)
    return;
  erase_labels_.bind_all(x.session, x.sequence).run();
  for (const auto& label : x.labels)
    add_label_.bind_all(x.session, x.sequence, label).run();
}

void sqlite_tables::erase(const record_row& x) {
  erase_record_.bind_all(x.session, x.sequence).run();
}

// -- branches -----------------------------------------------------------------

namespace {

branch_row read_branch(const sqlite_statement::cursor& row) {
  return {row.number(0), row.number(1), row.number(2), row.count(3)};
}

constexpr std::int64_t max_branch = (std::int64_t{1} << 31) - 1;

} // namespace

std::optional<branch_row> sqlite_tables::find_branch(std::int64_t key) {
  auto rows = find_branch_.bind(1, key).rows();
  if (!rows.next())
    return std::nullopt;
  return read_branch(rows);
}

std::vector<branch_row> sqlite_tables::branches_of(std::int64_t owner) {
  std::vector<branch_row> result;
  auto rows = branches_of_.bind(1, owner).rows();
  while (rows.next())
    if (const auto found = find_branch(rows.number(0));
        found && found->owner == owner) // else the index contradicts the row
      result.push_back(*found);
  return result;
}

std::int64_t sqlite_tables::add(const branch_row& x) {
  add_branch_.bind_all(x.owner, x.parent, x.start).run();
  const auto result = db_.last_key();
  if (result > max_branch)
    reject_file(errc::resource_exhausted, db_.file(), "has too many branches");
  return result;
}

void sqlite_tables::erase(const branch_row& x) {
  erase_branch_.bind(1, x.key).run();
}

// -- messages -----------------------------------------------------------------

namespace {

/// Key of a message or a value: the branch or the session to which it belongs
/// in the upper bits, its number there in the lower bits.
constexpr int number_bits = 32;
constexpr std::int64_t max_number = (std::int64_t{1} << number_bits) - 1;

std::int64_t key_of(std::int64_t owner, std::uint64_t number) {
  const auto last = static_cast<std::uint64_t>(max_number);
  return (owner << number_bits)
         + static_cast<std::int64_t>(std::min(number, last));
}

} // namespace

void sqlite_tables::for_each_message(
  std::int64_t branch, std::uint64_t first, std::uint64_t last,
  const std::function<bool(std::uint64_t, std::string_view)>& fn) {
  auto rows
    = read_messages_.bind_all(key_of(branch, first), key_of(branch, last))
        .rows();
  while (rows.next())
    if (!fn(rows.count(0) & static_cast<std::uint64_t>(max_number),
            rows.view(1)))
      return;
}

std::uint64_t sqlite_tables::end_of(std::int64_t branch) {
  auto rows
    = last_message_.bind_all(key_of(branch, 0), key_of(branch, max_number))
        .rows();
  if (rows.next() && !rows.is_null(0))
    return (rows.count(0) & static_cast<std::uint64_t>(max_number)) + 1;
  return 0;
}

void sqlite_tables::write_message(std::int64_t branch, std::uint64_t position,
                                  std::string_view text) {
  write_message_.bind_all(key_of(branch, position), text).run();
}

void sqlite_tables::erase_messages(std::int64_t branch, std::uint64_t first) {
  erase_messages_.bind_all(key_of(branch, first), key_of(branch, max_number))
    .run();
}

// -- values -------------------------------------------------------------------

std::optional<content_tables::value_row>
sqlite_tables::find_value(std::int64_t key) {
  auto rows = find_value_.bind(1, key).rows();
  if (!rows.next())
    return std::nullopt;
  return value_row{rows.text(0), rows.text(1)};
}

std::vector<std::int64_t> sqlite_tables::values_of(std::int64_t owner) {
  std::vector<std::int64_t> result;
  auto rows
    = values_of_.bind_all(key_of(owner, 0), key_of(owner, max_number)).rows();
  while (rows.next())
    result.push_back(rows.number(0));
  return result;
}

std::int64_t sqlite_tables::add(std::int64_t owner, const value_row& x) {
  const auto first = key_of(owner, 0);
  const auto next
    = next_value_.bind_all(first, key_of(owner, max_number)).number();
  const auto result = std::max(next, first);
  if (result > key_of(owner, max_number))
    reject_file(errc::resource_exhausted, db_.file(),
                "a session has too many values");
  add_value_.bind(1, result).bind_blob(2, x.hash).bind(3, x.text).run();
  return result;
}

void sqlite_tables::mend(std::int64_t key, const std::string& text) {
  mend_value_.bind_all(key, text).run();
}

void sqlite_tables::erase_value(std::int64_t key) {
  erase_value_.bind(1, key).run();
}

// -- shares -------------------------------------------------------------------

std::int64_t sqlite_tables::owner_of(std::int64_t item) {
  if (item > max_branch)
    return item >> number_bits;
  const auto branch = find_branch(item);
  return branch ? branch->owner : 0;
}

std::vector<share_row> sqlite_tables::shares_of(std::int64_t session) {
  std::vector<share_row> result;
  auto rows = shares_of_.bind(1, session).rows();
  while (rows.next())
    result.push_back({rows.number(0), rows.number(1), rows.count(2)});
  return result;
}

std::uint64_t sqlite_tables::shared_length(std::int64_t item) {
  return static_cast<std::uint64_t>(shared_length_.bind(1, item).number());
}

void sqlite_tables::write(const share_row& x) {
  write_share_.bind_all(x.item, x.session, x.length).run();
}

void sqlite_tables::erase(const share_row& x) {
  erase_share_.bind_all(x.item, x.session, x.length).run();
}

} // namespace tertulia
