// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/protocol.hpp>
#include <tertulia/store/runs.hpp>

#include <caf/actor_addr.hpp>

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace tertulia::detail {

/// The kept runs of one runtime, by their id, by their session and by their
/// caller.
///
/// @threads all members.
class run_registry {
  /// Key, caller, begin and id: those of a caller are neighbours.
  using place = std::tuple<std::string, caller_name, timestamp, run_id>;

public:
  /// Entry of one run; its destructor removes it.
  ///
  /// @lifetime must not outlive the registry.
  class registration {
  public:
    registration(run_registry& of, stored_run run, const caller_name& caller,
                 const caf::actor_addr& by);
    registration(const registration&) = delete;
    registration& operator=(const registration&) = delete;
    ~registration();

    /// Notes how the run has ended: it may still wait for a client.
    /// @param reason its error, for people; none if it has completed.
    void end(run_status status, const caf::error& reason);

  private:
    run_registry& registry_;
    const run_id run_;
    const std::string session_; ///< its place; empty without a session
    const std::vector<place> places_;
  };

  /// Adds a run.
  /// @param run    with a session, its live run is this one from now on.
  /// @param caller who has opened it; may be empty.
  [[nodiscard]] std::unique_ptr<registration>
  add(stored_run run, const caller_name& caller, const caf::actor_addr& by);

  /// Returns the connection of a run; null if there is none.
  [[nodiscard]] run_actor find(const run_id& run, const std::string& key) const;

  /// Returns the connection of the live run of a session; null if there is
  /// none.
  [[nodiscard]] run_actor find(const std::string& key,
                               const session_id& session) const;

  /// Returns the connections of all runs.
  [[nodiscard]] std::vector<run_actor> all() const;

  /// Returns a page of the runs of an action, as a store does. Those that have
  /// ended are among them for as long as they wait for a client.
  /// @errors throws `not_found` if the run behind which it begins has ended.
  [[nodiscard]] run_page list(const list_runs_request& x) const;

private:
  struct entry {
    stored_run run;
    caf::actor_addr connection;
  };

  static std::string name_of(const std::string& key, const session_id& session);

  mutable std::mutex mutex_;
  std::unordered_map<run_id, entry> runs_;
  std::unordered_map<std::string, run_id> sessions_;
  std::set<place> places_; ///< of each run: for its caller, and for everybody
};

} // namespace tertulia::detail
