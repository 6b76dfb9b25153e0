// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/store_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sqlite_db.hpp"

// Columns of rows as SQLite stores them. See docs/sqlite-format.md.

namespace tertulia::columns {

/// Returns the 32 bytes of 64 hexadecimal digits; empty for anything else.
[[nodiscard]] std::string bytes_of_hex(std::string_view hex);

[[nodiscard]] std::int64_t to_number(timestamp x);

/// Returns the number of whole hours since 1970.
[[nodiscard]] std::int64_t hour_of(timestamp x);

/// Returns the event with a name; nothing for an unknown name.
[[nodiscard]] std::optional<snapshot_event> to_event(std::string_view x);

/// Names of the columns of a row, in order. The labels of a record are not
/// among them, since they have a table of their own.
template <class Row>
[[nodiscard]] std::vector<std::string> names_of();

/// Returns names with commas between them, each behind a prefix.
[[nodiscard]] std::string list_of(const std::vector<std::string>& names,
                                  std::string_view prefix = {});

/// Returns `?1, ?2, …` for a number of values.
[[nodiscard]] std::string places_for(std::size_t values);

/// Binds the columns of a row to the first parameters of a statement.
///
/// @lifetime must live until the statement has run.
class binding {
public:
  explicit binding(sqlite_statement& to) : to_(to) {}

  /// Binds all columns of a row and its checksum.
  template <class Row>
  void bind(const Row& x) {
    for_each_column(x, *this);
    (*this)("checksum", checksum_of(x));
  }

  void operator()(const char*, std::int64_t x);
  void operator()(const char*, std::uint64_t x);
  void operator()(const char*, bool x);
  void operator()(const char*, std::string_view x);
  void operator()(const char*, const session_id& x);
  void operator()(const char*, const snapshot_id& x);
  void operator()(const char*, const state_id& x);
  void operator()(const char*, timestamp x);
  void operator()(const char*, snapshot_event x);
  void operator()(const char*, const std::optional<ai::finish_reason>& x);
  void operator()(const char*, const std::optional<std::uint64_t>& x);
  void operator()(const char*, const std::optional<turn_id>& x);
  void operator()(const char*, const std::vector<past_turn>& x);
  void operator()(const char*, state_form x);
  void operator()(const char*, const stored_type& x);
  void operator()(const char*, const std::vector<std::string>&) {}

private:
  sqlite_statement& to_;
  int index_ = 0;
  /// Values that exist only for the statement.
  std::deque<std::string> texts_;
};

/// Reads the columns of a row that begin at a column of a cursor.
/// @returns whether all of them have a value of their type.
[[nodiscard]] bool read(session_row& to, const sqlite_statement::cursor& from,
                        int column);
[[nodiscard]] bool read(record_row& to, const sqlite_statement::cursor& from,
                        int column);

} // namespace tertulia::columns
