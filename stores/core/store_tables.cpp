// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/caller.hpp>
#include <tertulia/store_rules.hpp>
#include <tertulia/store_tables.hpp>

#include <caf/timestamp.hpp>

#include <algorithm>
#include <tuple>

namespace tertulia {

// -- leases -------------------------------------------------------------------

std::uint64_t store_tables::next_fence() {
  // The first fence is a time.
  if (last_fence_ == 0)
    last_fence_ = static_cast<std::uint64_t>(
      caf::make_timestamp().time_since_epoch().count());
  return ++last_fence_;
}

std::uint64_t store_tables::add_lease(const session_ref& name) {
  return fences_[name] = next_fence();
}

std::uint64_t store_tables::fence_of(const session_ref& name) {
  const auto found = fences_.find(name);
  return found != fences_.end() ? found->second : 0;
}

void store_tables::erase_lease(const session_ref& name) {
  fences_.erase(name);
}

// -- runs ---------------------------------------------------------------------

store_tables::run_place store_tables::place_of(const stored_run& x) {
  return {x.agent, x.session, x.began_at, x.id};
}

void store_tables::write(const stored_run& x) {
  const auto [i, is_new] = runs_.try_emplace(x.id, x);
  if (!is_new) {
    run_places_.erase(place_of(i->second));
    i->second = x;
  }
  run_places_.insert(place_of(x));
}

std::optional<stored_run> store_tables::find_run(const run_id& id) {
  const auto found = runs_.find(id);
  if (found == runs_.end())
    return std::nullopt;
  return found->second;
}

void store_tables::list_runs(const list_runs_request& wanted,
                             const stored_run* after,
                             const std::function<bool(stored_run)>& fn) {
  if (!wanted.agent.empty() && wanted.session) {
    auto i = run_places_.lower_bound(
      {wanted.agent, wanted.session,
       after != nullptr ? after->began_at : timestamp::max(),
       after != nullptr ? after->id : run_id{}});
    while (i != run_places_.begin()) {
      --i;
      const auto& [agent, session, began_at, id] = *i;
      if (agent != wanted.agent || session != wanted.session
          || !fn(runs_.at(id)))
        return;
    }
    return;
  }
  const auto is_later = [](const stored_run* x, const stored_run* y) {
    return std::tie(x->began_at, x->id) > std::tie(y->began_at, y->id);
  };
  std::vector<const stored_run*> all;
  for (const auto& [id, x] : runs_)
    if ((wanted.agent.empty() || x.agent == wanted.agent)
        && (!wanted.session || x.session == wanted.session)
        && (!wanted.caller || owns(wanted.caller, x.session))
        && (after == nullptr || is_later(after, &x)))
      all.push_back(&x);
  std::sort(all.begin(), all.end(), is_later);
  for (const auto* x : all)
    if (!fn(*x))
      return;
}

void store_tables::erase_runs(const std::string& agent, timestamp before,
                              timestamp now) {
  // The bound of an agent is not after the last time of any of its runs, so
  // that a pass is made only if it may erase something.
  const auto [place, is_new] = run_bounds_.try_emplace(agent, before);
  auto& bound = place->second;
  if (!is_new && before <= bound)
    return;
  bound = now;
  std::erase_if(runs_, [&](const auto& entry) {
    const auto& x = entry.second;
    if (x.agent != agent)
      return false;
    const auto is_running = x.status == run_status::running;
    const auto last = is_running ? x.beat_at : x.ended_at;
    if (last < before
        && (rules::is_late(x, last, now)
            || (!is_running && x.beat.count() == 0))) {
      run_places_.erase(place_of(x));
      return true;
    }
    bound = std::min(bound, last);
    return false;
  });
}

// -- lookups ------------------------------------------------------------------

void store_tables::list_sessions(const list_sessions_request& wanted,
                                 const std::function<bool(session_row)>& fn) {
  std::vector<session_row> later;
  const auto after = std::max(wanted.after, session_ref{wanted.agent, {}});
  for_each_session(after, [&](session_row next) {
    if (!wanted.agent.empty() && next.info.agent != wanted.agent)
      return false;
    if (next.info.updated_at < wanted.updated_since
        || (!wanted.label.empty() && !has_label(next.key, wanted.label)))
      return true;
    if (wanted.order == session_order::by_name)
      return fn(std::move(next));
    later.push_back(std::move(next));
    return true;
  });
  std::sort(later.begin(), later.end(), [](const auto& x, const auto& y) {
    return std::tie(x.info.updated_at, x.info.id)
           > std::tie(y.info.updated_at, y.info.id);
  });
  for (auto& next : later)
    if (!fn(std::move(next)))
      return;
}

bool store_tables::has_label(std::int64_t session, const std::string& label) {
  auto result = false;
  for_each_record(session, 1, rules::max_sequence, [&](const record_row& x) {
    result = std::binary_search(x.labels.begin(), x.labels.end(), label);
    return !result;
  });
  return result;
}

std::vector<session_row> store_tables::sessions_with(const std::string& agent,
                                                     const snapshot_id& id,
                                                     std::size_t limit) {
  std::vector<session_row> result;
  for_each_session({agent, {}}, [&](session_row next) {
    if (next.info.agent != agent || result.size() == limit)
      return false;
    if (!records_with(next.key, id).empty())
      result.push_back(std::move(next));
    return true;
  });
  return result;
}

std::vector<std::uint64_t> store_tables::records_with(std::int64_t session,
                                                      const snapshot_id& id) {
  std::vector<std::uint64_t> result;
  for_each_record(session, 1, rules::max_sequence, [&](const record_row& x) {
    if (x.id() == id)
      result.push_back(x.sequence);
    return true;
  });
  std::reverse(result.begin(), result.end());
  return result;
}

bool store_tables::has_state(const content_row& x) {
  auto result = false;
  for_each_session({}, [&](const session_row& in) {
    for_each_record(in.key, 1, rules::max_sequence, [&](const record_row& y) {
      result = y.is_whole && y.content.is_same_state(x);
      return !result;
    });
    return !result;
  });
  return result;
}

std::pair<std::uint64_t, std::uint64_t>
store_tables::count_records(std::int64_t session) {
  std::pair<std::uint64_t, std::uint64_t> result;
  for_each_record(session, 1, rules::max_sequence, [&](const record_row& x) {
    result = {result.first + 1, x.sequence};
    return true;
  });
  return result;
}

std::uint64_t store_tables::count_whole_records(std::int64_t session) {
  std::uint64_t result = 0;
  for_each_record(session, 1, rules::max_sequence, [&](const record_row& x) {
    result += x.is_whole ? 1 : 0;
    return true;
  });
  return result;
}

} // namespace tertulia
