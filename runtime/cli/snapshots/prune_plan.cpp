// SPDX-License-Identifier: BSD-3-Clause

#include "prune_plan.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tertulia::tool {

namespace {

/// Adds the records that one session would lose.
void plan_session(prune_plan& to, store_access& store,
                  const prune_snapshots_request& query, const session_info& x) {
  const auto old_of = [&](std::uint64_t count) {
    return count - std::min(count, query.keep_newest);
  };
  prune_plan::entry result{{x.agent, x.id}, {}};
  std::vector<std::uint64_t> places;
  std::uint64_t readable = 0;
  auto damages
    = store.each_record(result.session, [&](const snapshot_record& y) {
        const auto place = readable++;
        if (place < old_of(x.records) && y.sequence != x.head
            && y.labels.empty() && y.created_at < query.created_before) {
          result.dropped.push_back(y);
          places.push_back(place);
        }
        return true;
      });
  // Damaged records do not count as newest, so fewer records are old.
  while (!places.empty() && places.back() >= old_of(readable)) {
    places.pop_back();
    result.dropped.pop_back();
  }
  to.records += x.records;
  to.dropped += result.dropped.size();
  std::move(damages.begin(), damages.end(), std::back_inserter(to.damages));
  if (!result.dropped.empty())
    to.sessions.push_back(std::move(result));
}

/// Adds the records that one session would lose, or its damage if it cannot be
/// read.
void try_session(prune_plan& to, store_access& store,
                 const prune_snapshots_request& query, const session_info& x) {
  try {
    plan_session(to, store, query, x);
  } catch (const status_error& error) {
    if (error.code() != errc::data_loss)
      throw;
    to.damages.emplace_back(damage_kind::corrupt, session_ref{x.agent, x.id}, 0,
                            state_id{}, error.message());
  }
}

} // namespace

prune_plan plan_prune(store_access& store, const prune_snapshots_request& query,
                      progress& bar) {
  prune_plan result;
  if (!query.session.empty()) {
    const auto found = store.ask<stored_session>(
      get_session_request{{query.agent, query.session}, detail_level::record});
    try_session(result, store, query, found.info);
    return result;
  }
  std::uint64_t seen = 0;
  auto damages = store.each_session(query.agent, [&](const session_info& x) {
    try_session(result, store, query, x);
    bar.at(++seen, 0);
    return true;
  });
  std::move(damages.begin(), damages.end(), std::back_inserter(result.damages));
  return result;
}

} // namespace tertulia::tool
