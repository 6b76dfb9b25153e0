// SPDX-License-Identifier: BSD-3-Clause

#include "prune_plan.hpp"

#include <algorithm>
#include <utility>

namespace tertulia::tool {

namespace {

void plan_session(prune_plan& to, store_file& store, const prune_snapshots& how,
                  const session_info& x) {
  const session_ref of{x.agent, x.id};
  const auto old = x.records - std::min(x.records, how.keep_newest);
  prune_plan::entry result{of, {}};
  std::uint64_t i = 0;
  expect_none(store.each_record(of, [&](const snapshot_record& y) {
    if (i++ >= old)
      return false;
    if (y.sequence != x.head && y.labels.empty()
        && y.created_at < how.created_before)
      result.dropped.push_back(y);
    return true;
  }));
  to.records += x.records;
  to.dropped += result.dropped.size();
  if (!result.dropped.empty())
    to.sessions.push_back(std::move(result));
}

} // namespace

prune_plan plan_prune(store_file& store, const prune_snapshots& how,
                      progress& bar) {
  prune_plan result;
  if (!how.session.empty()) {
    const auto found = store.ask<stored_session>(
      get_session{{how.agent, how.session}, detail_level::record});
    plan_session(result, store, how, found.info);
    return result;
  }
  list_sessions all;
  all.agent = how.agent;
  all.updated_since = caf::timestamp::min();
  all.limit = max_page;
  std::uint64_t seen = 0;
  expect_none(store.each_session(all, [&](const session_page& page) {
    for (const auto& x : page.sessions) {
      plan_session(result, store, how, x);
      bar.at(++seen, 0);
    }
    return true;
  }));
  return result;
}

} // namespace tertulia::tool
