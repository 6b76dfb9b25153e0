// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/status.hpp>
#include <tertulia/store_rules.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <unordered_map>
#include <utility>

#include "sqlite_columns.hpp"
#include "sqlite_store_data.hpp"

namespace tertulia {

erase_result sqlite_store_data::answer(const prune_snapshots_request& x) {
  rules::check(x);
  erase_result result;
  if (!x.session.empty()) {
    prune({session_ref{x.agent, x.session}}, x, result);
    return result;
  }
  list_sessions_request all;
  all.agent = x.agent;
  all.updated_since = caf::timestamp::min();
  for (auto more = true; more;) {
    std::vector<session_ref> names;
    more = false;
    for_each_session(all, [&](const session& next) {
      more = names.size() == max_page;
      if (more)
        return false;
      if (next.is_whole)
        names.emplace_back(next.info.agent, next.info.id);
      else
        result.damages.push_back(columns::damage_of(next.info));
      return true;
    });
    prune(names, x, result);
    if (more)
      all.after = names.back();
  }
  return result;
}

void sqlite_store_data::prune(const std::vector<session_ref>& names,
                              const prune_snapshots_request& request,
                              erase_result& to) {
  const auto prune_at_once = [&](auto first, auto last) {
    begin();
    try {
      erase_result here;
      for (; first != last; ++first)
        if (auto in = find(*first))
          prune(*in, request, here);
      commit();
      to.records += here.records;
      to.states += here.states;
      std::move(here.damages.begin(), here.damages.end(),
                std::back_inserter(to.damages));
    } catch (...) {
      roll_back();
      throw;
    }
  };
  try {
    prune_at_once(names.begin(), names.end());
    return;
  } catch (const status_error& error) {
    if (error.code() != errc::data_loss)
      throw;
  }
  hold_.expect_in_place();
  // Pages of one session cannot be read, which must not affect the other
  // sessions.
  for (auto i = names.begin(); i != names.end(); ++i) {
    try {
      prune_at_once(i, i + 1);
    } catch (const status_error& error) {
      if (error.code() != errc::data_loss)
        throw;
      to.damages.emplace_back(damage_kind::corrupt, *i, 0, state_id{},
                              error.message());
    }
  }
}

void sqlite_store_data::prune(session& x,
                              const prune_snapshots_request& request,
                              erase_result& to) {
  struct outline {
    std::uint64_t sequence = 0;
    std::uint64_t parent = 0;
    std::int64_t state = 0;
    bool is_readable = false;
    bool is_old = false;
  };
  std::vector<outline> all;
  {
    auto rows = find_records_
                  .bind_all(x.key, std::uint64_t{1},
                            std::numeric_limits<std::int64_t>::max())
                  .rows();
    while (rows.next()) {
      auto damaged = damage_in(x, rows);
      // A record whose state is damaged is kept, and its parent is known.
      if (is_whole_record(rows))
        all.push_back(
          {rows.count(0), rows.count(1), rows.number(8), !damaged,
           columns::to_time(rows.number(5)) < request.created_before});
      if (damaged)
        to.damages.push_back(std::move(*damaged));
    }
  }

  auto old = static_cast<std::uint64_t>(std::count_if(
    all.begin(), all.end(), [](const outline& y) { return y.is_readable; }));
  old -= std::min(old, request.keep_newest);
  // New parents for the children of dropped records. A parent is older than its
  // children, so it has been decided before its children are visited.
  std::unordered_map<std::uint64_t, std::uint64_t> heirs;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> moved;
  std::vector<std::uint64_t> dropped;
  std::vector<std::int64_t> states;
  for (const auto& y : all) {
    const auto heir = heirs.find(y.parent);
    const auto parent = heir != heirs.end() ? heir->second : y.parent;
    const auto is_old = y.is_readable && old > 0;
    old -= is_old ? 1 : 0;
    if (is_old && y.is_old && y.sequence != x.info.head
        && !has_labels(x, y.sequence)) {
      heirs.emplace(y.sequence, parent);
      dropped.push_back(y.sequence);
      states.push_back(y.state);
    } else if (parent != y.parent) {
      moved.emplace_back(y.sequence, parent);
    }
  }
  if (dropped.empty())
    return;
  for (const auto& [sequence, parent] : moved)
    move_record_.bind_all(x.key, sequence, parent).run();
  for (const auto sequence : dropped)
    erase_record_.bind_all(x.key, sequence).run();
  for (const auto& [sequence, parent] : moved)
    seal(x, sequence);
  x.info.records -= dropped.size();
  write(x);
  std::sort(states.begin(), states.end());
  states.erase(std::unique(states.begin(), states.end()), states.end());
  to.records += dropped.size();
  to.states += release(states);
}

bool sqlite_store_data::has_labels(const session& in, std::uint64_t sequence) {
  return labels_of_.bind_all(in.key, sequence).rows().next();
}

} // namespace tertulia
