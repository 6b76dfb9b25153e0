// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/status.hpp>
#include <tertulia/store_rules.hpp>

#include <caf/timestamp.hpp>

#include <algorithm>
#include <utility>

#include "row_damage.hpp"
#include "store_verbs.hpp"

// Requests that manage sessions from outside.

namespace tertulia {

snapshot_record store_verbs::answer(const label_snapshot_request& x) {
  auto [in, what] = find(x.target);
  rules::relabel(what.labels, x.add, x.remove);
  tables_.write(what);
  return record_of(in, what, !is_active(in, what.sequence));
}

snapshot_record store_verbs::answer(const annotate_snapshot_request& x) {
  rules::check(x);
  auto [in, what] = find(x.target);
  what.note = x.note;
  tables_.write(what);
  return record_of(in, what, !is_active(in, what.sequence));
}

session_info store_verbs::answer(const title_session_request& x) {
  rules::check(x);
  auto in = find_known(x.target);
  in.info.title = x.title;
  tables_.write(in);
  return std::move(in.info);
}

erase_result store_verbs::answer(const delete_session_request& x) {
  rules::check_known(x.target);
  const auto in = find_any(x.target); // damaged sessions, too
  if (!in)
    rules::reject_unknown(x.target);
  std::uint64_t records = 0;
  auto is_damaged = !in->is_whole;
  std::vector<content_row> states;
  std::vector<std::int64_t> values{in->content.custom, in->content.artifacts};
  tables_.for_each_record(in->key, 1, rules::max_sequence, [&](record_row y) {
    ++records;
    is_damaged = is_damaged || !y.is_whole;
    values.insert(values.end(), {y.content.custom, y.content.artifacts});
    if (y.is_whole)
      states.push_back(std::move(y.content));
    return true;
  });
  tables_.erase(*in);
  if (tables_.fence_of(x.target) != 0)
    tables_.erase_lease(x.target);
  contents_.forget(in->key);
  if (is_damaged) // what a damaged row needs is unknown
    values = contents_.values_of(in->key);
  sweep(in->key, {}, values);
  return {records, count_gone(std::move(states))};
}

session_info store_verbs::answer(const copy_session_request& x) {
  rules::check(x);
  auto from = find_known(x.from);
  auto made = from;
  std::vector<stretch> all;
  if (x.up_to == 0) {
    expect_all_records(from); // else the copy would hide damage
    all.push_back({1, from.last_sequence});
  } else {
    const auto tip = find(from, x.up_to);
    if (!tip)
      rules::reject_unknown(snapshot_ref{x.from, x.up_to});
    made.info.head = x.up_to;
    all = active(made, 0);
    expect_way(from, all);
    made.info.next_turn
      = next_turn_after(record_of(from, *tip, nullptr, false));
    made.last_sequence = x.up_to;
    made.content = tip->content;
    try {
      rules::describe(made.info, contents_.load(made.content, nullptr));
    } catch (const status_error& error) {
      if (error.code() != errc::data_loss)
        throw;
      rules::describe(made.info, {}); // its content is unknown
    }
  }
  if (find(x.to))
    rules::reject_existing(x.to);

  if (x.up_to == 0) {
    contents_.seal(from);
    tables_.write(from);
  }
  made.key = tables_.add(x.to);
  made.info.agent = x.to.agent;
  made.info.id = x.to.id;
  made.info.created_at = caf::make_timestamp();
  made.info.updated_at = made.info.created_at;
  made.info.records = 0;
  made.sealed = session_row::not_owned;
  made.owns_custom = false;
  made.owns_artifacts = false;
  std::vector<content_row> states{made.content};
  for (auto i = all.rbegin(); i != all.rend(); ++i)
    tables_.for_each_record(from.key, i->first, i->last, [&](record_row next) {
      next.session = made.key;
      tables_.write(next);
      ++made.info.records;
      states.push_back(std::move(next.content));
      return true;
    });
  contents_.share(made.key, states);
  tables_.write(made);
  contents_.remember_copy(from, made);
  return std::move(made.info);
}

vacuum_result store_verbs::answer(const vacuum_store_request&) {
  tables_.expect_in_place();
  return tables_.vacuum();
}

// -- sweeping -----------------------------------------------------------------

std::optional<std::vector<content_row>>
store_verbs::states_of(std::int64_t session) {
  std::vector<content_row> result;
  auto is_known = true;
  try {
    if (const auto in = tables_.find_session(session)) { // else it is erased
      is_known = in->is_whole;
      result.push_back(in->content);
    }
    tables_.for_each_record(session, 1, rules::max_sequence, [&](record_row x) {
      is_known = is_known && x.is_whole;
      result.push_back(std::move(x.content));
      return is_known;
    });
  } catch (const status_error& error) {
    if (error.code() != errc::data_loss)
      throw;
    is_known = false;
  }
  if (!is_known)
    return std::nullopt;
  return result;
}

void store_verbs::sweep(std::int64_t session,
                        const std::vector<content_row>& needed,
                        const std::vector<std::int64_t>& values) {
  for (const auto& [owner, item] : contents_.sweep(session, needed, values))
    if (const auto states = states_of(owner))
      sweep(owner, *states, {item});
}

std::uint64_t store_verbs::count_gone(std::vector<content_row> states) {
  std::sort(states.begin(), states.end(),
            [](const auto& x, const auto& y) { return x.id < y.id; });
  std::uint64_t result = 0;
  auto same_id = states.begin();
  for (auto i = states.begin(); i != states.end(); ++i) {
    if (same_id->id != i->id)
      same_id = i;
    const auto is_repeated = std::any_of(same_id, i, [&](const auto& x) {
      return x.is_same_state(*i);
    });
    if (!is_repeated && !tables_.has_state(*i))
      ++result;
  }
  return result;
}

} // namespace tertulia
