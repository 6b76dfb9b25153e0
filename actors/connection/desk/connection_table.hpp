// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/caller.hpp>
#include <tertulia/protocol.hpp>

#include <caf/actor_addr.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace tertulia::detail {

/// Open connections of a front desk. A connection that ends removes itself on
/// its own thread: the desk gets one message for the last of them when it
/// stops, and none for the others.
///
/// @threads all members.
class connection_table : public std::enable_shared_from_this<connection_table> {
public:
  /// Adds a connection until it has ended.
  /// @param caller for whom it counts; empty if it does not.
  void add(connection_actor connection,
           const std::optional<caller_name>& caller);

  /// Returns the number of connections, and how many are those of a caller.
  [[nodiscard]] std::pair<std::size_t, std::size_t>
  count(const std::optional<caller_name>& caller) const;

  [[nodiscard]] bool contains(const caf::actor_addr& connection) const;

  /// Stops all connections.
  /// @param desk is sent another exit message when the last one has ended.
  /// @returns whether there is none.
  bool stop(caf::actor_addr desk);

private:
  class end_watch;

  void remove(const caf::actor_addr& connection);

  using caller_counts = std::unordered_map<std::string, std::size_t>;
  using caller_count = caller_counts::value_type;

  struct entry {
    // A strong handle: an actor without strong references is destroyed at once
    // and could not send its completion message.
    connection_actor connection;
    caller_count* counted = nullptr; ///< null if it counts for no caller
  };

  mutable std::mutex mutex_;
  std::unordered_map<caf::actor_addr, entry> entries_;
  caller_counts by_caller_;
  caf::actor_addr desk_; ///< null until it stops
};

} // namespace tertulia::detail
