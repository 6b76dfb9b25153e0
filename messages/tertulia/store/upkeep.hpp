// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/identifier.hpp>
#include <tertulia/store/damage.hpp>
#include <tertulia/store/names.hpp>

#include <caf/meta/type_name.hpp>
#include <caf/timestamp.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// What a store is told to part with, and what came of it.

namespace tertulia {

/// Erase a session with all its records, and what no other session shares;
/// `not_found`.
struct delete_session {
  delete_session() = default;
  explicit delete_session(session_ref which) : which(std::move(which)) {}

  session_ref which;

  friend bool operator==(const delete_session&, const delete_session&)
    = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, delete_session& x) {
  return f(caf::meta::type_name("tertulia::delete_session"), x.which);
}

/// Drop records that nobody is likely to want. Heads and labelled records stay;
/// the children of a dropped record hang on its nearest ancestor that stays, so
/// that what was active stays active. Indexes and numbers stay as they were.
///
/// What lists leave out because it is damaged stays as well, and is named: a
/// record, or a session with all that it has. Neither counts among the newest.
///
/// One session is pruned as a whole or not at all. If something fails that is
/// no damage, such as a disk that is full, others may have been pruned by then.
struct prune_snapshots {
  prune_snapshots() = default;

  /// Key of an agent whose sessions are meant; empty for all agents.
  std::string agent;
  /// One session of the agent; empty for all.
  session_id session;
  /// Drop what was made before this time.
  caf::timestamp created_before = caf::timestamp::max();
  /// Of each session, keep this many of the newest records whatever their age.
  std::uint64_t keep_newest = 0;

  friend bool operator==(const prune_snapshots&, const prune_snapshots&)
    = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, prune_snapshots& x) {
  return f(caf::meta::type_name("tertulia::prune_snapshots"), x.agent,
           x.session, x.created_before, x.keep_newest);
}

/// What `delete_session` and `prune_snapshots` took away.
struct erased {
  erased() = default;
  erased(std::uint64_t records, std::uint64_t states,
         std::vector<damage> damages = {})
    : records(records), states(states), damages(std::move(damages)) {}

  std::uint64_t records = 0;
  /// States that nothing refers to any more.
  std::uint64_t states = 0;
  /// What was not pruned because it has not stayed what it was. Nothing says
  /// whether it would have been.
  std::vector<damage> damages;

  friend bool operator==(const erased&, const erased&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, erased& x) {
  return f(caf::meta::type_name("tertulia::erased"), x.records, x.states,
           x.damages);
}

/// Give back to the disk what was erased. Nothing that is kept changes. A store
/// in a file writes it anew, which needs room for a second one meanwhile, and
/// serves nobody else until that is done; `resource_exhausted` without the
/// room. A store without a file has nothing to do.
struct vacuum_store {
  vacuum_store() noexcept {}

  friend bool operator==(const vacuum_store&, const vacuum_store&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, vacuum_store&) {
  return f(caf::meta::type_name("tertulia::vacuum_store"));
}

/// What `vacuum_store` has come to.
struct vacuumed {
  vacuumed() = default;
  vacuumed(std::uint64_t bytes_before, std::uint64_t bytes_after)
    : bytes_before(bytes_before), bytes_after(bytes_after) {}

  /// The size of the file; 0 without one.
  std::uint64_t bytes_before = 0;
  std::uint64_t bytes_after = 0;

  friend bool operator==(const vacuumed&, const vacuumed&) = default;
};

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, vacuumed& x) {
  return f(caf::meta::type_name("tertulia::vacuumed"), x.bytes_before,
           x.bytes_after);
}

} // namespace tertulia
