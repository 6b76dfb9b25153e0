// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/status.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "damaged_log.hpp"
#include "file_hold.hpp"
#include "size_limit.hpp"
#include "sqlite_tables.hpp"
#include <fmt/format.h>

namespace tertulia {

namespace {

/// Returns whether SQLite reports that the disk failed to read a page, which
/// SQLite counts as damage.
bool is_failed_read(const std::string& what) {
  constexpr std::string_view code = "error code=";
  if (const auto position = what.find(code); position != std::string::npos)
    return (std::atoi(what.c_str() + position + code.size()) & 0xff)
           == SQLITE_IOERR;
  return what.find("failed to get page") != std::string::npos;
}

} // namespace

vacuum_result sqlite_tables::vacuum() {
  thread_local const size_limit_is_an_error guard;
  const auto size = [this] {
    return static_cast<std::uint64_t>(db_.number("PRAGMA page_count")
                                      * db_.number("PRAGMA page_size"));
  };
  const auto before = size();
  db_.run("VACUUM");
  // VACUUM copies indexes as they are. An index that contains a flipped bit is
  // rebuilt from the rows, unless a row is damaged itself: then the index may
  // be the only place that still has the name of the row.
  if (db_.text("PRAGMA integrity_check(1)") != "ok" && !has_damaged_rows()) {
    db_.run("REINDEX");
    db_.run("VACUUM");
  }
  // Space is released only when the write-ahead log is written back. If another
  // program reads now, the next checkpoint does that.
  db_.run("PRAGMA wal_checkpoint(TRUNCATE)");
  return {before, size()};
}

bool sqlite_tables::has_damaged_rows() {
  sqlite_statement keys{db_, "SELECT key FROM sessions NOT INDEXED"};
  for (auto row = keys.rows(); row.next();)
    if (const auto found = find_session(row.number(0));
        !found || !found->is_whole)
      return true;
  sqlite_statement sessions{db_, "SELECT DISTINCT session FROM records"};
  for (auto row = sessions.rows(); row.next();)
    if (const auto key = row.number(0);
        count_whole_records(key) != count_records(key).first)
      return true;
  return false;
}

void sqlite_tables::verify(const std::function<void(std::string)>& add) {
  if (const auto log = kept_log_of(db_.file()); std::filesystem::exists(log))
    add(fmt::format(
      "{} is a copy of a write-ahead log with transactions behind a damaged "
      "place, which are lost from the file; remove it when it is not needed "
      "any more",
      log));
  try {
    sqlite_statement check{db_, "PRAGMA integrity_check(100)"};
    auto rows = check.rows();
    while (rows.next()) {
      auto what = rows.text(0);
      if (is_failed_read(what))
        reject_file(errc::unavailable, db_.file(), what);
      if (what != "ok")
        add(std::move(what));
    }
  } catch (const status_error& error) {
    if (error.code() != errc::data_loss)
      throw;
    add(error.what());
  }
}

} // namespace tertulia
