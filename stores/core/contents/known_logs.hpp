// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/message_log.hpp>
#include <tertulia/store_rows.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>

namespace tertulia {

/// Cache of the logs of the most recently used sessions: the messages of each
/// log and their place. It saves reading the messages. A session need
/// not be in the cache.
///
/// The place of an entry stays valid as long as the working state of its
/// session exists, because messages that a state needs are never erased. So an
/// entry is replaced with that state, and all entries are forgotten after a
/// rollback.
///
/// @threads one at a time.
class known_logs {
public:
  /// Log of one session and its place.
  struct known_log {
    std::int64_t session = 0;
    ai::message_log log;
    log_place where;
  };

  /// @param max_messages maximum number of messages of all logs together.
  ///        Beyond it the least recently used logs are forgotten. The most
  ///        recent log is kept at any size.
  explicit known_logs(std::size_t max_messages);

  // The lists below refer to each other.
  known_logs(const known_logs&) = delete;
  known_logs& operator=(const known_logs&) = delete;

  /// Returns the known log of a session, or null.
  /// @lifetime valid until a log is remembered or forgotten.
  [[nodiscard]] const known_log* find(std::int64_t session) const;

  /// Remembers the log of a session's working state, in place of an earlier
  /// one; nothing for a log without messages.
  void remember(std::int64_t session, const ai::message_log& log,
                log_place position);

  void forget(std::int64_t session);
  void forget_all();

private:
  using log_list = std::list<known_log>;

  std::size_t max_messages_;

  /// The most recently used session comes first.
  log_list logs_;
  std::unordered_map<std::int64_t, log_list::iterator> by_session_;
  std::size_t messages_ = 0; ///< of all logs together
};

} // namespace tertulia
