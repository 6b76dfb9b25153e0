// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/store_outcome.hpp>
#include <tertulia/errc.hpp>
#include <tertulia/protocol.hpp>
#include <tertulia/store.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "session_model.hpp"

namespace tertulia::detail {

/// Model of a store as the protocol describes it, written for readability:
/// every request is answered by searching all data.
///
/// The model has no clock: the times of sessions keep their default values.
///
/// @threads a value.
class store_model {
public:
  outcome<save_snapshot_request> operator()(const save_snapshot_request& x) {
    auto record = x.record;
    const session_ref key{record.agent, record.session};
    const auto as_it_was = x.rule == append_rule::as_it_was;
    if (!is_named(key) || record.id.empty() || x.content.id() != record.state
        || (as_it_was && record.sequence == 0))
      return errc::invalid_argument;
    const auto known = sessions_.contains(key);
    const auto before = known ? sessions_.at(key) : session_model{};
    record.type = x.content.type();
    record.labels.clear();
    if (record.parent != 0) {
      if (!before.has(record.parent))
        return errc::not_found;
      const auto& parent = before.at(record.parent);
      record.parent_id = parent.id;
      record.index = as_it_was ? record.index : parent.index + 1;
    }
    if ((x.rule == append_rule::at_head && record.parent != before.info.head)
        || (as_it_was && record.sequence <= before.last_sequence)
        || !may_follow(x.follows, key))
      return errc::aborted;
    if (record.parent != 0 && !as_it_was
        && session_model::key_of(before.at(record.parent))
             == session_model::key_of(record))
      return save_result{before.read(record.parent), false};
    auto& session = make(key);
    if (!as_it_was)
      record.sequence = session.last_sequence + 1;
    session.last_sequence = record.sequence;
    session.records.emplace(record.sequence, record);
    session.info.head = record.sequence;
    session.info.next_turn = next_turn_after(record);
    if (record.parent != before.info.head)
      session.note_turn(record.parent == 0 ? 0
                                           : before.at(record.parent).inputs);
    session.note_turn(record.inputs, x.turn);
    session.content = x.content;
    states_[session_model::key_of(record)] = x.content;
    return save_result{session.read(record.sequence), true};
  }

  outcome<get_snapshot_request> operator()(const get_snapshot_request& x) {
    const auto found = find(x.target);
    if (found.reason != errc::ok)
      return found.reason;
    return read(*found.in, found.sequence, x.detail);
  }

  outcome<restore_snapshot_request>
  operator()(const restore_snapshot_request& x) {
    const auto found = find(x.target);
    if (found.reason != errc::ok)
      return found.reason;
    auto& in = *found.in;
    in.info.head = found.sequence;
    in.info.next_turn = next_turn_after(in.at(found.sequence));
    in.note_turn(in.at(found.sequence).inputs);
    in.content = states_.at(session_model::key_of(in.at(found.sequence)));
    return read(in, found.sequence, detail_level::state);
  }

  outcome<list_snapshots_request> operator()(const list_snapshots_request& x) {
    if (!is_named(x.session))
      return errc::invalid_argument;
    snapshot_page result;
    if (const auto i = sessions_.find(x.session); i != sessions_.end())
      for (const auto& [sequence, record] : i->second.records)
        if (sequence > x.after
            && (x.with_orphans || i->second.active().contains(sequence)))
          result.snapshots.push_back(read(i->second, sequence, x.detail));
    result.more = cut(result.snapshots, x.limit);
    return result;
  }

  outcome<get_session_request> operator()(const get_session_request& x) {
    if (!is_named(x.target))
      return errc::invalid_argument;
    const auto i = sessions_.find(x.target);
    if (i == sessions_.end())
      return errc::not_found;
    stored_session result;
    result.info = i->second.summary();
    if (result.info.head != 0)
      result.head = read(i->second, result.info.head, x.detail);
    if (x.detail == detail_level::state)
      result.content = i->second.content;
    return result;
  }

  outcome<save_session_request> operator()(const save_session_request& x) {
    if (!is_named(x.target))
      return errc::invalid_argument;
    if (!may_follow(x.follows, x.target))
      return errc::aborted;
    auto& session = make(x.target);
    session.content = x.content;
    session.info.next_turn = x.next_turn;
    session.note_turn(x.inputs, x.turn);
    return session.summary();
  }

  outcome<list_sessions_request> operator()(const list_sessions_request& x) {
    std::vector<session_info> all;
    for (const auto& [key, session] : sessions_) {
      const auto labelled = std::any_of(
        session.records.begin(), session.records.end(), [&](const auto& y) {
          const auto& labels = y.second.labels;
          return std::find(labels.begin(), labels.end(), x.label)
                 != labels.end();
        });
      if ((x.agent.empty() || key.agent == x.agent) && x.after < key
          && (x.label.empty() || labelled))
        all.push_back(session.summary());
    }
    session_page result;
    result.more = cut(all, x.limit);
    result.sessions = std::move(all);
    return result;
  }

  outcome<label_snapshot_request> operator()(const label_snapshot_request& x) {
    const auto found = find(x.target);
    if (found.reason != errc::ok)
      return found.reason;
    auto& record = found.in->records.at(found.sequence);
    std::set<std::string> labels{record.labels.begin(), record.labels.end()};
    for (const auto& label : x.remove)
      labels.erase(label);
    for (const auto& label : x.add) {
      if (label.empty() || label.size() > max_label_size)
        return errc::invalid_argument;
      labels.insert(label);
    }
    if (labels.size() > max_labels)
      return errc::resource_exhausted;
    record.labels.assign(labels.begin(), labels.end());
    return found.in->read(found.sequence);
  }

  outcome<delete_session_request> operator()(const delete_session_request& x) {
    if (!is_named(x.target))
      return errc::invalid_argument;
    const auto i = sessions_.find(x.target);
    if (i == sessions_.end())
      return errc::not_found;
    const auto before = kept_states();
    erase_result result{i->second.records.size(), 0};
    sessions_.erase(i);
    result.states = before - kept_states();
    return result;
  }

  outcome<prune_snapshots_request>
  operator()(const prune_snapshots_request& x) {
    if (x.agent.empty() && !x.session.empty())
      return errc::invalid_argument;
    const auto before = kept_states();
    erase_result result;
    for (auto& [key, session] : sessions_) {
      if ((!x.agent.empty() && key.agent != x.agent)
          || (!x.session.empty() && key.id != x.session))
        continue;
      std::set<std::uint64_t> doomed;
      auto newer = session.records.size();
      for (const auto& [sequence, record] : session.records) {
        --newer;
        if (newer >= x.keep_newest && sequence != session.info.head
            && record.labels.empty() && record.created_at < x.created_before)
          doomed.insert(sequence);
      }
      const auto old = session.records;
      std::erase_if(session.records,
                    [&](const auto& y) { return doomed.contains(y.first); });
      for (auto& [sequence, record] : session.records) {
        while (doomed.contains(record.parent))
          record.parent = old.at(record.parent).parent;
        record.parent_id
          = record.parent != 0 ? old.at(record.parent).id : snapshot_id{};
      }
      result.records += doomed.size();
    }
    result.states = before - kept_states();
    return result;
  }

  outcome<copy_session_request> operator()(const copy_session_request& x) {
    if (!is_named(x.from) || !is_named(x.to))
      return errc::invalid_argument;
    const auto from = sessions_.find(x.from);
    if (from == sessions_.end() || (x.up_to != 0 && !from->second.has(x.up_to)))
      return errc::not_found;
    if (sessions_.contains(x.to))
      return errc::already_exists;
    auto copy = from->second;
    if (x.up_to != 0) {
      copy.info.head = x.up_to;
      copy.info.next_turn = next_turn_after(copy.at(x.up_to));
      copy.note_turn(copy.at(x.up_to).inputs);
      copy.content = states_.at(session_model::key_of(copy.at(x.up_to)));
      copy.last_sequence = x.up_to;
      std::erase_if(copy.records, [active = copy.active()](const auto& y) {
        return !active.contains(y.first);
      });
    }
    copy.info.agent = x.to.agent;
    copy.info.id = x.to.id;
    for (auto& [sequence, record] : copy.records) {
      record.agent = x.to.agent;
      record.session = x.to.id;
    }
    return sessions_.emplace(x.to, std::move(copy)).first->second.summary();
  }

  outcome<annotate_snapshot_request>
  operator()(const annotate_snapshot_request& x) {
    if (x.note.size() > max_note_size)
      return errc::invalid_argument;
    const auto found = find(x.target);
    if (found.reason != errc::ok)
      return found.reason;
    found.in->records.at(found.sequence).note = x.note;
    return found.in->read(found.sequence);
  }

  outcome<title_session_request> operator()(const title_session_request& x) {
    if (!is_named(x.target) || x.title.size() > max_title_size)
      return errc::invalid_argument;
    const auto i = sessions_.find(x.target);
    if (i == sessions_.end())
      return errc::not_found;
    i->second.info.title = x.title;
    return i->second.summary();
  }

  outcome<verify_sessions_request>
  operator()(const verify_sessions_request& x) {
    if (x.agent.empty() && !x.session.empty())
      return errc::invalid_argument;
    verification_page result;
    auto left = std::clamp(x.limit, 1u, max_page);
    const auto look = [&](const session_ref& session, std::uint64_t sequence) {
      if ((!x.agent.empty() && session.agent != x.agent)
          || (!x.session.empty() && session.id != x.session)
          || std::tie(session, sequence) <= std::tie(x.after, x.after_record))
        return;
      result.more = left == 0;
      if (left == 0)
        return;
      --left;
      ++(sequence == 0 ? result.sessions : result.records);
      result.last = session;
      result.last_record = sequence;
    };
    for (const auto& [key, session] : sessions_) {
      look(key, 0);
      for (const auto& [sequence, record] : session.records)
        look(key, sequence);
    }
    return result;
  }

  /// Returns the position of a session.
  [[nodiscard]] session_position position(const session_ref& x) const {
    const auto i = sessions_.find(x);
    if (i == sessions_.end())
      return {};
    const auto& content = i->second.content;
    return {i->second.info.next_turn, content.id(), content.type()};
  }

  /// Returns the names of all sessions.
  [[nodiscard]] std::vector<session_ref> sessions() const {
    std::vector<session_ref> result;
    for (const auto& [key, session] : sessions_)
      result.push_back(key);
    return result;
  }

private:
  static bool is_named(const session_ref& x) {
    return !x.agent.empty() && !x.id.empty();
  }

  [[nodiscard]] bool may_follow(const std::vector<session_position>& follows,
                                const session_ref& x) const {
    return follows.empty()
           || std::find(follows.begin(), follows.end(), position(x))
                != follows.end();
  }

  using state_key = session_model::state_key;

  struct found {
    errc reason = errc::ok;
    session_model* in = nullptr;
    std::uint64_t sequence = 0;
  };

  found find(const snapshot_ref& x) {
    if (x.agent.empty() || (x.sequence == 0 && x.id.empty())
        || (x.sequence != 0 && x.session.empty()))
      return {errc::invalid_argument};
    std::vector<found> all;
    for (auto& [key, session] : sessions_) {
      if (key.agent != x.agent || (!x.session.empty() && key.id != x.session))
        continue;
      std::uint64_t best = 0;
      for (const auto& [sequence, record] : session.records) {
        const auto fits = (x.sequence == 0 || sequence == x.sequence)
                          && (x.id.empty() || record.id == x.id);
        const auto active = session.active();
        if (fits && (active.contains(sequence) || !active.contains(best)))
          best = sequence;
      }
      if (best != 0)
        all.push_back({errc::ok, &session, best});
    }
    if (all.empty())
      return {errc::not_found};
    if (all.size() > 1)
      return {errc::failed_precondition};
    return all.front();
  }

  session_model& make(const session_ref& key) {
    auto& result = sessions_[key];
    result.info.agent = key.agent;
    result.info.id = key.id;
    return result;
  }

  [[nodiscard]] stored_snapshot read(const session_model& in,
                                     std::uint64_t sequence,
                                     detail_level detail) const {
    stored_snapshot result{in.read(sequence)};
    if (detail == detail_level::state)
      result.content = states_.at(session_model::key_of(result.record));
    return result;
  }

  [[nodiscard]] std::size_t kept_states() const {
    std::set<state_key> result;
    for (const auto& [key, session] : sessions_)
      for (const auto& [sequence, record] : session.records)
        result.insert(session_model::key_of(record));
    return result.size();
  }

  /// Limits the size of a page.
  /// @returns whether something was cut off.
  template <class T>
  static bool cut(std::vector<T>& all, std::uint32_t limit) {
    const std::size_t size = std::clamp(limit, 1u, max_page);
    const auto result = all.size() > size;
    all.resize(std::min(all.size(), size));
    return result;
  }

  std::map<session_ref, session_model> sessions_;
  /// All states that were ever saved.
  std::map<state_key, state> states_;
};

} // namespace tertulia::detail
