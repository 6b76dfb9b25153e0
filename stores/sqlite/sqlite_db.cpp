// SPDX-License-Identifier: BSD-3-Clause

#include "sqlite_db.hpp"

#include <tertulia/json.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <limits>

#include "size_limit.hpp"
#include <fmt/format.h>

namespace tertulia {

namespace {

/// Returns whether a file cannot grow because of a limit of the process or of
/// its user: SQLite distinguishes that from a full disk.
bool is_at_its_limit(sqlite3* db, int extended) {
  if (db == nullptr
      || (extended != SQLITE_IOERR_WRITE && extended != SQLITE_IOERR_SHMSIZE))
    return false;
  // The system error of the connection may belong to a call after the one that
  // failed.
  int file_error = 0;
  int log_error = 0;
  sqlite3_file* log = nullptr;
  sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &file_error);
  sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (log != nullptr && log->pMethods != nullptr)
    log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &log_error);
  for (const auto error : {sqlite3_system_errno(db), file_error, log_error})
    if (error == EFBIG || error == EDQUOT)
      return true;
  return false;
}

[[noreturn]] void raise_sqlite(sqlite3* db, const char* file, int result) {
  const auto extended = db != nullptr ? sqlite3_extended_errcode(db) : result;
  auto text = fmt::format("{}: {}", file != nullptr ? file : "",
                          sqlite3_errstr(result));
  if (db != nullptr)
    if (const std::string more = sqlite3_errmsg(db);
        more != sqlite3_errstr(result))
      text += fmt::format(": {}", more);
  if ((result & 0xff) == SQLITE_FULL)
    text += "; deleting and pruning need some room, too: free some MiB on that"
            " disk (a vacuum needs as much as the file has), or copy the file"
            " with its -wal to another disk";
  const auto details = json::object(
    {{"file", file != nullptr ? file : ""}, {"sqlite", extended}});
  throw sqlite_error{
    is_at_its_limit(db, extended) ? errc::resource_exhausted
                                  : code_of_sqlite(result),
    text, details.dump(-1, ' ', false, json::error_handler_t::replace)};
}

} // namespace

errc code_of_sqlite(int result) noexcept {
  switch (result) {
    // The store writes only rows that fit its tables, unless a row is damaged.
    case SQLITE_CONSTRAINT_CHECK:
    case SQLITE_CONSTRAINT_DATATYPE:
    case SQLITE_CONSTRAINT_FOREIGNKEY:
    case SQLITE_CONSTRAINT_NOTNULL:
    case SQLITE_CONSTRAINT_PRIMARYKEY:
    case SQLITE_CONSTRAINT_ROWID:
    case SQLITE_CONSTRAINT_UNIQUE: return errc::data_loss;
    default: break;
  }
  switch (result & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE: return errc::ok;
    case SQLITE_FULL:
    case SQLITE_TOOBIG:
    case SQLITE_NOMEM: return errc::resource_exhausted;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN: return errc::unavailable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return errc::data_loss;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH: return errc::permission_denied;
    case SQLITE_INTERRUPT:
    case SQLITE_ABORT: return errc::cancelled;
    default: return errc::internal;
  }
}

// -- connection ---------------------------------------------------------------

void sqlite_db::close::operator()(sqlite3* x) const noexcept {
  // Closing may write the content of the log to the file.
  const size_limit_is_an_error guard;
  // Would be deferred until all statements are finalized, but there are none
  // left.
  sqlite3_close_v2(x);
}

sqlite_db::sqlite_db(const std::string& file, caf::timespan busy)
  : file_(file) {
  constexpr auto flags
    = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  sqlite3* db = nullptr;
  const auto result = sqlite3_open_v2(file.c_str(), &db, flags, nullptr);
  db_.reset(db); // must be closed even if it could not be opened
  if (result != SQLITE_OK)
    raise(result);
  // The schema of a file is not trusted until it has been compared.
  configure(SQLITE_DBCONFIG_DEFENSIVE, 1);
  configure(SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0);
  const auto wait
    = std::chrono::duration_cast<std::chrono::milliseconds>(busy).count();
  sqlite3_busy_timeout(db, static_cast<int>(std::clamp<std::int64_t>(
                             wait, 0, std::numeric_limits<int>::max())));
}

void sqlite_db::configure(int option, int value) {
  if (const auto result = sqlite3_db_config(get(), option, value, nullptr);
      result != SQLITE_OK)
    raise(result);
}

void sqlite_db::run(const char* sql) {
  if (const auto result = sqlite3_exec(get(), sql, nullptr, nullptr, nullptr);
      result != SQLITE_OK)
    raise(result);
}

std::int64_t sqlite_db::number(const char* sql) {
  sqlite_statement x{*this, sql};
  auto rows = x.rows();
  return rows.next() ? rows.number(0) : 0;
}

std::string sqlite_db::text(const char* sql) {
  sqlite_statement x{*this, sql};
  auto rows = x.rows();
  return rows.next() ? rows.text(0) : std::string{};
}

bool sqlite_db::in_transaction() const noexcept {
  return sqlite3_get_autocommit(get()) == 0;
}

std::int64_t sqlite_db::last_key() const noexcept {
  return sqlite3_last_insert_rowid(get());
}

void sqlite_db::raise(int result) const {
  raise_sqlite(get(), file_.c_str(), result);
}

// -- statements ---------------------------------------------------------------

void sqlite_statement::finalize::operator()(sqlite3_stmt* x) const noexcept {
  sqlite3_finalize(x);
}

sqlite_statement::sqlite_statement(const sqlite_db& db, std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const auto result
    = sqlite3_prepare_v3(db.get(), sql.data(), static_cast<int>(sql.size()),
                         SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  statement_.reset(statement);
  // The statements of the store fit its tables. An error means that the tables
  // were changed.
  if (result != SQLITE_OK)
    db.raise(result == SQLITE_ERROR ? SQLITE_CORRUPT : result);
}

sqlite_statement& sqlite_statement::bind(int index, std::int64_t x) {
  check(sqlite3_bind_int64(statement_.get(), index, x));
  return *this;
}

sqlite_statement& sqlite_statement::bind(int index, std::string_view text) {
  // A null pointer would bind NULL.
  check(sqlite3_bind_text64(statement_.get(), index,
                            text.data() != nullptr ? text.data() : "",
                            text.size(), SQLITE_STATIC, SQLITE_UTF8));
  return *this;
}

sqlite_statement& sqlite_statement::bind_blob(int index,
                                              std::string_view bytes) {
  check(sqlite3_bind_blob64(statement_.get(), index,
                            bytes.data() != nullptr ? bytes.data() : "",
                            bytes.size(), SQLITE_STATIC));
  return *this;
}

void sqlite_statement::run() {
  auto all = rows();
  while (all.next()) {
  }
}

std::int64_t sqlite_statement::number() {
  auto all = rows();
  return all.next() ? all.number(0) : 0;
}

void sqlite_statement::check(int result) const {
  if (result == SQLITE_OK)
    return;
  const auto db = sqlite3_db_handle(statement_.get());
  raise_sqlite(db, sqlite3_db_filename(db, "main"), result);
}

// -- rows ---------------------------------------------------------------------

sqlite_statement::cursor::~cursor() {
  // The result is the error that `next` has already thrown.
  sqlite3_reset(statement_->statement_.get());
}

bool sqlite_statement::cursor::next() {
  const auto result = sqlite3_step(statement_->statement_.get());
  if (result == SQLITE_ROW)
    return true;
  if (result != SQLITE_DONE)
    statement_->check(result);
  return false;
}

std::int64_t sqlite_statement::cursor::number(int column) const noexcept {
  return sqlite3_column_int64(statement_->statement_.get(), column);
}

bool sqlite_statement::cursor::is_null(int column) const noexcept {
  return sqlite3_column_type(statement_->statement_.get(), column)
         == SQLITE_NULL;
}

std::string_view sqlite_statement::cursor::view(int column) const {
  const auto data = static_cast<const char*>(
    sqlite3_column_blob(statement_->statement_.get(), column));
  const auto size = sqlite3_column_bytes(statement_->statement_.get(), column);
  return {data != nullptr ? data : "", static_cast<std::size_t>(size)};
}

} // namespace tertulia
