// SPDX-License-Identifier: BSD-3-Clause

#include "open_sqlite.hpp"

#include <tertulia/json.hpp>
#include <tertulia/status.hpp>

#include <map>
#include <tuple>
#include <utility>

#include "damaged_log.hpp"
#include "sqlite_checksum.hpp"
#include <fmt/format.h>

namespace tertulia {

namespace {

[[noreturn]] void reject(const std::string& file, const std::string& reason,
                         json details = json::object()) {
  reject_file(errc::failed_precondition, file, reason, std::move(details));
}

/// Returns the version of a store's file; 0 for an empty file.
std::int64_t version_in(sqlite_db& db) {
  std::int64_t application = 0;
  std::int64_t things = 0;
  try {
    application = db.number("PRAGMA application_id");
    things = db.number("SELECT count(*) FROM sqlite_schema");
  } catch (const status_error& x) {
    if (x.code() != errc::data_loss)
      throw;
    reject(db.file(), "is not a SQLite file, or its beginning is damaged");
  }
  const auto version = db.number("PRAGMA user_version");
  if (application == sqlite_application_id && version > 0)
    return version;
  if (application != 0 || version != 0 || things != 0)
    reject(db.file(), "belongs to another program: it is not a store");
  return 0;
}

void run(sqlite_db& db, const migration_step& step) {
  db.run(step.before);
  if (step.convert != nullptr)
    step.convert(db);
  db.run(step.after);
}

/// Schema of a file: type, name and table of each entry, with the statement
/// that created it. Quotes and white space are removed, because they differ
/// between versions of SQLite.
using things
  = std::map<std::tuple<std::string, std::string, std::string>, std::string>;

things things_in(sqlite_db& db) {
  things result;
  // The tables of ANALYZE are ignored: they say nothing about the data of a
  // file.
  sqlite_statement all{db, "SELECT type, name, tbl_name, sql FROM sqlite_schema"
                           " WHERE type <> 'table'"
                           " OR name NOT IN ('sqlite_stat1', 'sqlite_stat4')"};
  for (auto row = all.rows(); row.next();) {
    auto text = row.text(3);
    std::erase_if(text, [](char x) {
      return x == '"' || x == ' ' || x == '\n' || x == '\t' || x == '\r';
    });
    result.try_emplace({row.text(0), row.text(1), row.text(2)},
                       std::move(text));
  }
  return result;
}

things things_of(std::span<const migration_step> steps) {
  sqlite_db model{":memory:", caf::timespan{0}};
  if (const auto result = add_row_checksum(model.get()); result != SQLITE_OK)
    model.raise(result);
  for (const auto& step : steps)
    run(model, step);
  return things_in(model);
}

/// Throws unless the schema of a file is exactly the one that these steps
/// create. A foreign trigger, for example, would run on each save and could
/// change anything.
void expect_schema(sqlite_db& db, std::span<const migration_step> steps) {
  if (steps.empty())
    return; // the file is empty
  // Nearly every file has the newest version, so its schema is computed once.
  const auto schema = sqlite_schema();
  static const auto newest = things_of(schema);
  const auto is_newest
    = steps.data() == schema.data() && steps.size() == schema.size();
  const auto older = is_newest ? things{} : things_of(steps);
  const auto& ours = is_newest ? newest : older;
  const auto all = things_in(db);
  const auto name_of = [](const auto& x) {
    return fmt::format("the {} \"{}\"", std::get<0>(x), std::get<1>(x));
  };
  for (const auto& [what, text] : ours)
    if (const auto i = all.find(what); i == all.end() || i->second != text)
      reject_file(errc::data_loss, db.file(),
                  fmt::format("{} {}", name_of(what),
                              i == all.end() ? "is missing"
                                             : "is not that of a store"));
  for (const auto& [what, text] : all)
    if (!ours.contains(what))
      reject(
        db.file(),
        fmt::format("{} does not belong to a store: drop it to open the file",
                    name_of(what)));
}

void migrate(sqlite_db& db, std::int64_t version,
             std::span<const migration_step> steps) {
  // The mode is stored in the file, and cannot be set while a transaction is
  // open.
  if (const auto mode = db.text("PRAGMA journal_mode = WAL"); mode != "wal")
    reject(db.file(),
           fmt::format("cannot have a write-ahead log, only {}", mode));
  const auto newest = static_cast<std::int64_t>(steps.size());
  if (version == newest)
    return;
  db.run("BEGIN EXCLUSIVE");
  for (auto i = version; i < newest; ++i)
    run(db, steps[static_cast<std::size_t>(i)]);
  if (version > 0 && !db.text("PRAGMA foreign_key_check").empty())
    reject(
      db.file(),
      fmt::format("refers to rows that are missing; it stays at version {}",
                  version));
  const auto set
    = "PRAGMA application_id = " + std::to_string(sqlite_application_id)
      + "; PRAGMA user_version = " + std::to_string(newest) + "; COMMIT";
  db.run(set.c_str());
}

} // namespace

sqlite_db open_sqlite(file_hold& hold, const sqlite_options& options,
                      std::span<const migration_step> steps) {
  const auto& file = hold.name();
  const auto log = file + "-wal";
  const auto index = file + "-shm";
  for (const auto& name : {log, index, file + "-journal"})
    expect_regular_file(name); // SQLite would block on a pipe
  sqlite_db db{file, options.patience};
  if (const auto result = add_row_checksum(db.get()); result != SQLITE_OK)
    db.raise(result);
  // The version is checked before any statement that changes the file or
  // interprets its content.
  const auto version = version_in(db);
  if (options.survives == durability::power_cut)
    keep_damaged_log(db);
  if (version > static_cast<std::int64_t>(steps.size()))
    reject(db.file(),
           fmt::format("has version {} of the format, and this program knows "
                       "no newer one than {}",
                       version, steps.size()),
           {{"version", version}, {"newest", steps.size()}});
  expect_schema(db, steps.first(static_cast<std::size_t>(version)));
  // A migration has to be durable, whatever durability is configured
  // afterwards.
  db.run("PRAGMA synchronous = FULL;"
         "PRAGMA foreign_keys = OFF;"
         "PRAGMA secure_delete = ON;"
         "PRAGMA temp_store = MEMORY;"
         "PRAGMA cache_size = -32768;"
         // 32 MiB of log: pages that are written repeatedly reach the database
         // only now and then, and a restart reads the log quickly.
         "PRAGMA wal_autocheckpoint = 8192;"
         "PRAGMA journal_size_limit = 67108864;");
  migrate(db, version, steps);
  db.run("PRAGMA foreign_keys = ON");
  if (options.survives == durability::process)
    db.run("PRAGMA synchronous = NORMAL");
  // A file that was just switched to WAL mode gets its log with the first read.
  static_cast<void>(db.number("SELECT count(*) FROM sqlite_schema"));
  // SQLite has opened the file by name, which may refer to another file by now.
  int is_another = 0;
  sqlite3_file_control(db.get(), "main", SQLITE_FCNTL_HAS_MOVED, &is_another);
  hold.expect_in_place();
  if (is_another != 0)
    reject_file(errc::unavailable, db.file(),
                "was replaced while it was opened");
  hold.watch(log);
  hold.watch(index);
  return db;
}

} // namespace tertulia
