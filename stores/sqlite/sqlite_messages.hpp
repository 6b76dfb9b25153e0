// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/message_log.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "sqlite_db.hpp"
#include "sqlite_known_logs.hpp"

namespace tertulia {

/// Messages in a file, each of which is written once, and the branches to which
/// they belong. See docs/sqlite-format.md.
///
/// @pre     a transaction is open during every write.
/// @threads those of the connection.
class sqlite_messages {
public:
  using place = sqlite_log_place;

  explicit sqlite_messages(sqlite_db& db) : db_(db) {}

  // -- reading ----------------------------------------------------------------

  /// Calls a function with the text of each message, in order, until it returns
  /// false.
  /// @param   position position of the first message to read.
  /// @returns the position after the last message that was found without a gap.
  std::uint64_t for_each_text(place x,
                              const std::function<bool(std::string_view)>& fn,
                              std::uint64_t position = 0);

  /// Returns the number of messages up to the last one of a branch, including
  /// those of its ancestors; 0 if the branch has no messages of its own.
  [[nodiscard]] std::uint64_t end_of(std::int64_t branch);

  /// Returns the longest common beginning of two logs. The cost depends on the
  /// number of branches between them.
  [[nodiscard]] place common(place x, place y);

  /// Returns the number of leading messages of a log that are at a place on
  /// disk.
  [[nodiscard]] std::uint64_t common(const ai::message_log& log,
                                     place position);

  /// Returns the place of a shorter beginning of the same messages.
  [[nodiscard]] place shorter(place x, std::uint64_t length);

  // -- writing ----------------------------------------------------------------

  /// Makes a branch that begins with the messages at a place.
  [[nodiscard]] std::int64_t make_branch(place parent);

  /// Appends the messages of a log that follow a place, which is the end of its
  /// branch, or without a branch to a new one.
  /// @returns the place of the log.
  [[nodiscard]] place append(place position, const ai::message_log& log);

  /// Erases the messages of a branch behind a place, unless something else
  /// needs them.
  /// @returns whether the branch ends at that place now.
  [[nodiscard]] bool cut(place behind);

  /// Erases the messages of a branch that nothing needs any more, and the
  /// branch itself and its ancestors if that applies to all of their messages.
  void release(std::int64_t branch);

private:
  struct branch {
    std::int64_t parent = 0;
    std::uint64_t start = 0;
  };

  [[nodiscard]] std::optional<branch> find_branch(std::int64_t key);

  /// Part of a log: messages of one branch.
  struct piece {
    std::int64_t branch = 0;
    std::uint64_t first = 0;
    std::uint64_t last = 0; ///< one past the last position
  };

  /// Returns the pieces of a log after a position, in order; nothing if a
  /// branch is missing.
  [[nodiscard]] std::optional<std::vector<piece>>
  pieces_of(place x, std::uint64_t position);

  /// Returns how many messages of a branch are needed, including those of its
  /// ancestors.
  [[nodiscard]] std::uint64_t needed_of(std::int64_t branch);
  void erase(place behind);

  sqlite_db& db_;
  sqlite_statement find_branch_{
    db_, "SELECT parent, start FROM branches WHERE key = ?1"};
  sqlite_statement insert_branch_{
    db_, "INSERT INTO branches (parent, start) VALUES (?1, ?2)"};
  sqlite_statement erase_branch_{db_, "DELETE FROM branches WHERE key = ?1"};
  sqlite_statement needed_of_branch_{
    db_, "SELECT max("
         "coalesce((SELECT max(length) FROM states WHERE branch = ?1), 0),"
         "coalesce((SELECT max(start) FROM branches WHERE parent = ?1), 0))"};
  sqlite_statement end_of_branch_{
    db_, "SELECT max(key) FROM messages WHERE key BETWEEN ?1"
         " AND ?2"};
  sqlite_statement insert_{db_,
                           "INSERT INTO messages (key, text) VALUES (?1, ?2)"};
  sqlite_statement read_{db_,
                         "SELECT key, text FROM messages WHERE key BETWEEN ?1"
                         " AND ?2 ORDER BY key"};
  sqlite_statement erase_{db_,
                          "DELETE FROM messages WHERE key BETWEEN ?1 AND ?2"};
};

} // namespace tertulia
