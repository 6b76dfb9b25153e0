// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/message_log.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <unordered_map>

namespace tertulia {

/// The first messages of a branch, those of its ancestors included.
struct sqlite_log_place {
  std::int64_t branch = 0; ///< 0 for no messages
  std::uint64_t length = 0;

  friend bool operator==(const sqlite_log_place&, const sqlite_log_place&)
    = default;
};

/// What is known of the logs of those sessions that were busy last: which
/// messages each has, and where they are on disk. It saves reading them, and
/// nothing is wrong if a session is not known any more.
///
/// @threads those of the connection.
class sqlite_known_logs {
public:
  /// What is known of one session's log.
  struct known_log {
    std::int64_t session = 0;
    ai::message_log log;
    sqlite_log_place where;
  };

  /// @param max_messages how many messages all logs may have together before
  ///                     those that were busy longest ago are forgotten. The
  ///                     last one is known at any size.
  explicit sqlite_known_logs(std::size_t max_messages);

  // The lists below point into each other.
  sqlite_known_logs(const sqlite_known_logs&) = delete;
  sqlite_known_logs& operator=(const sqlite_known_logs&) = delete;

  /// Returns what is known of a session, or null.
  /// @lifetime until anything is remembered or forgotten.
  [[nodiscard]] const known_log* find(std::int64_t session) const;

  /// What a session works on is this from now on.
  void remember(std::int64_t session, const ai::message_log& log,
                sqlite_log_place where);

  void forget(std::int64_t session);
  void forget_all();

  /// Forgets each log that needs messages of a branch behind a length, since
  /// they are no longer there.
  void forget_behind(sqlite_log_place x);

private:
  using log_list = std::list<known_log>;

  void erase(log_list::iterator x);

  std::size_t max_messages_;

  /// The session that was busy last comes first.
  log_list logs_;
  std::unordered_map<std::int64_t, log_list::iterator> by_session_;
  std::multimap<std::int64_t, log_list::iterator> by_branch_;
  std::size_t messages_ = 0; ///< of all logs together
};

} // namespace tertulia
