// SPDX-License-Identifier: BSD-3-Clause

#include "memory_tables.hpp"

#include <tertulia/detail/text.hpp>
#include <tertulia/status.hpp>

#include <cstring>
#include <limits>
#include <span>

namespace tertulia {

namespace {

constexpr auto any_sequence = std::numeric_limits<std::uint64_t>::max();

std::uint64_t hash_of(std::string_view agent, std::string_view id) {
  const std::hash<std::string_view> hash;
  return hash(id) ^ (hash(agent) * 0x9e3779b97f4a7c15u);
}

std::string id_of(const snapshot_id& own, std::span<const std::uint8_t> hash) {
  return own.empty() ? detail::to_hex(hash) : own.str();
}

} // namespace

// -- sessions -----------------------------------------------------------------

std::uint64_t
memory_tables::named_session::begin_of(std::string_view id) noexcept {
  std::uint64_t result = 0;
  for (std::size_t i = 0; i < sizeof(result); ++i)
    result
      = result << 8
        | (i < id.size() ? static_cast<std::uint8_t>(id[i]) : std::uint8_t{0});
  return result;
}

memory_tables::timeline* memory_tables::find(const session_ref& name) const {
  const auto of_agent = by_agent_.find(name.agent);
  if (of_agent == by_agent_.end())
    return nullptr;
  const auto found = of_agent->second.find(std::string_view{name.id.str()});
  return found != of_agent->second.end() ? found->session : nullptr;
}

std::optional<session_row>
memory_tables::find_session(const session_ref& name) {
  const auto* found = find(name);
  if (found == nullptr)
    return std::nullopt;
  return found->row;
}

std::optional<session_row> memory_tables::find_session(std::int64_t key) {
  const auto i = sessions_.find(key);
  if (i == sessions_.end())
    return std::nullopt;
  return i->second.row;
}

void memory_tables::for_each_session(
  const session_ref& after, const std::function<bool(session_row)>& fn) {
  for (auto i = by_agent_.lower_bound(after.agent); i != by_agent_.end(); ++i) {
    const auto& [agent, all] = *i;
    auto one = agent == after.agent
                 ? all.upper_bound(std::string_view{after.id.str()})
                 : all.begin();
    for (; one != all.end(); ++one)
      if (!fn(one->session->row))
        return;
  }
}

bool memory_tables::has_label(std::int64_t session, const std::string& label) {
  return sessions_.at(session).labels.contains(label);
}

std::vector<session_row> memory_tables::sessions_with(const std::string& agent,
                                                      const snapshot_id& id,
                                                      std::size_t limit) {
  std::vector<session_row> result;
  const auto hash = hash_of(agent, id.str());
  for (auto i = ids_.lower_bound({hash, 0, 0});
       i != ids_.end() && i->hash == hash && result.size() < limit;
       i = ids_.upper_bound({hash, i->session, any_sequence})) {
    const auto& row = sessions_.at(i->session).row;
    if (row.info.agent == agent && !records_with(row.key, id).empty())
      result.push_back(row);
  }
  return result;
}

std::int64_t memory_tables::add(const session_ref& name) {
  auto& made = sessions_[++last_key_];
  made.row.key = last_key_;
  made.row.info.agent = name.agent;
  made.row.info.id = name.id;
  by_agent_[name.agent].emplace(made);
  if (const auto leased = other_fences_.extract(name))
    made.fence = leased.mapped();
  return last_key_;
}

void memory_tables::write(const session_row& x) {
  sessions_.at(x.key).row = x;
}

void memory_tables::erase(const session_row& x) {
  auto& gone = sessions_.at(x.key);
  for (const auto& [sequence, record] : gone.records)
    remove_from_indexes(gone, sequence, record);
  const auto others = by_agent_.find(x.info.agent);
  others->second.erase(named_session{gone});
  if (others->second.empty())
    by_agent_.erase(others);
  if (gone.fence != 0)
    other_fences_.emplace(x.name(), gone.fence);
  sessions_.erase(x.key);
}

// -- leases -------------------------------------------------------------------

std::uint64_t memory_tables::add_lease(const session_ref& name) {
  auto* found = find(name);
  auto& fence = found != nullptr ? found->fence : other_fences_[name];
  return fence = next_fence();
}

std::uint64_t memory_tables::fence_of(const session_ref& name) {
  if (const auto* found = find(name))
    return found->fence;
  const auto other = other_fences_.find(name);
  return other != other_fences_.end() ? other->second : 0;
}

void memory_tables::erase_lease(const session_ref& name) {
  if (auto* found = find(name))
    found->fence = 0;
  else
    other_fences_.erase(name);
}

// -- records ------------------------------------------------------------------

void memory_tables::for_each_record(std::int64_t session, std::uint64_t first,
                                    std::uint64_t last,
                                    const std::function<bool(record_row)>& fn) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end())
    return;
  const auto& records = found->second.records;
  for (auto i = records.lower_bound(first);
       i != records.end() && i->first <= last; ++i)
    if (!fn(found->second.record_of(i->first, i->second)))
      return;
}

std::pair<std::uint64_t, std::uint64_t>
memory_tables::count_records(std::int64_t session) {
  const auto& records = sessions_.at(session).records;
  return {records.size(), records.empty() ? 0 : records.rbegin()->first};
}

std::uint64_t memory_tables::count_whole_records(std::int64_t session) {
  return sessions_.at(session).records.size();
}

std::vector<std::uint64_t> memory_tables::records_with(std::int64_t session,
                                                       const snapshot_id& id) {
  std::vector<std::uint64_t> result;
  const auto& in = sessions_.at(session);
  const auto hash = hash_of(in.row.info.agent, id.str());
  const auto first = ids_.lower_bound({hash, session, 0});
  auto i = ids_.upper_bound({hash, session, any_sequence});
  while (i != first) {
    --i;
    const auto& x = in.records.at(i->sequence);
    if (id_of(x.own_id, x.kept->first.hash)
        == id.str()) // else another id with the same hash
      result.push_back(i->sequence);
  }
  return result;
}

bool memory_tables::has_state(const content_row& x) {
  return states_.contains(state_key{x});
}

void memory_tables::write(const record_row& x) {
  auto& in = sessions_.at(x.session);
  auto& to = in.records.try_emplace(in.records.end(), x.sequence)->second;
  to.parent = x.parent; // the other columns do not change
  if (to.kept == nullptr) {
    to.run = x.run;
    to.index = x.index;
    to.turn_index = x.turn_index;
    to.created_at = x.created_at;
    to.event = x.event;
    to.finish_reason = x.finish_reason;
    to.inputs = x.inputs;
    to.own_id = x.own_id;
    to.kept
      = &*states_.try_emplace(state_key{x.content}, kept_state{x.content.held})
            .first;
    ++to.kept->second.records;
    ids_.insert(place_of(in, x.sequence, to));
  }
  remark(in, x.sequence, {x.labels, x.note});
}

void memory_tables::erase(const record_row& x) {
  auto& in = sessions_.at(x.session);
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
  result.finish_reason = x.finish_reason;
  result.inputs = x.inputs;
  result.created_at = x.created_at;
  const auto& [key, kept] = *x.kept;
  result.content.id = state_id{detail::to_hex(key.hash)};
  result.content.type = key.type;
  result.content.form = key.form;
  result.content.held = kept.value;
  result.own_id = x.own_id;
  if (const auto i = remarked.find(sequence); i != remarked.end()) {
    result.labels = i->second.labels;
    result.note = i->second.note;
  }
  return result;
}

memory_tables::place memory_tables::place_of(const timeline& in,
                                             std::uint64_t sequence,
                                             const entry& x) {
  return {hash_of(in.row.info.agent, id_of(x.own_id, x.kept->first.hash)),
          in.row.key, sequence};
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
  if (!x.labels.empty() || !x.note.empty())
    in.remarked.emplace(sequence, std::move(x));
}

memory_tables::state_key::state_key(const content_row& x)
  : type(x.type), form(x.form) {
  if (!detail::read_hex(x.id.str(), hash))
    throw status_error{errc::invalid_argument,
                       "the id of a state is 64 lower-case hex digits"};
}

/// The hash of a state is as random as a hash for a table has to be.
std::size_t
memory_tables::state_hash::operator()(const state_key& x) const noexcept {
  std::size_t result = 0;
  std::memcpy(&result, x.hash.data(), sizeof(result));
  return result ^ std::hash<stored_type>{}(x.type);
}

void memory_tables::remove_from_indexes(timeline& in, std::uint64_t sequence,
                                        const entry& x) {
  ids_.erase(place_of(in, sequence, x));
  remark(in, sequence, {});
  if (--x.kept->second.records == 0)
    states_.erase(states_.find(x.kept->first));
}

} // namespace tertulia
