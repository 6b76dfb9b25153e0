// SPDX-License-Identifier: BSD-3-Clause

#include "written_contents.hpp"

#include <tertulia/json.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store_rules.hpp>

#include <algorithm>
#include <set>
#include <string_view>

#include "stored_message.hpp"

namespace tertulia {

namespace {

std::string hash_of(const std::string& text) {
  sha256 hash;
  hash.update(text);
  const auto digest = hash.digest();
  return {digest.begin(), digest.end()};
}

} // namespace

std::shared_ptr<store_contents>
make_written_contents(content_tables& tables, std::size_t remembered_messages) {
  return std::make_shared<written_contents>(tables, remembered_messages);
}

// -- writing ------------------------------------------------------------------

void written_contents::work_on(session_row& in, const state& x,
                               const state_id& id, const content_row* base) {
  content_row next;
  next.id = id;
  next.type = x.type();
  next.form = x.form();
  if (base != nullptr && next.is_same_state(*base)) {
    switch_to(in, *base);
  } else if (!next.is_same_state(in.content)) {
    next.messages = write(in, x.messages(), base);
    next.custom = in.content.custom;
    next.artifacts = in.content.artifacts;
    replace(in.key, x.custom() ? x.custom().text() : std::string{}, next.custom,
            in.owns_custom, base != nullptr ? base->custom : 0);
    replace(in.key,
            x.artifacts().empty() ? std::string{} : to_json_text(x.artifacts()),
            next.artifacts, in.owns_artifacts,
            base != nullptr ? base->artifacts : 0);
    in.content = std::move(next);
  }
  known_.remember(in.key, x.messages(), in.content.messages);
}

log_place written_contents::find(const session_row& in,
                                 const ai::message_log& log,
                                 const content_row* base) {
  const auto* last = known_.find(in.key);
  if (last != nullptr && base != nullptr
      && log.shared_with(last->log) < base->messages.length)
    last = nullptr; // more of the messages may be those of the base
  if (last == nullptr) {
    const auto where = base != nullptr ? base->messages : in.content.messages;
    return branches_.shorter(where, branches_.common(log, where));
  }
  std::uint64_t shared = log.shared_with(last->log);
  const auto size = std::min(log.size(), last->log.size());
  if (shared < size) {
    // A log that was built separately, such as one from another node, shares
    // nothing in memory but may be equal nevertheless.
    const auto ours = log.from(shared);
    const auto theirs = last->log.from(shared);
    for (auto a = ours.begin(), b = theirs.begin(); shared < size && *a == *b;
         ++a, ++b)
      ++shared;
  }
  return branches_.shorter(last->where, shared);
}

log_place written_contents::write(session_row& in, const ai::message_log& log,
                                  const content_row* base) {
  auto where = log.empty() ? log_place{} : find(in, log, base);
  const auto own
    = in.sealed != session_row::not_owned ? in.content.messages.branch : 0;
  if (where.length == log.size()) {
    leave_messages(in, where);
    if (where.branch != own)
      in.sealed = session_row::not_owned;
    return where;
  }
  if (where.branch != 0) {
    const auto end = tables_.end_of(where.branch);
    if (end < where.length)
      where = {}; // messages are missing: a new state must not need them
    else if (where.branch == own && end == where.length)
      return branches_.append(where, log);
  }
  leave_messages(in, where);
  // Without room behind the place the log becomes a branch.
  if (where.branch == 0 || where.branch != own || in.sealed > where.length) {
    in.sealed = where.length;
    where.branch
      = tables_.add(branch_row{0, in.key, where.branch, where.length});
  }
  return branches_.append(where, log);
}

void written_contents::leave_messages(const session_row& in, log_place to) {
  const auto [own, end] = in.content.messages;
  if (own == 0 || in.sealed == session_row::not_owned)
    return;
  const auto kept
    = to.branch == own ? std::max(in.sealed, to.length) : in.sealed;
  if (kept >= end)
    return;
  tables_.erase_messages(own, kept);
  if (const auto found = branches_.find(own); found && kept <= found->start)
    tables_.erase(*found);
}

void written_contents::switch_to(session_row& in, const content_row& x) {
  leave_messages(in, x.messages);
  if (x.messages.branch != in.content.messages.branch)
    in.sealed = session_row::not_owned;
  const auto drop = [this](bool& owned, std::int64_t now, std::int64_t next) {
    if (owned && now != next)
      tables_.erase_value(now);
    owned = owned && now == next;
  };
  drop(in.owns_custom, in.content.custom, x.custom);
  drop(in.owns_artifacts, in.content.artifacts, x.artifacts);
  in.content = x;
}

void written_contents::seal(session_row& in) {
  in.sealed = std::max(in.sealed, in.content.messages.length);
  in.owns_custom = false;
  in.owns_artifacts = false;
}

void written_contents::replace(std::int64_t session, const std::string& text,
                               std::int64_t& key, bool& owned,
                               std::int64_t base) {
  const auto old = key;
  std::string hash;
  key = text.empty() ? 0 : find_value(text, hash, {old, base});
  const auto is_new = key == 0 && !text.empty();
  if (is_new)
    key = tables_.add(session, {text, hash.empty() ? hash_of(text) : hash});
  if (key == old)
    return;
  if (owned)
    tables_.erase_value(old);
  owned = is_new;
}

std::int64_t
written_contents::find_value(const std::string& text, std::string& hash,
                             std::initializer_list<std::int64_t> candidates) {
  for (const auto key : candidates) {
    const auto found = key != 0 ? tables_.find_value(key) : std::nullopt;
    if (!found)
      continue;
    if (found->text == text)
      return key;
    if (hash.empty())
      hash = hash_of(text);
    if (found->hash == hash) {
      // A new state must not depend on a damaged value; its original text is
      // known here.
      tables_.mend(key, text);
      return key;
    }
  }
  return 0;
}

// -- sharing and sweeping -----------------------------------------------------

void written_contents::add_ancestors(needs& x) {
  // A parent is older than its child, so it is visited later.
  for (const auto& [branch, length] : x)
    if (const auto found = branches_.find(branch);
        found && found->parent != 0) {
      auto& needed = x[found->parent];
      needed = std::max(needed, found->start);
    }
}

written_contents::needs
written_contents::needs_of(const std::vector<content_row>& states) {
  needs result;
  for (const auto& x : states)
    if (const auto [branch, length] = x.messages; branch != 0)
      result[branch] = std::max(result[branch], length);
  return result;
}

void written_contents::share(std::int64_t session,
                             const std::vector<content_row>& states) {
  auto shared = needs_of(states);
  add_ancestors(shared);
  for (const auto& x : states)
    for (const auto value : {x.custom, x.artifacts})
      if (value != 0)
        shared[value] = 1;
  for (const auto& [item, length] : shared)
    tables_.write(share_row{item, session, length});
}

void written_contents::sweep_branches(std::int64_t session, needs& needed) {
  auto own = tables_.branches_of(session);
  std::sort(own.begin(), own.end(),
            [](const auto& x, const auto& y) { return x.key > y.key; });
  for (const auto& branch : own) {
    auto& length = needed[branch.key];
    length = std::max(length, tables_.shared_length(branch.key));
    const auto is_needed = length > branch.start;
    tables_.erase_messages(branch.key, is_needed ? length : branch.start);
    if (!is_needed)
      tables_.erase(branch);
    else if (branch.parent != 0)
      needed[branch.parent] = std::max(needed[branch.parent], branch.start);
  }
}

std::vector<std::int64_t> written_contents::values_of(std::int64_t session) {
  return tables_.values_of(session);
}

std::vector<store_contents::released>
written_contents::sweep(std::int64_t session,
                        const std::vector<content_row>& states,
                        const std::vector<std::int64_t>& values) {
  auto needed = needs_of(states);
  add_ancestors(needed);
  sweep_branches(session, needed);
  for (const auto& x : states)
    for (const auto value : {x.custom, x.artifacts})
      if (value != 0)
        needed[value] = 1;
  for (const auto value : std::set<std::int64_t>{values.begin(), values.end()})
    if (value != 0 && !needed.contains(value)
        && tables_.owner_of(value) == session
        && tables_.shared_length(value) == 0)
      tables_.erase_value(value);

  std::vector<released> result;
  for (const auto& share : tables_.shares_of(session)) {
    const auto found = needed.find(share.item);
    const auto length = found != needed.end() ? found->second : 0;
    if (length >= share.length)
      continue;
    tables_.erase(share);
    if (length != 0)
      tables_.write(share_row{share.item, session, length});
    // Another share of the same length keeps everything where it is.
    if (tables_.shared_length(share.item) < share.length)
      result.push_back({tables_.owner_of(share.item), share.item});
  }
  return result;
}

// -- remembering --------------------------------------------------------------

void written_contents::remember(const session_row& in, const state& x) {
  known_.remember(in.key, x.messages(), in.content.messages);
}

void written_contents::remember_copy(const session_row& from,
                                     const session_row& copy) {
  const auto* const found = known_.find(from.key);
  if (found == nullptr || found->where != copy.content.messages)
    return;
  const auto known = *found; // a copy: the entry may be forgotten
  known_.remember(copy.key, known.log, known.where);
}

void written_contents::forget(std::int64_t session) {
  known_.forget(session);
}

void written_contents::forget_all() {
  known_.forget_all();
}

} // namespace tertulia
