// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/protocol.hpp>
#include <tertulia/run.hpp>

#include <caf/actor_addr.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace tertulia::detail {

/// The kept runs of one runtime, by their id and by their session.
///
/// @threads all members.
class run_registry {
public:
  /// Entry of one run; its destructor removes it.
  ///
  /// @lifetime must not outlive the registry.
  class registration {
  public:
    registration(run_registry& of, run_info info);
    registration(const registration&) = delete;
    registration& operator=(const registration&) = delete;
    ~registration();

  private:
    run_registry& registry_;
    run_info info_;
  };

  /// Adds a run.
  /// @param session of a conversation: its live run is this one from now on.
  [[nodiscard]] std::unique_ptr<registration> add(run_info info,
                                                  const caf::actor_addr& by);

  /// Returns the connection of a run; null if there is none.
  [[nodiscard]] run_actor find(const run_id& run, const std::string& key) const;

  /// Returns the connection of the live run of a session; null if there is
  /// none.
  [[nodiscard]] run_actor find(const std::string& key,
                               const session_id& session) const;

private:
  struct entry {
    std::string key;
    caf::actor_addr connection;
  };

  static std::string name_of(const std::string& key, const session_id& session);

  mutable std::mutex mutex_;
  std::unordered_map<run_id, entry> runs_;
  std::unordered_map<std::string, run_id> sessions_;
};

} // namespace tertulia::detail
