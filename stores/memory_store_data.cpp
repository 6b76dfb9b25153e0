// SPDX-License-Identifier: BSD-3-Clause

#include "memory_store_data.hpp"

#include <tertulia/status.hpp>

#include <caf/timestamp.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "store_rules.hpp"

namespace tertulia {

namespace {

constexpr auto last = std::numeric_limits<std::uint64_t>::max();

std::uint64_t hash_of(std::string_view agent, std::string_view id) {
  const std::hash<std::string_view> hash;
  return hash(id) ^ (hash(agent) * 0x9e3779b97f4a7c15u);
}

/// Says whether a state still is what its id says.
bool is_sound(const state_id& id, const state& content) {
  try {
    return content.id() == id;
  } catch (const status_error&) {
    return false; // what has no JSON any more has no id either
  }
}

/// Hands out a state only if it still is what its id says.
const state& verified(const state_id& id, const state& content) {
  if (!is_sound(id, content))
    rules::reject_corrupt(id);
  return content;
}

} // namespace

// -- records ------------------------------------------------------------------

const std::string& memory_store_data::entry::id() const noexcept {
  return own_id.empty() ? kept->first.id.str() : own_id.str();
}

const memory_store_data::entry*
memory_store_data::timeline::find(std::uint64_t sequence) const noexcept {
  // Nobody has pruned most sessions: there is no need to search.
  if (sequence - 1 < records.size()
      && records[sequence - 1].sequence == sequence)
    return &records[sequence - 1];
  const auto i
    = std::lower_bound(records.begin(), records.end(), sequence,
                       [](const entry& x, auto y) { return x.sequence < y; });
  return i != records.end() && i->sequence == sequence ? &*i : nullptr;
}

memory_store_data::entry*
memory_store_data::timeline::find(std::uint64_t sequence) noexcept {
  return const_cast<entry*>(std::as_const(*this).find(sequence));
}

snapshot_record memory_store_data::timeline::record_of(const entry& x) const {
  snapshot_record result;
  result.agent = info.agent;
  result.session = info.id;
  result.sequence = x.sequence;
  result.id = snapshot_id{x.id()};
  result.state = x.kept->first.id;
  result.type = x.kept->first.type;
  result.parent = x.parent;
  if (const auto parent = find(x.parent))
    result.parent_id = snapshot_id{parent->id()};
  result.index = x.index;
  result.turn_index = x.turn_index;
  result.event = x.event;
  result.created_at = x.created_at;
  result.labels = x.labels;
  if (const auto i = notes.find(x.sequence); i != notes.end())
    result.note = i->second;
  result.orphaned = !x.active;
  return result;
}

void memory_store_data::timeline::move_head(entry& to) {
  auto x = &to;
  for (; x != nullptr && !x->active; x = find(x->parent))
    x->active = true;
  const auto common = x != nullptr ? x->sequence : 0;
  for (x = find(info.head); x != nullptr && x->sequence != common;
       x = find(x->parent))
    x->active = false;
  info.head = to.sequence;
}

void memory_store_data::timeline::count_labels(const entry& x) {
  for (const auto& label : x.labels)
    ++labels[label];
}

void memory_store_data::timeline::discount_labels(const entry& x) noexcept {
  for (const auto& label : x.labels)
    if (const auto i = labels.find(label);
        i != labels.end() && --i->second == 0)
      labels.erase(i);
}

// -- finding ------------------------------------------------------------------

const memory_store_data::timeline*
memory_store_data::find(const session_ref& x) const {
  const auto i = sessions_.find(x);
  return i != sessions_.end() ? &i->second : nullptr;
}

const memory_store_data::entry*
memory_store_data::find(const timeline& in, std::string_view id,
                        std::uint64_t hash) const {
  const entry* result = nullptr;
  const auto first = index_.lower_bound({hash, in.number, 0});
  auto i = index_.upper_bound({hash, in.number, last});
  while (i != first) {
    const auto x = in.find((--i)->first.sequence);
    if (x == nullptr || x->id() != id)
      continue; // another id with this hash
    if (x->active)
      return x;
    if (result == nullptr)
      result = x;
  }
  return result;
}

memory_store_data::found memory_store_data::find(const snapshot_ref& x) const {
  rules::check(x);
  const auto hash = hash_of(x.agent, x.id.str());
  if (!x.session.empty()) {
    const auto session = find(session_ref{x.agent, x.session});
    if (session == nullptr)
      rules::reject_unknown(x);
    const auto record = x.sequence != 0 ? session->find(x.sequence)
                                        : find(*session, x.id.str(), hash);
    if (record == nullptr || (!x.id.empty() && record->id() != x.id.str()))
      rules::reject_unknown(x);
    return {session, record};
  }

  found result;
  std::vector<std::string> sessions;
  for (auto i = index_.lower_bound({hash, 0, 0});
       i != index_.end() && i->first.hash == hash
       && sessions.size() <= rules::named_sessions;
       i = index_.upper_bound({hash, i->first.session, last})) {
    const auto& session = *i->second;
    if (session.info.agent != x.agent)
      continue;
    const auto record = find(session, x.id.str(), hash);
    if (record == nullptr)
      continue;
    if (result.record == nullptr)
      result = {&session, record};
    sessions.push_back(session.info.id.str());
  }
  if (sessions.empty())
    rules::reject_unknown(x);
  if (sessions.size() > 1)
    rules::reject_ambiguous(x, std::move(sessions));
  return result;
}

memory_store_data::timeline&
memory_store_data::find_or_make(const session_ref& x, caf::timestamp now) {
  const auto [i, is_new] = sessions_.try_emplace(x);
  auto& result = i->second;
  if (is_new) {
    result.info.agent = x.agent;
    result.info.id = x.id;
    result.info.created_at = now;
    result.info.updated_at = now;
    result.number = ++last_number_;
  }
  return result;
}

// -- verbs of sessions --------------------------------------------------------

saved_snapshot memory_store_data::save(save_snapshot x) {
  rules::check(x);
  auto& made = x.record;
  const session_ref where{made.agent, made.session};
  const auto known = find(where);
  const auto parent
    = known != nullptr && made.parent != 0 ? known->find(made.parent) : nullptr;
  if (made.parent != 0 && parent == nullptr)
    rules::reject_unknown(snapshot_ref{where, made.parent});
  rules::check_place(x, known != nullptr ? known->info.head : 0,
                     known != nullptr ? known->last_sequence : 0);
  const auto as_it_was = x.where == append_rule::as_it_was;
  if (!as_it_was && parent != nullptr && parent->kept->first.id == made.state
      && parent->kept->first.type == made.type)
    return {known->record_of(*parent), false};

  // From here on only memory can run out. What is found through the index is
  // compared, and a state that no record has is in nobody's way: so the record
  // itself comes last.
  const auto now = caf::make_timestamp();
  auto& session = find_or_make(where, now);
  entry next;
  next.sequence = as_it_was ? made.sequence : session.last_sequence + 1;
  next.parent = made.parent;
  if (as_it_was)
    next.index = made.index;
  else
    next.index = parent != nullptr ? parent->index + 1 : 0;
  next.turn_index = made.turn_index;
  next.created_at = made.created_at;
  next.event = made.event;
  next.labels = std::move(made.labels);
  if (made.id.str() != made.state.str())
    next.own_id = made.id;
  next.kept
    = &*states_
          .try_emplace(content_key{made.state, made.type}, content{x.content})
          .first;
  index_.emplace(place{hash_of(made.agent, made.id.str()), session.number,
                       next.sequence},
                 &session);
  session.count_labels(next);
  if (!made.note.empty())
    session.notes[next.sequence] = std::move(made.note);
  session.records.push_back(std::move(next));

  auto& added = session.records.back();
  ++added.kept->second.records;
  session.last_sequence = added.sequence;
  ++session.info.records;
  session.move_head(added);
  session.content = std::move(x.content);
  rules::describe(session.info, session.content);
  session.info.next_turn = added.event == snapshot_event::turn_end
                             ? added.turn_index + 1
                             : added.turn_index;
  session.info.updated_at = now;
  return {session.record_of(added), true};
}

stored_snapshot memory_store_data::get(const get_snapshot& x) const {
  const auto [session, record] = find(x.which);
  if (x.wanted == detail_level::record)
    return stored_snapshot{session->record_of(*record)};
  const auto& [key, kept] = *record->kept;
  return stored_snapshot{session->record_of(*record),
                         verified(key.id, kept.value)};
}

stored_snapshot memory_store_data::restore(const restore_snapshot& x) {
  const auto [known, record] = find(x.which);
  auto content = verified(record->kept->first.id, record->kept->second.value);
  auto& session = writable(*known);
  session.move_head(*session.find(record->sequence));
  session.content = content;
  rules::describe(session.info, content);
  auto result = session.record_of(*record);
  session.info.next_turn = next_turn_after(result);
  session.info.updated_at = caf::make_timestamp();
  return stored_snapshot{std::move(result), std::move(content)};
}

snapshot_page memory_store_data::list(const list_snapshots& x) const {
  rules::check(x.of);
  snapshot_page result;
  const auto session = find(x.of);
  if (session == nullptr)
    return result;
  const auto& records = session->records;
  auto i
    = std::upper_bound(records.begin(), records.end(), x.after,
                       [](auto y, const entry& z) { return y < z.sequence; });
  for (const auto size = rules::page_size(x.limit); i != records.end(); ++i) {
    if (!i->active && !x.with_orphans)
      continue;
    if (result.snapshots.size() == size) {
      result.more = true;
      break;
    }
    auto& next = result.snapshots.emplace_back(session->record_of(*i));
    if (x.wanted == detail_level::state)
      next.content = verified(i->kept->first.id, i->kept->second.value);
  }
  return result;
}

stored_session memory_store_data::get(const get_session& x) const {
  rules::check(x.which);
  const auto session = find(x.which);
  if (session == nullptr)
    rules::reject_unknown(x.which);
  stored_session result;
  result.info = session->info;
  const auto head = session->find(session->info.head);
  if (head != nullptr)
    result.head = stored_snapshot{session->record_of(*head)};
  if (x.wanted == detail_level::state) {
    if (head != nullptr)
      result.head.content
        = verified(head->kept->first.id, head->kept->second.value);
    result.content = session->content;
  }
  return result;
}

session_info memory_store_data::save(save_session x) {
  rules::check(x);
  const auto now = caf::make_timestamp();
  auto& session = find_or_make(x.which, now);
  session.content = std::move(x.content);
  rules::describe(session.info, session.content);
  session.info.next_turn = x.next_turn;
  session.info.updated_at = now;
  return session.info;
}

// -- verbs of people and programs ---------------------------------------------

session_page memory_store_data::list(const list_sessions& x) const {
  session_page result;
  const auto size = rules::page_size(x.limit);
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
    if (result.sessions.size() == size) {
      result.more = true;
      break;
    }
    result.sessions.push_back(session.info);
  }
  return result;
}

snapshot_record memory_store_data::label(const label_snapshot& x) {
  const auto [known, record] = find(x.which);
  auto labels = record->labels;
  rules::relabel(labels, x.add, x.remove);
  auto& session = writable(*known);
  auto& changed = *session.find(record->sequence);
  session.discount_labels(changed);
  changed.labels = std::move(labels);
  session.count_labels(changed);
  return session.record_of(changed);
}

erased memory_store_data::erase(const delete_session& x) {
  rules::check(x.which);
  const auto i = sessions_.find(x.which);
  if (i == sessions_.end())
    rules::reject_unknown(x.which);
  auto& session = i->second;
  erased result{session.records.size(), 0};
  for (const auto& record : session.records)
    result.states += drop(session, record);
  sessions_.erase(i);
  return result;
}

erased memory_store_data::prune(const prune_snapshots& x) {
  rules::check(x);
  erased result;
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

erased memory_store_data::prune(timeline& session, const prune_snapshots& how) {
  auto& records = session.records;
  const auto old
    = records.size() - std::min<std::uint64_t>(records.size(), how.keep_newest);
  erased result;
  // Where a child of a dropped record goes. A parent is older than its
  // children, so it has been decided on when its children are looked at.
  std::unordered_map<std::uint64_t, std::uint64_t> heirs;
  std::vector<bool> dropped(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    auto& record = records[i];
    if (const auto heir = heirs.find(record.parent); heir != heirs.end())
      record.parent = heir->second;
    if (i >= old || record.sequence == session.info.head
        || !record.labels.empty() || record.created_at >= how.created_before)
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

session_info memory_store_data::copy(const copy_session& x) {
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
    made.content = tip->kept->second.value;
    made.info.head = tip->sequence;
    made.info.next_turn = next_turn_after(from->record_of(*tip));
    made.info.records = made.records.size();
    made.info.title = from->info.title;
    rules::describe(made.info, made.content);
  }
  const auto now = caf::make_timestamp();
  made.info.agent = x.to.agent;
  made.info.id = x.to.id;
  made.info.created_at = now;
  made.info.updated_at = now;
  made.number = ++last_number_;

  // What is found through the index is looked for in its session, so it does
  // no harm if there is none because memory has run out.
  auto& session = sessions_[x.to];
  session = std::move(made);
  for (auto& record : session.records) {
    index_.emplace(place{hash_of(x.to.agent, record.id()), session.number,
                         record.sequence},
                   &session);
    ++record.kept->second.records;
  }
  return session.info;
}

snapshot_record memory_store_data::annotate(const annotate_snapshot& x) {
  rules::check(x);
  const auto [known, record] = find(x.which);
  auto& notes = writable(*known).notes;
  if (x.note.empty())
    notes.erase(record->sequence);
  else
    notes[record->sequence] = x.note;
  return known->record_of(*record);
}

session_info memory_store_data::title(const title_session& x) {
  rules::check(x);
  const auto known = find(x.which);
  if (known == nullptr)
    rules::reject_unknown(x.which);
  auto& info = writable(*known).info;
  info.title = x.title;
  return info;
}

verified_page memory_store_data::verify(const verify_sessions& x) const {
  rules::check(x);
  verified_page result;
  auto left = rules::page_size(x.limit);
  for (auto i = sessions_.lower_bound(
         std::max(x.after, session_ref{x.agent, x.session}));
       i != sessions_.end(); ++i) {
    const auto& [name, session] = *i;
    if ((!x.agent.empty() && name.agent != x.agent)
        || (!x.session.empty() && name.id != x.session))
      break;
    const auto begun = name == x.after;
    if (!begun) {
      // What it works on has no id of its own here: it is what it is.
      if (left == 0) {
        result.more = true;
        return result;
      }
      --left;
      ++result.sessions;
      result.last = name;
      result.last_record = 0;
    }
    const auto& records = session.records;
    auto next
      = std::upper_bound(records.begin(), records.end(),
                         begun ? x.after_record : 0,
                         [](auto y, const entry& z) { return y < z.sequence; });
    for (; next != records.end(); ++next) {
      if (left == 0) {
        result.more = true;
        return result;
      }
      --left;
      ++result.records;
      result.last = name;
      result.last_record = next->sequence;
      const auto& [key, kept] = *next->kept;
      const auto& id = key.id;
      if (!is_sound(id, kept.value))
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
  index_.erase(
    place{hash_of(from.info.agent, x.id()), from.number, x.sequence});
  if (--x.kept->second.records != 0)
    return 0;
  states_.erase(states_.find(x.kept->first));
  return 1;
}

} // namespace tertulia
