// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/compiled_once.hpp>
#include <tertulia/inspect.hpp>
#include <tertulia/store/damage.hpp>
#include <tertulia/store/names.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// Requests to a store to erase data, and its replies.

namespace tertulia {

/// Request to erase a session with all its records, and the data that no other
/// session shares; `not_found` if it does not exist.
struct delete_session_request : memberwise {
  delete_session_request() = default;
  explicit delete_session_request(session_ref session)
    : target(std::move(session)) {}

  session_ref target;
};

BOOST_DESCRIBE_STRUCT(delete_session_request, (), (target))

/// Request to drop records that are unlikely to be needed. Heads and labelled
/// records stay. The children of a dropped record are attached to its nearest
/// ancestor that stays, so active records stay active. Indexes and numbers do
/// not change.
///
/// Damaged data that lists leave out stays as well, and is reported: a record,
/// or a session with all its data. Neither counts among the newest.
///
/// Each session is pruned completely or not at all. If an error other than
/// damage occurs, such as a full disk, other sessions may already be pruned.
struct prune_snapshots_request : store_sweep {
  prune_snapshots_request() = default;

  /// Key of the agent whose sessions are pruned; empty for all agents.
  std::string agent;
  /// One session of the agent; empty for all sessions.
  session_id session;
  /// Only records that were made before this time are dropped.
  timestamp created_before = timestamp::max();
  /// Number of newest records that each session keeps, whatever their age.
  std::uint64_t keep_newest = 0;
};

BOOST_DESCRIBE_STRUCT(prune_snapshots_request, (),
                      (agent, session, created_before, keep_newest))

/// Result of `delete_session_request` and `prune_snapshots_request`.
struct erase_result : memberwise {
  erase_result() = default;
  erase_result(std::uint64_t records, std::uint64_t states,
               std::vector<damage> damages = {})
    : records(records), states(states), damages(std::move(damages)) {}

  std::uint64_t records = 0;
  /// Number of states that are no longer referenced.
  std::uint64_t states = 0;
  /// Data that was not pruned because it is damaged. It is unknown whether it
  /// would have been pruned otherwise.
  std::vector<damage> damages;
};

BOOST_DESCRIBE_STRUCT(erase_result, (), (records, states, damages))

/// Request to return the space of erased data to the disk. The remaining data
/// does not change. A store in a file rewrites the file, which temporarily
/// needs space for a second one, and serves no other request until that is
/// done; `resource_exhausted` without the space. A store without a file does
/// nothing.
struct vacuum_store_request : store_sweep {
  vacuum_store_request() noexcept {}
};

BOOST_DESCRIBE_STRUCT(vacuum_store_request, (), ())

/// Result of `vacuum_store_request`.
struct vacuum_result : memberwise {
  vacuum_result() = default;
  vacuum_result(std::uint64_t bytes_before, std::uint64_t bytes_after)
    : bytes_before(bytes_before), bytes_after(bytes_after) {}

  /// Size of the file in bytes, before and after; 0 without a file.
  std::uint64_t bytes_before = 0;
  std::uint64_t bytes_after = 0;
};

BOOST_DESCRIBE_STRUCT(vacuum_result, (), (bytes_before, bytes_after))

} // namespace tertulia

TERTULIA_COMPILED_ONCE(tertulia::delete_session_request)
TERTULIA_COMPILED_ONCE(tertulia::erase_result)
TERTULIA_COMPILED_ONCE(tertulia::prune_snapshots_request)
TERTULIA_COMPILED_ONCE(tertulia::vacuum_result)
TERTULIA_COMPILED_ONCE(tertulia::vacuum_store_request)
