// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/errc.hpp>
#include <tertulia/store_tables.hpp>

#include <caf/timespan.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <sqlite3.h>

// SQLite for the rest of the store: handles that close themselves, and results
// of SQLite as error codes of this library. Every failure throws
// `sqlite_error`.

namespace tertulia {

/// Error of SQLite. A statement that fails because of a damaged page may have
/// been executed in part, and none of its changes are counted: only a rollback
/// of the transaction reverts them.
class sqlite_error : public engine_error {
public:
  using engine_error::engine_error;
};

/// Returns the error code for a result of SQLite, plain or extended:
///
/// | SQLite                          | code                  |
/// | ------------------------------- | --------------------- |
/// | `FULL`, `TOOBIG`, `NOMEM`       | `resource_exhausted`  |
/// | `BUSY`, `LOCKED`, `PROTOCOL`    | `unavailable`         |
/// | `IOERR`, `CANTOPEN`             | `unavailable`         |
/// | `CORRUPT`, `NOTADB`             | `data_loss`           |
/// | `CONSTRAINT` of a row           | `data_loss`           |
/// | `READONLY`, `PERM`, `AUTH`      | `permission_denied`   |
/// | `INTERRUPT`, `ABORT`            | `cancelled`           |
/// | all others                      | `internal`            |
[[nodiscard]] errc code_of_sqlite(int result) noexcept;

class sqlite_statement;

/// Connection to one file, which must exist.
///
/// @threads   one at a time.
/// @lifetime  must outlive its statements.
class sqlite_db {
public:
  /// @param busy longest wait for other connections that use the file.
  sqlite_db(const std::string& file, caf::timespan busy);

  sqlite_db(sqlite_db&&) noexcept = default;
  sqlite_db& operator=(sqlite_db&&) noexcept = default;

  /// Sets an option of the connection, `SQLITE_DBCONFIG_…`.
  void configure(int option, int value);

  /// Runs statements and ignores their rows.
  void run(const char* sql);

  /// Runs a statement and returns the first column of its first row; 0 if there
  /// are no rows.
  [[nodiscard]] std::int64_t number(const char* sql);

  /// Runs a statement and returns the first column of its first row; empty if
  /// there are no rows.
  [[nodiscard]] std::string text(const char* sql);

  /// Returns whether a transaction is open. It asks SQLite, because some errors
  /// end a transaction.
  [[nodiscard]] bool in_transaction() const noexcept;

  [[nodiscard]] std::int64_t last_key() const noexcept;

  [[nodiscard]] const std::string& file() const noexcept {
    return file_;
  }

  [[nodiscard]] sqlite3* get() const noexcept {
    return db_.get();
  }

  /// Throws the last error of SQLite.
  [[noreturn]] void raise(int result) const;

private:
  struct close {
    void operator()(sqlite3* x) const noexcept;
  };

  std::string file_;
  std::unique_ptr<sqlite3, close> db_;
};

/// Prepared statement that can be used repeatedly:
///
///   find_.bind_all(agent, id);
///   if (auto row = find_.rows(); row.next())
///     key = row.number(0);
///
/// @threads   those of its connection.
/// @lifetime  bound texts must live until the rows have been read.
class sqlite_statement {
public:
  sqlite_statement(const sqlite_db& db, std::string_view sql);

  sqlite_statement& bind(int index, std::int64_t x);
  sqlite_statement& bind(int index, std::uint64_t x) {
    return bind(index, static_cast<std::int64_t>(x));
  }
  sqlite_statement& bind(int index, std::string_view text);
  sqlite_statement& bind_blob(int index, std::string_view bytes);
  /// Binds values to the first parameters, in order. A text that ends with the
  /// call is refused.
  template <class... Ts>
  sqlite_statement& bind_all(Ts&&... xs) {
    static_assert((!std::is_same_v<Ts, std::string> && ...),
                  "name the text: it must live until the rows have been read");
    int index = 0;
    (bind(++index, xs), ...);
    return *this;
  }

  /// Rows of a statement, one at a time. The statement can be used again as
  /// soon as the cursor ends.
  class cursor {
  public:
    explicit cursor(sqlite_statement& x) noexcept : statement_(&x) {}

    cursor(const cursor&) = delete;
    cursor& operator=(const cursor&) = delete;

    ~cursor();

    /// Advances to the next row and returns whether it exists.
    [[nodiscard]] bool next();

    // Columns of the current row; a NULL is 0 or empty.
    [[nodiscard]] std::int64_t number(int column) const noexcept;
    [[nodiscard]] std::uint64_t count(int column) const noexcept {
      return static_cast<std::uint64_t>(number(column));
    }
    [[nodiscard]] bool is_null(int column) const noexcept;
    /// Returns text or bytes, valid until the next row.
    [[nodiscard]] std::string_view view(int column) const;
    [[nodiscard]] std::string text(int column) const {
      return std::string{view(column)};
    }

  private:
    sqlite_statement* statement_;
  };

  [[nodiscard]] cursor rows() noexcept {
    return cursor{*this};
  }

  /// Runs a statement that does not return rows.
  void run();

  /// Runs a statement and returns the first column of its first row; 0 if there
  /// are no rows.
  [[nodiscard]] std::int64_t number();

private:
  struct finalize {
    void operator()(sqlite3_stmt* x) const noexcept;
  };

  void check(int result) const;

  std::unique_ptr<sqlite3_stmt, finalize> statement_;
};

} // namespace tertulia
