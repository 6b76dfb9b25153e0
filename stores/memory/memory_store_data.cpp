// SPDX-License-Identifier: BSD-3-Clause

#include "memory_store_data.hpp"

#include <tertulia/status.hpp>
#include <tertulia/store_rules.hpp>

#include <caf/timestamp.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

namespace tertulia {

namespace {

constexpr auto max_sequence = std::numeric_limits<std::uint64_t>::max();

std::uint64_t hash_of(std::string_view agent, std::string_view id) {
  const std::hash<std::string_view> hash;
  return hash(id) ^ (hash(agent) * 0x9e3779b97f4a7c15u);
}

} // namespace

// -- states -------------------------------------------------------------------

bool memory_store_data::content::is_sound(const state_id& id) const {
  try {
    return value.id() == id;
  } catch (const status_error&) {
    return false; // a state without JSON has no id either
  }
}

const state& memory_store_data::content::verified(const state_id& id) const {
  if (!is_sound(id))
    rules::reject_corrupt(id);
  return value;
}

// -- records ------------------------------------------------------------------

const std::string& memory_store_data::entry::id() const noexcept {
  return own_id.empty() ? kept->first.id.str() : own_id.str();
}

const memory_store_data::entry*
memory_store_data::timeline::find(std::uint64_t sequence) const noexcept {
  // Most sessions have never been pruned, so a search is not needed.
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

void memory_store_data::timeline::work_on(state x, state_id id) {
  content = std::move(x);
  content_id = std::move(id);
  rules::describe(info, content);
}

session_position memory_store_data::timeline::position() const {
  return {info.next_turn, content_id, content.type()};
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
  auto i = index_.upper_bound({hash, in.number, max_sequence});
  while (i != first) {
    const auto x = in.find((--i)->first.sequence);
    if (x == nullptr || x->id() != id)
      continue; // another id with the same hash
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
       i = index_.upper_bound({hash, i->first.session, max_sequence})) {
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

memory_store_data::place memory_store_data::place_of(const timeline& in,
                                                     const entry& x) {
  return {hash_of(in.info.agent, x.id()), in.number, x.sequence};
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

save_result memory_store_data::answer(save_snapshot_request x) {
  rules::check(x);
  auto& record = x.record;
  const session_ref session_key{record.agent, record.session};
  const auto known = find(session_key);
  const auto parent = known != nullptr && record.parent != 0
                        ? known->find(record.parent)
                        : nullptr;
  if (record.parent != 0 && parent == nullptr)
    rules::reject_unknown(snapshot_ref{session_key, record.parent});
  rules::check_place(x, known != nullptr ? known->info.head : 0,
                     known != nullptr ? known->last_sequence : 0);
  if (!x.follows.empty())
    rules::check_position(session_key, x.follows,
                          known != nullptr ? known->position()
                                           : session_position{});
  const auto as_it_was = x.where == append_rule::as_it_was;
  if (!as_it_was && parent != nullptr && parent->kept->first.id == record.state
      && parent->kept->first.type == record.type)
    return {known->record_of(*parent), false};

  // From here on only lack of memory can cause a failure. Index entries are
  // verified by lookups, and a state without records does no harm. So the
  // record itself is added last.
  const auto now = caf::make_timestamp();
  auto& session = find_or_make(session_key, now);
  entry next;
  next.sequence = as_it_was ? record.sequence : session.last_sequence + 1;
  next.parent = record.parent;
  if (as_it_was)
    next.index = record.index;
  else
    next.index = parent != nullptr ? parent->index + 1 : 0;
  next.turn_index = record.turn_index;
  next.created_at = record.created_at;
  next.event = record.event;
  next.labels = std::move(record.labels);
  if (record.id.str() != record.state.str())
    next.own_id = record.id;
  next.kept = &*states_
                  .try_emplace(content_key{record.state, record.type},
                               content{x.content})
                  .first;
  index_.emplace(place_of(session, next), &session);
  session.count_labels(next);
  if (!record.note.empty())
    session.notes[next.sequence] = std::move(record.note);
  session.records.push_back(std::move(next));

  auto& added = session.records.back();
  ++added.kept->second.records;
  session.last_sequence = added.sequence;
  ++session.info.records;
  session.move_head(added);
  session.work_on(std::move(x.content), std::move(record.state));
  session.info.next_turn = added.event == snapshot_event::turn_end
                             ? added.turn_index + 1
                             : added.turn_index;
  session.info.updated_at = now;
  return {session.record_of(added), true};
}

stored_snapshot memory_store_data::answer(const get_snapshot_request& x) const {
  const auto [session, record] = find(x.target);
  if (x.wanted == detail_level::record)
    return stored_snapshot{session->record_of(*record)};
  const auto& [key, kept] = *record->kept;
  return stored_snapshot{session->record_of(*record), kept.verified(key.id)};
}

stored_snapshot memory_store_data::answer(const restore_snapshot_request& x) {
  const auto [known, record] = find(x.target);
  auto content = record->kept->second.verified(record->kept->first.id);
  auto& session = writable(*known);
  session.move_head(*session.find(record->sequence));
  session.work_on(content, record->kept->first.id);
  auto result = session.record_of(*record);
  session.info.next_turn = next_turn_after(result);
  session.info.updated_at = caf::make_timestamp();
  return stored_snapshot{std::move(result), std::move(content)};
}

snapshot_page memory_store_data::answer(const list_snapshots_request& x) const {
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
    const auto& [key, kept] = *i->kept;
    auto record = session->record_of(*i);
    if (x.wanted == detail_level::record)
      result.snapshots.emplace_back(std::move(record));
    else if (kept.is_sound(key.id))
      result.snapshots.emplace_back(std::move(record), kept.value);
    else
      result.damages.push_back(rules::damage_of(damage_kind::corrupt, record));
  }
  return result;
}

stored_session memory_store_data::answer(const get_session_request& x) const {
  rules::check(x.target);
  const auto session = find(x.target);
  if (session == nullptr)
    rules::reject_unknown(x.target);
  stored_session result;
  result.info = session->info;
  const auto head = session->find(session->info.head);
  if (head != nullptr)
    result.head = stored_snapshot{session->record_of(*head)};
  if (x.wanted == detail_level::state) {
    if (head != nullptr)
      result.head.content = head->kept->second.verified(head->kept->first.id);
    result.content = session->content;
  }
  return result;
}

session_info memory_store_data::answer(save_session_request x) {
  auto id = rules::check(x);
  const auto* const known = find(x.target);
  if (!x.follows.empty())
    rules::check_position(x.target, x.follows,
                          known != nullptr ? known->position()
                                           : session_position{});
  const auto now = caf::make_timestamp();
  auto& session = find_or_make(x.target, now);
  session.work_on(std::move(x.content), std::move(id));
  session.info.next_turn = x.next_turn;
  session.info.updated_at = now;
  return session.info;
}

} // namespace tertulia
