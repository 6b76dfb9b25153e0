// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/compiled_once.hpp>
#include <tertulia/errc.hpp>
#include <tertulia/identifier.hpp>
#include <tertulia/inspect.hpp>
#include <tertulia/run.hpp>
#include <tertulia/store/damage.hpp>

#include <caf/timespan.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Requests to a store about kept runs, and its replies. Design: docs/runs.md.

namespace tertulia {

/// Number of heartbeats that a run may miss before it counts as expired.
inline constexpr int max_missed_beats = 3;

/// Longest time between two heartbeats of a run.
inline constexpr caf::timespan max_run_beat = std::chrono::hours{24};

/// Largest size of the text of a run's error, in bytes; the rest is cut off.
inline constexpr std::size_t max_run_error = 4'096;

/// Returns the text of an error as it is kept for a run: at most
/// `max_run_error` bytes of UTF-8.
[[nodiscard]] std::string error_of_run(std::string_view text);

/// Kept run of a conversation, as it is in a store.
///
/// @threads a value.
struct stored_run : memberwise {
  stored_run() = default;

  run_id id;
  /// Key of the conversation, e.g. `/agent/chat`.
  std::string agent;
  session_id session;
  /// In an answer, a run that is stored as running reads as expired if its
  /// heartbeat is late: its process is gone.
  run_status status = run_status::running;
  /// Snapshot with which the run has ended, or its last one; may be empty.
  snapshot_id snapshot;
  /// Error of a run that has failed or was aborted.
  errc code = errc::ok;
  std::string error;
  /// Process of the run, as text for people.
  std::string owner;
  /// Time between two heartbeats, at most `max_run_beat`; zero for a run that
  /// never expires.
  caf::timespan beat{0};
  /// Times of the store.
  timestamp began_at;
  timestamp beat_at;
  timestamp ended_at; ///< zero while the run is running
};

BOOST_DESCRIBE_STRUCT(stored_run, (),
                      (id, agent, session, status, snapshot, code, error, owner,
                       beat, began_at, beat_at, ended_at))

/// Request of a run to begin, to beat, or to end, with its present state. The
/// store sets the times. The reply is the run as it is afterwards: a run that
/// is over is not changed, so that a run learns from a heartbeat that it was
/// aborted.
///
/// The begin of a run erases the runs of its agent that have ended before the
/// retention, and those whose last heartbeat is as old. A run that was aborted
/// is kept for as long as its process may need to notice that.
///
/// `invalid_argument` for a run without id, agent or session, with an unknown
/// status or the status expired, with a heartbeat out of range or a negative
/// retention; `already_exists` if a run of another agent has the id.
struct save_run_request : memberwise {
  save_run_request() = default;
  explicit save_run_request(stored_run run, caf::timespan retention
                                            = std::chrono::hours{24 * 7})
    : run(std::move(run)), retention(retention) {}

  stored_run run;
  /// Time for which runs that are over are kept; not negative.
  caf::timespan retention = std::chrono::hours{24 * 7};
};

BOOST_DESCRIBE_STRUCT(save_run_request, (), (run, retention))

/// Reference to a run: by its id, or the last one of a session.
struct run_ref : memberwise {
  run_ref() = default;
  run_ref(std::string agent, run_id run, session_id session = {})
    : agent(std::move(agent)), run(std::move(run)),
      session(std::move(session)) {}

  /// Key of the conversation; may be empty for an id.
  std::string agent;
  run_id run;
  /// Read only without an id.
  session_id session;
};

BOOST_DESCRIBE_STRUCT(run_ref, (), (agent, run, session))

/// Request for a run. `not_found` if there is none; `invalid_argument` for a
/// reference with neither an id nor an agent and a session; `data_loss` if it
/// is damaged.
struct get_run_request : memberwise {
  get_run_request() = default;
  explicit get_run_request(run_ref target) : target(std::move(target)) {}

  run_ref target;
};

BOOST_DESCRIBE_STRUCT(get_run_request, (), (target))

/// Request to abort a run, whichever process runs it: that one learns it from
/// its next heartbeat. The reply is the run as it was before. A run that is
/// over is not changed. Errors as for `get_run_request`.
struct abort_run_request : memberwise {
  abort_run_request() = default;
  explicit abort_run_request(run_ref target) : target(std::move(target)) {}

  run_ref target;
};

BOOST_DESCRIBE_STRUCT(abort_run_request, (), (target))

/// Request for a page of runs, from the one that began last to the one that
/// began first.
struct list_runs_request : memberwise {
  list_runs_request() = default;

  /// Key of the conversation; empty for all.
  std::string agent;
  /// Session of the runs; empty for all.
  session_id session;
  /// Caller whose sessions they have; empty for all.
  caller_name caller;
  /// Status of the runs, with `expired` derived; empty for all.
  std::optional<run_status> status;
  /// Run after which the page begins; empty for the first page. `not_found` if
  /// it is erased.
  run_id after;
  /// Maximum length of the page, clamped to the range from 1 to `max_page`.
  std::uint32_t limit = 100;
};

BOOST_DESCRIBE_STRUCT(list_runs_request, (),
                      (agent, session, caller, status, after, limit))

/// One page of runs.
struct run_page : memberwise {
  run_page() = default;

  std::vector<stored_run> runs;
  /// True if more runs follow the last one.
  bool more = false;
};

BOOST_DESCRIBE_STRUCT(run_page, (), (runs, more))

} // namespace tertulia

TERTULIA_COMPILED_ONCE(tertulia::abort_run_request)
TERTULIA_COMPILED_ONCE(tertulia::get_run_request)
TERTULIA_COMPILED_ONCE(tertulia::list_runs_request)
TERTULIA_COMPILED_ONCE(tertulia::run_page)
TERTULIA_COMPILED_ONCE(tertulia::save_run_request)
TERTULIA_COMPILED_ONCE(tertulia::stored_run)
