// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/message_log.hpp>
#include <tertulia/content_tables.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace tertulia {

/// Logs of messages in the tables of a store. A log is a branch up to some
/// length. A branch begins with messages of its parent, so logs share the
/// messages that they have in common, and each message is written once.
///
/// @threads one at a time.
class message_branches {
public:
  explicit message_branches(content_tables& tables) : tables_(tables) {}

  // -- reading ----------------------------------------------------------------

  /// Calls a function with the text of each message, in order, until it returns
  /// false.
  /// @param   position position of the first message to read.
  /// @returns the position after the last message that was found without a gap.
  std::uint64_t for_each_text(log_place x,
                              const std::function<bool(std::string_view)>& fn,
                              std::uint64_t position = 0);

  /// Returns the longest common beginning of two logs. The cost depends on the
  /// number of branches between them.
  [[nodiscard]] log_place common(log_place x, log_place y);

  /// Returns the number of leading messages of a log that are at a place.
  [[nodiscard]] std::uint64_t common(const ai::message_log& log, log_place x);

  /// Returns the place of a shorter beginning of the same messages.
  [[nodiscard]] log_place shorter(log_place x, std::uint64_t length);

  /// Returns a branch whose columns make sense.
  [[nodiscard]] std::optional<branch_row> find(std::int64_t branch);

  // -- writing ----------------------------------------------------------------

  /// Appends the messages of a log that follow a place, which is the end of its
  /// branch.
  /// @returns the place of the log.
  [[nodiscard]] log_place append(log_place x, const ai::message_log& log);

private:
  /// Part of a log: messages of one branch.
  struct piece {
    std::int64_t branch = 0;
    std::uint64_t last = 0; ///< one past the last position
  };

  /// Returns the pieces of a log after a position, in order; nothing if a
  /// branch is missing.
  [[nodiscard]] std::optional<std::vector<piece>>
  pieces_of(log_place x, std::uint64_t position);

  content_tables& tables_;
};

} // namespace tertulia
