// SPDX-License-Identifier: BSD-3-Clause

#include "sqlite_states.hpp"

#include <tertulia/json.hpp>
#include <tertulia/sha256.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store_rules.hpp>

#include <algorithm>
#include <utility>

#include "sqlite_columns.hpp"
#include "stored_message.hpp"

namespace tertulia {

namespace {

/// Key under which the log that was listed last is remembered. Sessions do not
/// have this key.
constexpr std::int64_t listing = -1;

} // namespace

// -- writing ------------------------------------------------------------------

sqlite_states::kept sqlite_states::keep(const state& x, const state_id& id,
                                        const origin& from) {
  const auto bytes = columns::bytes_of_hex(id.str());
  const auto form = static_cast<std::int64_t>(x.form());
  const auto& type = x.type();
  const std::int64_t version = type.version();
  find_.bind_blob(1, bytes).bind(2, form).bind(3, type.name()).bind(4, version);
  if (auto rows = find_.rows(); rows.next()) {
    if (rows.number(3) == 0)
      rules::reject_corrupt(id); // a saved state must be readable
    return {rows.number(0), {rows.number(1), rows.count(2)}};
  }

  const auto where = write(x.messages(), from);
  const auto custom = x.custom() ? keep_blob(x.custom().text()) : 0;
  const auto artifacts
    = x.artifacts().empty() ? 0 : keep_blob(to_json_text(x.artifacts()));
  const auto key = next_.number();
  insert_.bind(1, key)
    .bind_blob(2, bytes)
    .bind(3, form)
    .bind_key(4, where.branch)
    .bind(5, where.length)
    .bind_key(6, custom)
    .bind_key(7, artifacts)
    .bind(8, type.name())
    .bind(9, version)
    .run();
  return {key, where};
}

sqlite_states::place sqlite_states::find(const ai::message_log& log,
                                         const origin& from) {
  place known;
  std::uint64_t shared = 0;
  if (const auto* const last = known_.find(from.session)) {
    known = last->where;
    shared = log.shared_with(last->log);
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
  } else if (from.base != 0) {
    known = place_of(from.base).value_or(place{});
    shared = messages_.common(log, known);
  }
  return messages_.shorter(known, shared);
}

sqlite_states::place sqlite_states::write(const ai::message_log& log,
                                          const origin& from) {
  if (log.empty())
    return {};
  auto where = find(log, from);
  if (where.length == log.size())
    return where;
  if (where.branch != 0) {
    const auto end = messages_.end_of(where.branch);
    if (end < where.length)
      where = {}; // messages are missing: a new state must not need them
    else if (end > where.length && !make_room(where, from))
      where.branch = messages_.make_branch(where);
  }
  return messages_.append(where, log);
}

bool sqlite_states::make_room(place behind, const origin& from) {
  const auto old = from.replaced;
  if (old == 0 || has_records(old)
      || has_others_.bind(1, old).bind(2, from.session).rows().next())
    return false;
  if (const auto position = place_of(old);
      !position || position->branch != behind.branch)
    return false;
  // The session refers to it until the new state is written, which is allowed
  // before the commit.
  if (const auto x = erase_row(old)) {
    release_blob(x->custom);
    release_blob(x->artifacts);
  }
  return messages_.cut(behind);
}

std::optional<sqlite_states::place>
sqlite_states::place_of(std::int64_t state) {
  auto rows = read_.bind(1, state).rows();
  if (!rows.next() || rows.number(2) == 0)
    return std::nullopt;
  return place{rows.number(2), rows.count(3)};
}

std::int64_t sqlite_states::keep_blob(const std::string& text) {
  sha256 hash;
  hash.update(text);
  const auto digest = hash.digest();
  const std::string_view bytes{reinterpret_cast<const char*>(digest.data()),
                               digest.size()};
  std::int64_t known = 0;
  auto is_whole = false;
  if (auto rows = find_blob_.bind_blob(1, bytes).rows(); rows.next()) {
    known = rows.number(0);
    is_whole = rows.view(1) == text;
    if (rows.number(2) == 0)
      throw status_error{errc::data_loss,
                         db_.file()
                           + ": the index of blobs refers to another blob"};
  }
  // A new state must not depend on a damaged blob; its original text is known
  // here.
  if (known != 0 && !is_whole)
    mend_blob_.bind_all(known, text).run();
  if (known != 0)
    return known;
  const auto key = next_blob_.number();
  insert_blob_.bind(1, key).bind_blob(2, bytes).bind(3, text).run();
  return key;
}

// -- reading ------------------------------------------------------------------

std::pair<state_id, stored_type> sqlite_states::name_of(std::int64_t key) {
  auto rows = read_.bind(1, key).rows();
  if (!rows.next())
    rules::reject_missing({});
  state_id id{columns::hex_of_bytes(rows.view(0))};
  auto type = rows.number(8) != 0
                ? columns::type_of(rows.view(6), rows.number(7))
                : std::nullopt;
  if (!type)
    rules::reject_corrupt(id);
  return {std::move(id), std::move(*type)};
}

state sqlite_states::load(std::int64_t key, loaded* last) {
  state_id id;
  place position;
  std::int64_t form = 0;
  std::int64_t custom_key = 0;
  std::int64_t artifacts_key = 0;
  std::optional<stored_type> type;
  {
    auto rows = read_.bind(1, key).rows();
    if (!rows.next())
      rules::reject_missing(id);
    id = state_id{columns::hex_of_bytes(rows.view(0))};
    form = rows.number(1);
    position = {rows.number(2), rows.count(3)};
    custom_key = rows.number(4);
    artifacts_key = rows.number(5);
    if (rows.number(8) != 0)
      type = columns::type_of(rows.view(6), rows.number(7));
  }
  if (!type)
    rules::reject_corrupt(id);
  loaded base;
  if (last != nullptr && !last->log.empty()) {
    base.where = messages_.common(position, last->where);
    base.log = last->log.prefix(base.where.length);
  }
  std::vector<ai::message> messages;
  messages.reserve(
    std::min<std::uint64_t>(position.length - base.where.length, 1u << 20u));
  auto blob = [&](std::int64_t blob_key) {
    auto rows = read_blob_.bind(1, blob_key).rows();
    if (!rows.next())
      rules::reject_missing(id);
    return rows.text(0);
  };
  state result;
  try {
    const auto found = messages_.for_each_text(
      position,
      [&](std::string_view text) {
        messages.push_back(read_stored_message(text));
        return true;
      },
      base.where.length);
    if (found != position.length)
      rules::reject_missing(id);
    auto custom
      = custom_key != 0 ? payload::encoded(blob(custom_key)) : payload{};
    if (form == static_cast<std::int64_t>(state_form::plain)) {
      result = state::plain(std::move(custom), std::move(*type));
    } else {
      ai::artifact_list artifacts;
      if (artifacts_key != 0)
        artifacts = parse_json<ai::artifact_list>(blob(artifacts_key));
      auto log = base.log.empty() ? ai::message_log{std::move(messages)}
                                  : base.log.with(std::move(messages));
      result = state::conversation(std::move(log), std::move(custom),
                                   std::move(artifacts), std::move(*type));
    }
    if (result.id() == id) {
      if (last != nullptr)
        *last = {position, result.messages()};
      return result;
    }
  } catch (const status_error& x) {
    if (x.code() != errc::invalid_argument)
      throw;
    // text that is no longer valid JSON is corrupt
  }
  rules::reject_corrupt(id);
}

// -- remembering --------------------------------------------------------------

sqlite_states::loaded sqlite_states::listed() const {
  const auto* const found = known_.find(listing);
  return found != nullptr ? loaded{found->where, found->log} : loaded{};
}

void sqlite_states::remember_listed(const loaded& x) {
  known_.remember(listing, x.log, x.where);
}

void sqlite_states::remember(std::int64_t session, const ai::message_log& log,
                             place position) {
  known_.remember(session, log, position);
}

void sqlite_states::remember(std::int64_t session, const state& x,
                             std::int64_t key) {
  known_.remember(session, x.messages(), place_of(key).value_or(place{}));
}

void sqlite_states::remember_same(std::int64_t from, std::int64_t session,
                                  std::int64_t key) {
  const auto* const found = known_.find(from);
  if (found == nullptr)
    return;
  const auto known = *found; // a copy: the entry may be forgotten
  if (place_of(key) == known.where)
    known_.remember(session, known.log, known.where);
}

bool sqlite_states::remembers(std::int64_t session, const ai::message_log& log,
                              std::int64_t state) {
  const auto* const known = known_.find(session);
  if (known == nullptr)
    return false;
  const auto where = place_of(state);
  return where && log.shared_with(known->log) >= where->length;
}

void sqlite_states::forget(std::int64_t session) {
  known_.forget(session);
}

void sqlite_states::forget_all() {
  known_.forget_all();
}

// -- erasing ------------------------------------------------------------------

bool sqlite_states::has_records(std::int64_t key) {
  return has_records_.bind(1, key).rows().next();
}

void sqlite_states::release(std::int64_t key) {
  if (has_records(key) || has_sessions_.bind(1, key).rows().next())
    return;
  if (const auto x = erase_row(key)) {
    messages_.release(x->branch);
    release_blob(x->custom);
    release_blob(x->artifacts);
  }
}

std::optional<sqlite_states::parts> sqlite_states::erase_row(std::int64_t key) {
  parts result;
  {
    auto rows = read_.bind(1, key).rows();
    if (!rows.next())
      return std::nullopt;
    result = {rows.number(2), rows.number(4), rows.number(5)};
  }
  erase_.bind(1, key).run();
  return result;
}

void sqlite_states::release_blob(std::int64_t key) {
  if (key != 0)
    erase_blob_.bind(1, key).run();
}

} // namespace tertulia
