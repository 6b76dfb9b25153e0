// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json.hpp>
#include <tertulia/run.hpp>
#include <tertulia/timestamp.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tertulia::web {

/// Run of a list, as clients see it.
struct listed_run {
  run_id id;
  std::string key;
  session_id session;
  run_status status = run_status::running;
  /// Snapshot with which it has ended, or its last one.
  snapshot_id snapshot;
  /// Error with which it has ended.
  std::optional<json> error;
  timestamp began_at;
  std::optional<timestamp> ended_at;
};

BOOST_DESCRIBE_STRUCT(listed_run, (),
                      (id, key, session, status, snapshot, error, began_at,
                       ended_at))

/// Page of runs, as clients see it.
struct run_list {
  std::vector<listed_run> runs;
  bool more = false;
};

BOOST_DESCRIBE_STRUCT(run_list, (), (runs, more))

} // namespace tertulia::web
