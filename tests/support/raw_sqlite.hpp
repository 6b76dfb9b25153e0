// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "stores/sqlite/sqlite_checksum.hpp"
#include "stores/sqlite/sqlite_columns.hpp"
#include <sqlite3.h>

namespace tertulia::test {

/// Access to a file that bypasses the store that uses it. It can compute the
/// checksums of rows up to version 3 of the format.
class raw_sqlite {
public:
  explicit raw_sqlite(const std::filesystem::path& file) {
    sqlite3* db = nullptr;
    const auto result = sqlite3_open_v2(
      file.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
    db_.reset(db);
    check(result);
    sqlite3_busy_timeout(db, 10'000);
    check(add_row_checksum(db));
  }

  void run(const std::string& sql) {
    check(sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr));
  }

  /// Returns the first column of all rows.
  std::vector<std::string> texts(const std::string& sql) {
    std::vector<std::string> result;
    check(sqlite3_exec(
      db_.get(), sql.c_str(),
      [](void* to, int, char** values, char**) {
        static_cast<std::vector<std::string>*>(to)->emplace_back(
          values[0] != nullptr ? values[0] : "");
        return 0;
      },
      &result, nullptr));
    return result;
  }

  std::int64_t number(const std::string& sql) {
    return std::stoll(texts(sql).at(0));
  }

  /// Returns the number of rows of a table.
  std::int64_t count(const std::string& table) {
    return number("SELECT count(*) FROM " + table);
  }

  /// Returns the number of different states of records and sessions.
  std::int64_t count_states() {
    return number("SELECT count(*) FROM"
                  " (SELECT state, type, form FROM records UNION"
                  "  SELECT state, type, form FROM sessions)");
  }

private:
  struct close {
    void operator()(sqlite3* x) const noexcept {
      sqlite3_close(x);
    }
  };

  void check(int result) {
    if (result != SQLITE_OK)
      throw std::runtime_error{sqlite3_errmsg(db_.get())};
  }

  std::unique_ptr<sqlite3, close> db_;
};

/// Writes the checksums that fit the rows of a file as they are.
inline void seal_rows(const std::filesystem::path& file) {
  sqlite_db db{file.string(), std::chrono::seconds{10}};
  const auto seal = [&]<class Row>(Row row, const std::string& table,
                                   const std::string& key, auto bind) {
    sqlite_statement all{db, "SELECT "
                               + columns::list_of(columns::names_of<Row>())
                               + " FROM " + table};
    sqlite_statement write{db, "UPDATE " + table + " SET checksum = ?1 WHERE "
                                 + key};
    std::vector<Row> rows;
    for (auto found = all.rows(); found.next();) {
      (void)columns::read(row, found, 0);
      rows.push_back(row);
    }
    for (auto& x : rows) {
      bind(write, x);
      write.bind(1, checksum_of(x)).run();
    }
  };
  seal(session_row{}, "sessions", "key = ?2",
       [](auto& to, const auto& x) { to.bind(2, x.key); });
  seal(record_row{}, "records", "session = ?2 AND sequence = ?3",
       [&](auto& to, auto& x) {
         sqlite_statement labels{db, "SELECT label FROM labels WHERE"
                                     " session = ?1 AND sequence = ?2"
                                     " ORDER BY label"};
         auto rows = labels.bind_all(x.session, x.sequence).rows();
         while (rows.next())
           x.labels.push_back(rows.text(0));
         to.bind(2, x.session).bind(3, x.sequence);
       });
}

/// Returns the first page of a table or an index.
inline std::int64_t root_page(const std::filesystem::path& file,
                              const std::string& name) {
  return raw_sqlite{file}.number(
    "SELECT rootpage FROM sqlite_schema WHERE name = '" + name + "'");
}

/// Changes the bytes of a page in a file that is not open. The directory of a
/// leaf of an index begins at offset 8, with two bytes for each entry.
template <class Fn>
void change_page(const std::filesystem::path& file, std::int64_t page, Fn fn) {
  constexpr std::int64_t size = 4096;
  std::fstream io{file, std::ios::in | std::ios::out | std::ios::binary};
  io.exceptions(std::ios::failbit | std::ios::badbit);
  std::string bytes(static_cast<std::size_t>(size), '\0');
  io.seekg((page - 1) * size);
  io.read(bytes.data(), size);
  fn(bytes);
  io.seekp((page - 1) * size);
  io.write(bytes.data(), size);
}

/// Returns the number of transactions in a write-ahead log that has not been
/// restarted: its frames mark where each transaction ends.
inline std::size_t commits_in(const std::filesystem::path& wal) {
  std::ifstream file{wal, std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
  auto number = [&](std::size_t at) {
    std::uint32_t result = 0;
    for (std::size_t i = 0; i < 4; ++i)
      result = result << 8u | static_cast<unsigned char>(bytes.at(at + i));
    return result;
  };
  constexpr std::size_t header = 32;
  constexpr std::size_t frame_header = 24;
  std::size_t result = 0;
  if (bytes.size() < header)
    return result;
  const auto page = number(8);
  for (auto at = header; at + frame_header + page <= bytes.size();
       at += frame_header + page)
    if (number(at + 8) == number(16) && number(at + 4) != 0)
      ++result;
  return result;
}

} // namespace tertulia::test
