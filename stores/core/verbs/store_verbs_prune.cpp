// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/status.hpp>
#include <tertulia/store_rules.hpp>

#include <algorithm>
#include <iterator>
#include <set>
#include <unordered_map>
#include <utility>

#include "contents/row_damage.hpp"
#include "store_data.hpp"

namespace tertulia {

namespace {

/// Prunes one session and adds the result to `to`.
void prune(store_data& data, session_row& x,
           const prune_snapshots_request& request, erase_result& to) {
  std::vector<record_row> all;
  std::set<std::uint64_t> parents_of_damaged;
  data.tables().for_each_record(
    x.key, 1, rules::max_sequence, [&](record_row next) {
      if (next.is_whole) {
        all.push_back(std::move(next));
      } else {
        parents_of_damaged.insert(next.parent);
        to.damages.push_back(rules::damage_of(x, next));
      }
      return true;
    });

  const auto kept_newest
    = std::min<std::uint64_t>(all.size(), request.keep_newest);
  const auto first_new = all.end() - static_cast<std::ptrdiff_t>(kept_newest);
  // New parents for the children of dropped records. A parent is older than its
  // children, so it has been decided before its children are visited.
  std::unordered_map<std::uint64_t, std::uint64_t> heirs;
  std::vector<content_row> gone;
  std::vector<std::int64_t> values;
  std::vector<content_row> needed{x.content};
  for (auto i = all.begin(); i != all.end(); ++i) {
    const auto heir = heirs.find(i->parent);
    const auto parent = heir != heirs.end() ? heir->second : i->parent;
    if (i < first_new && i->created_at < request.created_before
        && i->sequence != x.info.head && i->labels.empty()
        && !parents_of_damaged.contains(i->sequence)) {
      heirs.emplace(i->sequence, parent);
      data.tables().erase(*i);
      values.insert(values.end(), {i->content.custom, i->content.artifacts});
      gone.push_back(std::move(i->content));
      continue;
    }
    needed.push_back(i->content);
    if (parent != i->parent) {
      i->parent = parent;
      data.tables().write(*i);
    }
  }
  if (gone.empty())
    return;
  x.info.records -= gone.size();
  data.tables().write(x);
  to.records += gone.size();
  // What damaged records need is unknown, so everything stays.
  if (parents_of_damaged.empty())
    data.sweep(x.key, needed, values);
  to.states += data.count_gone(std::move(gone));
}

/// Prunes sessions, all in one transaction or, if that fails, one by one, and
/// adds the result to `to`.
void prune(store_data& data, const std::vector<session_ref>& names,
           const prune_snapshots_request& request, erase_result& to) {
  const auto prune_at_once = [&](auto first, auto last) {
    data.begin();
    try {
      erase_result here;
      for (; first != last; ++first)
        if (auto in = data.find(*first))
          prune(data, *in, request, here);
      data.commit();
      to.records += here.records;
      to.states += here.states;
      std::move(here.damages.begin(), here.damages.end(),
                std::back_inserter(to.damages));
    } catch (...) {
      data.roll_back();
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
  data.tables().expect_in_place();
  // Data of one session cannot be read, which must not affect the other
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

} // namespace

erase_result answer(store_data& data, prune_snapshots_request x) {
  rules::check(x);
  erase_result result;
  if (!x.session.empty()) {
    prune(data, {session_ref{x.agent, x.session}}, x, result);
    return result;
  }
  list_sessions_request all;
  all.agent = x.agent;
  all.updated_since = timestamp::min();
  for (auto more = true; more;) {
    std::vector<session_ref> names;
    more = false;
    data.tables().list_sessions(all, [&](const session_row& next) {
      more = names.size() == max_page;
      if (more)
        return false;
      if (next.is_whole)
        names.push_back(next.name());
      else
        result.damages.push_back(rules::damage_of(next));
      return true;
    });
    prune(data, names, x, result);
    if (more)
      all.after = names.back();
  }
  return result;
}

} // namespace tertulia
