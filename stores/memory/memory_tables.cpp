// SPDX-License-Identifier: BSD-3-Clause

#include "memory_tables.hpp"

#include <limits>

namespace tertulia {

namespace {

constexpr auto any_sequence = std::numeric_limits<std::uint64_t>::max();

std::uint64_t hash_of(std::string_view agent, std::string_view id) {
  const std::hash<std::string_view> hash;
  return hash(id) ^ (hash(agent) * 0x9e3779b97f4a7c15u);
}

} // namespace

// -- sessions -----------------------------------------------------------------

std::optional<session_row>
memory_tables::find_session(const session_ref& name) {
  const auto i = sessions_.find(name);
  if (i == sessions_.end())
    return std::nullopt;
  return i->second.row;
}

std::optional<session_row> memory_tables::find_session(std::int64_t key) {
  const auto i = by_key_.find(key);
  if (i == by_key_.end())
    return std::nullopt;
  return i->second->row;
}

void memory_tables::for_each_session(
  const session_ref& after, const std::function<bool(session_row)>& fn) {
  for (auto i = sessions_.upper_bound(after); i != sessions_.end(); ++i)
    if (!fn(i->second.row))
      return;
}

bool memory_tables::has_label(std::int64_t session, const std::string& label) {
  return by_key_.at(session)->labels.contains(label);
}

std::vector<session_row> memory_tables::sessions_with(const std::string& agent,
                                                      const snapshot_id& id,
                                                      std::size_t limit) {
  std::vector<session_row> result;
  const auto hash = hash_of(agent, id.str());
  for (auto i = ids_.lower_bound({hash, 0, 0});
       i != ids_.end() && i->hash == hash && result.size() < limit;
       i = ids_.upper_bound({hash, i->session, any_sequence})) {
    const auto& row = by_key_.at(i->session)->row;
    if (row.info.agent == agent && !records_with(row.key, id).empty())
      result.push_back(row);
  }
  return result;
}

std::int64_t memory_tables::add(const session_ref& name) {
  auto& made = sessions_[name];
  made.row.key = ++last_key_;
  made.row.info.agent = name.agent;
  made.row.info.id = name.id;
  by_key_[last_key_] = &made;
  return last_key_;
}

void memory_tables::write(const session_row& x) {
  by_key_.at(x.key)->row = x;
}

void memory_tables::erase(const session_row& x) {
  auto& gone = *by_key_.at(x.key);
  for (const auto& [sequence, record] : gone.records)
    remove_from_indexes(gone, sequence, record);
  by_key_.erase(x.key);
  sessions_.erase(x.name());
}

// -- records ------------------------------------------------------------------

void memory_tables::for_each_record(std::int64_t session, std::uint64_t first,
                                    std::uint64_t last,
                                    const std::function<bool(record_row)>& fn) {
  const auto found = by_key_.find(session);
  if (found == by_key_.end())
    return;
  const auto& records = found->second->records;
  for (auto i = records.lower_bound(first);
       i != records.end() && i->first <= last; ++i)
    if (!fn(found->second->record_of(i->first, i->second)))
      return;
}

std::pair<std::uint64_t, std::uint64_t>
memory_tables::count_records(std::int64_t session) {
  const auto& records = by_key_.at(session)->records;
  return {records.size(), records.empty() ? 0 : records.rbegin()->first};
}

std::uint64_t memory_tables::count_whole_records(std::int64_t session) {
  return by_key_.at(session)->records.size();
}

std::vector<std::uint64_t> memory_tables::records_with(std::int64_t session,
                                                       const snapshot_id& id) {
  std::vector<std::uint64_t> result;
  const auto& in = *by_key_.at(session);
  const auto hash = hash_of(in.row.info.agent, id.str());
  const auto first = ids_.lower_bound({hash, session, 0});
  auto i = ids_.upper_bound({hash, session, any_sequence});
  while (i != first) {
    --i;
    if (in.id_of(i->sequence, in.records.at(i->sequence))
        == id.str()) // else another id with the same hash
      result.push_back(i->sequence);
  }
  return result;
}

bool memory_tables::has_state(const content_row& x) {
  return states_.contains(state_key{x});
}

void memory_tables::write(const record_row& x) {
  auto& in = *by_key_.at(x.session);
  auto& to = in.records.try_emplace(in.records.end(), x.sequence)->second;
  to.parent = x.parent; // the other columns do not change
  if (to.kept == nullptr) {
    to.run = x.run;
    to.index = x.index;
    to.turn_index = x.turn_index;
    to.created_at = x.created_at;
    to.event = x.event;
    to.kept
      = &*states_.try_emplace(state_key{x.content}, kept_state{x.content.held})
            .first;
    ++to.kept->second.records;
    remark(in, x.sequence, {x.own_id, x.labels, x.note});
    ids_.insert(place_of(in, x.sequence, to));
    return;
  }
  remark(in, x.sequence, {x.own_id, x.labels, x.note});
}

void memory_tables::erase(const record_row& x) {
  auto& in = *by_key_.at(x.session);
  const auto i = in.records.find(x.sequence);
  remove_from_indexes(in, x.sequence, i->second);
  in.records.erase(i);
}

record_row memory_tables::timeline::record_of(std::uint64_t sequence,
                                              const entry& x) const {
  record_row result;
  result.session = row.key;
  result.sequence = sequence;
  result.parent = x.parent;
  result.run = x.run;
  result.index = x.index;
  result.turn_index = x.turn_index;
  result.event = x.event;
  result.created_at = x.created_at;
  const auto& [key, kept] = *x.kept;
  result.content.id = key.id;
  result.content.type = key.type;
  result.content.form = key.form;
  result.content.held = kept.value;
  if (const auto i = remarked.find(sequence); i != remarked.end()) {
    result.own_id = i->second.own_id;
    result.labels = i->second.labels;
    result.note = i->second.note;
  }
  return result;
}

memory_tables::place memory_tables::place_of(const timeline& in,
                                             std::uint64_t sequence,
                                             const entry& x) {
  return {hash_of(in.row.info.agent, in.id_of(sequence, x)), in.row.key,
          sequence};
}

const std::string& memory_tables::timeline::id_of(std::uint64_t sequence,
                                                  const entry& x) const {
  const auto i = remarked.find(sequence);
  return i != remarked.end() && !i->second.own_id.empty()
           ? i->second.own_id.str()
           : x.kept->first.id.str();
}

void memory_tables::remark(timeline& in, std::uint64_t sequence, remarks x) {
  if (const auto old = in.remarked.find(sequence); old != in.remarked.end()) {
    for (const auto& label : old->second.labels)
      if (const auto i = in.labels.find(label); --i->second == 0)
        in.labels.erase(i);
    in.remarked.erase(old);
  }
  for (const auto& label : x.labels)
    ++in.labels[label];
  if (!x.own_id.empty() || !x.labels.empty() || !x.note.empty())
    in.remarked.emplace(sequence, std::move(x));
}

void memory_tables::remove_from_indexes(timeline& in, std::uint64_t sequence,
                                        const entry& x) {
  ids_.erase(place_of(in, sequence, x));
  remark(in, sequence, {});
  if (--x.kept->second.records == 0)
    states_.erase(states_.find(x.kept->first));
}

} // namespace tertulia
