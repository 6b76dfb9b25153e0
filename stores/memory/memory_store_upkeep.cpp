// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/store_rules.hpp>

#include <caf/timestamp.hpp>

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

#include "memory_store_data.hpp"

namespace tertulia {

session_page memory_store_data::answer(const list_sessions_request& x) const {
  rules::check(x);
  session_page result;
  const auto by_change = x.order == session_order::by_change;
  const std::size_t size = rules::page_size(x.limit);
  const auto most = by_change ? sessions_.size() : size;
  auto i = sessions_.upper_bound(x.after);
  if (!x.agent.empty() && x.after.agent < x.agent)
    i = sessions_.lower_bound(session_ref{x.agent, {}});
  for (; i != sessions_.end(); ++i) {
    const auto& session = i->second;
    if (!x.agent.empty() && session.info.agent != x.agent)
      break;
    if (session.info.updated_at < x.updated_since
        || (!x.label.empty() && !session.labels.contains(x.label)))
      continue;
    if (result.sessions.size() == most) {
      result.more = true;
      break;
    }
    result.sessions.push_back(session.info);
  }
  if (by_change) {
    auto& all = result.sessions;
    std::sort(all.begin(), all.end(), [](const auto& y, const auto& z) {
      return std::tie(y.updated_at, y.id) > std::tie(z.updated_at, z.id);
    });
    result.more = all.size() > size;
    all.resize(std::min(all.size(), size));
  }
  return result;
}

snapshot_record memory_store_data::answer(const label_snapshot_request& x) {
  const auto [known, record] = find(x.target);
  auto labels = record->labels;
  rules::relabel(labels, x.add, x.remove);
  auto& session = writable(*known);
  auto& changed = *session.find(record->sequence);
  session.discount_labels(changed);
  changed.labels = std::move(labels);
  session.count_labels(changed);
  return session.record_of(changed);
}

erase_result memory_store_data::answer(const delete_session_request& x) {
  rules::check_known(x.target);
  const auto i = sessions_.find(x.target);
  if (i == sessions_.end())
    rules::reject_unknown(x.target);
  auto& session = i->second;
  erase_result result{session.records.size(), 0};
  for (const auto& record : session.records)
    result.states += drop(session, record);
  sessions_.erase(i);
  return result;
}

erase_result memory_store_data::answer(const prune_snapshots_request& x) {
  rules::check(x);
  erase_result result;
  for (auto i = sessions_.lower_bound(session_ref{x.agent, x.session});
       i != sessions_.end(); ++i) {
    auto& session = i->second;
    if ((!x.agent.empty() && session.info.agent != x.agent)
        || (!x.session.empty() && session.info.id != x.session))
      break;
    const auto here = prune(session, x);
    result.records += here.records;
    result.states += here.states;
  }
  return result;
}

erase_result memory_store_data::prune(timeline& session,
                                      const prune_snapshots_request& request) {
  auto& records = session.records;
  const auto old
    = records.size()
      - std::min<std::uint64_t>(records.size(), request.keep_newest);
  erase_result result;
  // New parents for the children of dropped records. A parent is older than its
  // children, so it has been decided before its children are visited.
  std::unordered_map<std::uint64_t, std::uint64_t> heirs;
  std::vector<bool> dropped(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    auto& record = records[i];
    if (const auto heir = heirs.find(record.parent); heir != heirs.end())
      record.parent = heir->second;
    if (i >= old || record.sequence == session.info.head
        || !record.labels.empty()
        || record.created_at >= request.created_before)
      continue;
    heirs.emplace(record.sequence, record.parent);
    dropped[i] = true;
  }
  if (heirs.empty())
    return result;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (dropped[i]) {
      result.states += drop(session, records[i]);
      ++result.records;
    } else {
      if (kept != i)
        records[kept] = std::move(records[i]);
      ++kept;
    }
  }
  records.resize(kept);
  records.shrink_to_fit();
  session.info.records = kept;
  return result;
}

session_info memory_store_data::answer(const copy_session_request& x) {
  rules::check(x);
  const auto from = find(x.from);
  if (from == nullptr)
    rules::reject_unknown(x.from);
  const auto tip = from->find(x.up_to);
  if (x.up_to != 0 && tip == nullptr)
    rules::reject_unknown(snapshot_ref{x.from, x.up_to});
  if (find(x.to) != nullptr)
    rules::reject_existing(x.to);

  timeline made;
  if (tip == nullptr) {
    made = *from;
  } else {
    for (auto i = tip; i != nullptr; i = from->find(i->parent))
      made.records.push_back(*i);
    std::reverse(made.records.begin(), made.records.end());
    for (auto& record : made.records) {
      record.active = true;
      made.count_labels(record);
      if (const auto note = from->notes.find(record.sequence);
          note != from->notes.end())
        made.notes.insert(*note);
    }
    made.last_sequence = tip->sequence;
    made.info.head = tip->sequence;
    made.info.next_turn = next_turn_after(from->record_of(*tip));
    made.info.records = made.records.size();
    made.info.title = from->info.title;
    made.work_on(tip->kept->second.value, tip->kept->first.id);
  }
  const auto now = caf::make_timestamp();
  made.info.agent = x.to.agent;
  made.info.id = x.to.id;
  made.info.created_at = now;
  made.info.updated_at = now;
  made.number = ++last_number_;

  auto& session = sessions_[x.to];
  session = std::move(made);
  for (auto& record : session.records)
    ++record.kept->second.records;
  // Last, because it can throw. Lookups verify index entries against the
  // session, so an index that lacks some because memory has run out does no
  // harm.
  for (const auto& record : session.records)
    index_.emplace(place_of(session, record), &session);
  return session.info;
}

snapshot_record memory_store_data::answer(const annotate_snapshot_request& x) {
  rules::check(x);
  const auto [known, record] = find(x.target);
  auto& notes = writable(*known).notes;
  if (x.note.empty())
    notes.erase(record->sequence);
  else
    notes[record->sequence] = x.note;
  return known->record_of(*record);
}

session_info memory_store_data::answer(const title_session_request& x) {
  rules::check(x);
  const auto known = find(x.target);
  if (known == nullptr)
    rules::reject_unknown(x.target);
  auto& info = writable(*known).info;
  info.title = x.title;
  return info;
}

verification_page
memory_store_data::answer(const verify_sessions_request& x) const {
  rules::check(x);
  verification_page result;
  auto left = rules::page_size(x.limit);
  // Takes room for one more item, and returns whether there was any.
  const auto take = [&](const session_ref& name, std::uint64_t sequence) {
    result.more = left == 0;
    if (result.more)
      return false;
    --left;
    ++(sequence == 0 ? result.sessions : result.records);
    result.last = name;
    result.last_record = sequence;
    return true;
  };
  for (auto i = sessions_.lower_bound(
         std::max(x.after, session_ref{x.agent, x.session}));
       i != sessions_.end(); ++i) {
    const auto& [name, session] = *i;
    if ((!x.agent.empty() && name.agent != x.agent)
        || (!x.session.empty() && name.id != x.session))
      break;
    const auto begun = name == x.after;
    // Only the states of the records are verified, not the working state.
    if (!begun && !take(name, 0))
      return result;
    const auto& records = session.records;
    auto next
      = std::upper_bound(records.begin(), records.end(),
                         begun ? x.after_record : 0,
                         [](auto y, const entry& z) { return y < z.sequence; });
    for (; next != records.end(); ++next) {
      if (!take(name, next->sequence))
        return result;
      const auto& [key, kept] = *next->kept;
      const auto& id = key.id;
      if (!kept.is_sound(id))
        result.damages.emplace_back(damage_kind::corrupt, name, next->sequence,
                                    id,
                                    rules::text_of(damage_kind::corrupt, id));
    }
  }
  return result;
}

std::uint64_t memory_store_data::drop(timeline& from, const entry& x) {
  from.discount_labels(x);
  from.notes.erase(x.sequence);
  index_.erase(place_of(from, x));
  if (--x.kept->second.records != 0)
    return 0;
  states_.erase(states_.find(x.kept->first));
  return 1;
}

} // namespace tertulia
