// SPDX-License-Identifier: BSD-3-Clause

#include "store_data.hpp"

#include <tertulia/status.hpp>
#include <tertulia/store_rules.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include "contents/row_damage.hpp"
#include <fmt/format.h>

namespace tertulia {

// -- transactions -------------------------------------------------------------

void store_data::begin() {
  tables_.begin();
  written_before_ = tables_.written();
}

void store_data::commit() {
  try {
    tables_.expect_in_place();
    tables_.commit();
    if (tables_.written() != written_before_) // else the engine writes nothing
      counts_->commit();
  } catch (...) {
    roll_back();
    throw;
  }
}

void store_data::roll_back() noexcept {
  contents_.forget_all();
  listed_ = {};
  tables_.roll_back();
}

// -- finding ------------------------------------------------------------------

std::optional<session_row> store_data::find_any(const session_ref& x) {
  auto result = tables_.find_session(x);
  if (result && result->name() != x) { // the index contradicts the row
    result->info.agent = x.agent;
    result->info.id = x.id;
    rules::reject(rules::damage_of(*result));
  }
  return result;
}

std::optional<session_row> store_data::find(const session_ref& x) {
  auto result = find_any(x);
  if (result && !result->is_whole)
    rules::reject(rules::damage_of(*result));
  return result;
}

session_row store_data::find_known(const session_ref& x) {
  auto result = find(x);
  if (!result)
    rules::reject_unknown(x);
  return std::move(*result);
}

std::optional<record_row> store_data::find_any(const session_row& in,
                                               std::uint64_t sequence) {
  std::optional<record_row> result;
  if (sequence <= rules::max_sequence)
    tables_.for_each_record(in.key, sequence, sequence, [&](record_row x) {
      result = std::move(x);
      return false;
    });
  return result;
}

std::optional<record_row> store_data::find(const session_row& in,
                                           std::uint64_t sequence) {
  auto result = find_any(in, sequence);
  if (result && !result->is_whole)
    rules::reject(rules::damage_of(in, *result));
  if (!result && sequence <= in.last_sequence)
    expect_all_records(in);
  return result;
}

std::optional<record_row> store_data::find(const session_row& in,
                                           const snapshot_id& id) {
  std::uint64_t newest = 0;
  for (const auto sequence : tables_.records_with(in.key, id)) {
    const auto active = is_active(in, sequence);
    if (newest == 0 || active)
      newest = sequence;
    if (active)
      break;
  }
  if (newest == 0) {
    expect_all_records(in); // it might be an unreadable one
    return std::nullopt;
  }
  auto result = find(in, newest);
  if (result && result->id() != id) // the index contradicts the record
    rules::reject(rules::damage_of(in));
  return result;
}

store_data::found store_data::find(const snapshot_ref& x) {
  rules::check(x);
  if (auto result = find_stored(x))
    return std::move(*result);
  // The id of a run is reserved for the snapshot with which it ends.
  const auto run = x.id.empty() || x.sequence != 0
                     ? std::nullopt
                     : tables_.find_run(run_id{x.id.str()});
  if (run && run->agent == x.agent
      && (x.session.empty() || x.session == run->session)) {
    rules::check_complete(*run, caf::make_timestamp());
    if (run->snapshot)
      if (auto result = find_stored({run->agent, run->session, run->snapshot}))
        return std::move(*result);
  }
  rules::reject_unknown(x);
}

std::optional<store_data::found>
store_data::find_stored(const snapshot_ref& x) {
  if (!x.session.empty()) {
    auto in = find(session_ref{x.agent, x.session});
    if (!in)
      return std::nullopt;
    auto what = x.sequence != 0 ? find(*in, x.sequence) : find(*in, x.id);
    if (!what || (!x.id.empty() && what->id() != x.id))
      return std::nullopt;
    return found{std::move(*in), std::move(*what)};
  }

  auto sessions
    = tables_.sessions_with(x.agent, x.id, rules::named_sessions + 1);
  for (const auto& in : sessions)
    if (!in.is_whole)
      rules::reject(rules::damage_of(in));
  if (sessions.size() > 1) {
    std::vector<std::string> names;
    names.reserve(sessions.size());
    for (const auto& in : sessions)
      names.push_back(in.info.id.str());
    rules::reject_ambiguous(x, std::move(names));
  }
  auto what = sessions.empty() ? std::nullopt : find(sessions.front(), x.id);
  if (!what)
    return std::nullopt;
  return found{std::move(sessions.front()), std::move(*what)};
}

std::optional<record_row> store_data::first_whole(std::int64_t session,
                                                  std::uint64_t first,
                                                  std::uint64_t last) {
  std::optional<record_row> result;
  try {
    tables_.for_each_record(session, first, last, [&](record_row x) {
      if (x.is_whole)
        result = std::move(x);
      return false;
    });
  } catch (const status_error& error) {
    if (error.code() != errc::data_loss)
      throw;
  }
  return result;
}

void store_data::expect_all_records(const session_row& in) {
  const auto whole = tables_.count_whole_records(in.key);
  if (whole == in.info.records)
    return;
  auto what = fmt::format("has {} records, of which {} can be read",
                          in.info.records, whole);
  tables_.for_each_record(
    in.key, 1, rules::max_sequence, [&](const record_row& x) {
      if (!x.is_whole)
        what += fmt::format(": record {} is corrupt", x.sequence);
      return x.is_whole;
    });
  rules::reject(rules::damage_of(damage_kind::corrupt, in, 0, what));
}

void store_data::expect_way(const session_row& in,
                            const std::vector<stretch>& way) {
  std::uint64_t before = 0;
  for (auto i = way.rbegin(); i != way.rend(); ++i)
    tables_.for_each_record(
      in.key, i->first, i->last, [&](const record_row& x) {
        if (!x.is_whole)
          rules::reject(rules::damage_of(in, x));
        if (x.parent != before) // each record on a path follows the one before
          rules::reject(
            rules::damage_of(damage_kind::missing, in, x.parent, "is missing"));
        before = x.sequence;
        return true;
      });
}

// -- active records -----------------------------------------------------------

std::vector<store_data::stretch> store_data::active(const session_row& x,
                                                    std::uint64_t until) {
  std::vector<stretch> result;
  auto last = x.info.head;
  while (last != 0) {
    // If the path is damaged, its continuation is unknown. The records below
    // count as active, because damage to one record must not hide another.
    stretch next{1, last};
    if (const auto tip = first_whole(x.key, last, last))
      next.first = std::clamp<std::uint64_t>(tip->run, 1, last);
    result.push_back(next);
    if (next.first <= until)
      break;
    // The first remaining record of the run has the parent at which the path
    // continues.
    const auto behind = next.first - 1;
    const auto first = first_whole(x.key, next.first, last);
    last = first ? std::min(first->parent, behind) : behind;
  }
  return result;
}

bool store_data::is_active(const session_row& x, std::uint64_t sequence) {
  if (sequence == x.info.head || x.info.head == 0)
    return x.info.head != 0;
  const auto last = active(x, sequence).back();
  return last.first <= sequence && sequence <= last.last;
}

// -- records as the protocol shows them ---------------------------------------

snapshot_record store_data::record_of(const session_row& in,
                                      const record_row& x,
                                      const record_row* parent, bool orphaned) {
  snapshot_record result;
  result.agent = in.info.agent;
  result.session = in.info.id;
  result.sequence = x.sequence;
  result.id = x.id();
  result.state = x.content.id;
  result.type = x.content.type;
  result.parent = x.parent;
  if (parent != nullptr)
    result.parent_id = parent->id();
  result.index = x.index;
  result.turn_index = x.turn_index;
  result.event = x.event;
  result.finish_reason = x.finish_reason;
  result.inputs = x.inputs;
  result.created_at = x.created_at;
  result.labels = x.labels;
  result.note = x.note;
  result.orphaned = orphaned;
  return result;
}

snapshot_record store_data::record_of(const session_row& in,
                                      const record_row& x, bool orphaned) {
  const auto parent
    = x.parent != 0 ? first_whole(in.key, x.parent, x.parent) : std::nullopt;
  return record_of(in, x, parent ? &*parent : nullptr, orphaned);
}

// -- sweeping -----------------------------------------------------------------

std::optional<std::vector<content_row>>
store_data::states_of(std::int64_t session) {
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

void store_data::sweep(std::int64_t session,
                       const std::vector<content_row>& needed,
                       const std::vector<std::int64_t>& values) {
  for (const auto& [owner, item] : contents_.sweep(session, needed, values))
    if (const auto states = states_of(owner))
      sweep(owner, *states, {item});
}

std::uint64_t store_data::count_gone(std::vector<content_row> states) {
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
